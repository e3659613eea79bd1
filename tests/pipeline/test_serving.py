"""The rendered book over HTTP: for this computer alone, with the types that browsers insist on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.pipeline import rendered, serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    html = rendered.folder(tmp_path)
    html.mkdir(parents=True)
    for name in ("index.html", "a.mjs", "a.wasm", "a.js", "a.json", "a.zip"):
        (html / name).write_text(name)
    (tmp_path / "secret.txt").write_text("beside the book")
    with serving.server(tmp_path, 0) as made:
        thread = Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def _get(server: ThreadingHTTPServer, path: str) -> HTTPResponse:
    connection = HTTPConnection(serving.HOST, server.server_port, timeout=120)
    connection.request("GET", path)
    return connection.getresponse()


def test_it_listens_on_this_computer_alone(server: ThreadingHTTPServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("", "text/html; charset=utf-8"),
        ("a.mjs", "text/javascript"),
        ("a.js", "text/javascript"),
        ("a.wasm", "application/wasm"),
        ("a.json", "application/json"),
        ("a.zip", "application/zip"),
    ],
)
def test_types_are_those_that_browsers_insist_on(server: ThreadingHTTPServer, name: str, kind: str) -> None:
    answer = _get(server, f"/{name}")
    assert (answer.status, answer.getheader("Content-Type")) == (200, kind)
    assert answer.getheader("Cache-Control") == "no-cache"


def test_nothing_beside_the_book_is_served(server: ThreadingHTTPServer) -> None:
    for path in ("/../../secret.txt", "/..%2f..%2fsecret.txt", "/%2e%2e/%2e%2e/secret.txt"):
        assert _get(server, path).status == 404


def _told(*arguments: str) -> str:
    done = CliRunner().invoke(main, ["serve", *arguments])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_no_book_and_a_taken_port_are_one_line(
    tmp_path: Path, server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("radeval_lib.cli.building.BUILD", tmp_path.parent)
    assert "no rendered book. Run `radbook build` first." in _told("--profile", "none")
    with socket.socket() as other:
        other.bind((serving.HOST, 0))
        other.listen()
        port = str(other.getsockname()[1])
        told = _told("--profile", tmp_path.name, "--port", port)
    assert f"port {port} cannot be had: address already in use. Give another port" in told
