"""Getting and checking files, against a server on this machine; nothing else is asked for anything."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from radeval_lib.data import fetch
from radeval_lib.data.errors import ChecksumError, DataError, DataRootError, FetchError, ManifestError
from radeval_lib.data.manifests import DataFile, Manifest, load_manifest, names

CONTENT = bytes(range(256)) * 400
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; can break off or send something else."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.break_after: int | None = None
        self.status = 200
        self.error_code = ""
        self.requests = 0

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is part of the test."""


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests += 1
        body = self.server.content
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        if self.server.error_code:  # as a hub says why
            self.send_header("X-Error-Code", self.server.error_code)
        self.end_headers()
        self.wfile.write(body[: self.server.break_after])

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()


def _use(monkeypatch: pytest.MonkeyPatch, *files: DataFile, **changes: object) -> None:
    manifest = Manifest(**{**load_manifest("openi").__dict__, "name": "toy", "files": files, **changes})

    def load(name: str) -> Manifest:
        return manifest if name == "toy" else load_manifest(name)

    monkeypatch.setattr(fetch, "load_manifest", load)
    monkeypatch.setattr(fetch, "names", lambda: ["toy"])


@pytest.fixture
def toy(server: Server, monkeypatch: pytest.MonkeyPatch) -> DataFile:
    entry = DataFile("toy/a.bin", DIGEST, len(CONTENT), f"http://127.0.0.1:{server.server_port}/a.bin")
    _use(monkeypatch, entry)
    return entry


def _left(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_fetch_and_again(toy: DataFile, server: Server, tmp_path: Path) -> None:
    (path,) = fetch.fetch("toy", tmp_path)
    assert path.read_bytes() == CONTENT
    assert _left(tmp_path) == ["toy/a.bin"]
    asked = server.requests
    fetch.fetch("toy", tmp_path)
    assert server.requests == asked
    assert fetch.check_files(tmp_path)[0].state == "verified"


@pytest.mark.parametrize(
    ("failing", "error"),
    [
        ({"break_after": 40_000}, FetchError),
        ({"status": 404}, FetchError),
        ({"content": CONTENT[:-1] + b"!"}, ChecksumError),
    ],
)
@pytest.mark.parametrize("there", [None, b"mine"])
def test_what_fails_leaves_nothing_and_keeps_what_is_there(
    toy: DataFile, server: Server, tmp_path: Path, failing: dict[str, Any], error: type[DataError], there: Any
) -> None:
    path = tmp_path / "toy/a.bin"
    if there:
        path.parent.mkdir()
        path.write_bytes(there)
    for name, value in failing.items():
        sound = getattr(server, name)
        setattr(server, name, value)
        with pytest.raises(error):
            fetch.fetch("toy", tmp_path)
        setattr(server, name, sound)
    assert _left(tmp_path) == (["toy/a.bin"] if there else [])
    assert not there or path.read_bytes() == there
    fetch.fetch("toy", tmp_path)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["radgraph", "rate_eval"])
def test_a_set_with_an_agreement_or_without_a_revision_is_not_fetched(name: str, tmp_path: Path) -> None:
    with pytest.raises(FetchError) as raised:
        fetch.fetch(name, tmp_path)
    assert all(step in raised.value.remedy for step in load_manifest(name).steps[:2])


def test_hub_fetch_is_pinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    asked: list[tuple[str, str, str]] = []

    def download(repo: str, name: str, *, repo_type: str, revision: str, local_dir: Path) -> str:
        asked.append((repo, name, revision))
        path = local_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT)
        return str(path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    revision = "0" * 40
    _use(monkeypatch, DataFile("toy/d/a.bin", DIGEST), access="hub", hub="who/toy", revision=revision)
    fetch.fetch("toy", tmp_path)
    assert asked == [("who/toy", "d/a.bin", revision)]
    assert _left(tmp_path) == ["toy/d/a.bin"]


def test_what_a_hub_refuses_is_a_fetch_error(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub import constants

    hub = f"http://127.0.0.1:{server.server_port}"
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    server.status, server.error_code = 403, "GatedRepo"
    _use(monkeypatch, DataFile("toy/a.bin", DIGEST), access="hub", hub="who/toy", revision="0" * 40)
    with pytest.raises(FetchError) as raised:
        fetch.fetch("toy", tmp_path)
    assert "403" in raised.value.what
    assert raised.value.where == "toy"
    assert _left(tmp_path) == []


def test_add(toy: DataFile, tmp_path: Path) -> None:
    root, values = tmp_path / "root", tmp_path / "downloads" / "a.bin"
    root.mkdir()
    values.parent.mkdir()
    values.write_bytes(CONTENT)
    assert fetch.add("toy", [values], root) == [root / "toy/a.bin"]
    assert values.read_bytes() == CONTENT
    values.write_bytes(b"other")
    with pytest.raises(ChecksumError):
        fetch.add("toy", [values], root)
    assert (root / "toy/a.bin").read_bytes() == CONTENT
    assert _left(root) == ["toy/a.bin"]


def test_add_tells_files_of_one_name_apart(tmp_path: Path) -> None:
    root, values = tmp_path / "root", tmp_path / "MIMIC_IV"
    root.mkdir()
    values.mkdir()
    for folder in (values, tmp_path):
        (folder / "dev_IOB.json").write_bytes(b"[]")
    lines: list[str] = []
    (added,) = fetch.add("rate_ner", [values / "dev_IOB.json"], root, lines.append)
    assert added == root / "rate_ner/MIMIC_IV/dev_IOB.json"
    assert "not compared" in lines[0]  # The manifest states no SHA-256.
    for name in ("dev_IOB.json", "x.json"):
        with pytest.raises(ManifestError):
            fetch.add("rate_ner", [tmp_path / name], root)


def test_verify(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _use(monkeypatch, DataFile("toy/a", DIGEST), DataFile("toy/b", None), DataFile("toy/c", None))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/a").write_bytes(CONTENT)
    (tmp_path / "toy/b").write_bytes(b"b")
    assert [file.state for file in fetch.check_files(tmp_path)] == ["verified", "there", "missing"]
    assert [file.state for file in fetch.verify(tmp_path)] == ["verified", "there"]
    (tmp_path / "toy/a").write_bytes(b"A")
    with pytest.raises(ChecksumError) as caught:
        fetch.verify(tmp_path, "toy")
    assert "toy/a" in caught.value.what
    assert (tmp_path / "toy/a").read_bytes() == b"A"


def test_no_data_root_and_unknown_set(tmp_path: Path) -> None:
    for call in (
        lambda: fetch.verify(None),
        lambda: fetch.fetch("openi", None),
        lambda: fetch.add("openi", [], None),
    ):
        with pytest.raises(DataRootError):
            call()
    with pytest.raises(ManifestError):
        fetch.check_files(tmp_path, "x")


def test_every_open_set_is_asked_for_though_some_fail(monkeypatch, tmp_path: Path) -> None:
    asked: list[str] = []
    lines: list[str] = []

    def failing(name: str, root: Path, **_: object) -> list[Path]:
        asked.append(name)
        if name == "openi":
            raise FetchError("no answer in time", name, "Try again.")
        return []

    monkeypatch.setattr(fetch, "fetch", failing)
    failed = fetch.fetch_open(tmp_path, say=lines.append)
    every = [name for name in names() if load_manifest(name).access == "open"]
    assert asked == every
    assert list(failed) == ["openi"]
    assert all(any(load_manifest(name).licence in line for line in lines) for name in every)
