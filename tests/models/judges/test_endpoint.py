"""Judges by name, and the endpoint judge against a real HTTP server on loopback that fails in every way."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from radeval_lib.data.errors import StatementError
from radeval_lib.errors import FileError
from radeval_lib.models.catalog import hash_model
from radeval_lib.models.judges import CachedJudge, EndpointJudge, open_judge
from radeval_lib.rules.judge import RulesJudge
from radeval_lib.rules.judge.base import JudgeError

RELEASED = Path(__file__).with_name("released_chat.txt")
PAIR = ("No effusion.\n  Heart size is {normal}.", "Small right\tpleural effusion.")
GOOD = {"choices": [{"message": {"content": "an analysis"}}]}


@contextmanager
def server(*behaviours):
    """Yield the address of a server that behaves as given in turn, and the requests that it got."""
    asked, lock = [], threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                behaviour = behaviours[min(len(asked), len(behaviours) - 1)]
                asked.append(body | {"path": self.path})
            behaviour(self)

        def log_message(self, *args):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1", asked
    finally:
        http.shutdown()
        http.server_close()


def answer(content=GOOD, status=200):
    def behave(handler):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


PASSING = {
    "429": answer(status=429),
    "500": answer(status=500),
    "no answer in time": lambda handler: time.sleep(2),
    "connection dropped": lambda handler: handler.connection.close(),
}
STAYING = {
    "404": answer(status=404),
    "nonsense": answer(b"<html>busy</html>"),
    "another form": answer({"choices": []}),
    "empty": answer({"choices": [{"message": {"content": " "}}]}),
    "nothing": answer({"choices": [{"message": {"content": None}}]}),
}


def judge(url, **settings):
    return EndpointJudge(url, "judge", **({"pause": 0.01, "tries": 3, "timeout": 1.0} | settings))


@pytest.mark.parametrize("failure", PASSING.values(), ids=PASSING.keys())
def test_a_failure_that_passes_is_tried_again(failure):
    with server(failure, answer()) as (url, asked):
        assert judge(url).judge([("a", "b")]) == ["an analysis"]
        assert len(asked) == 2


@pytest.mark.parametrize(
    ("failure", "tries"), [(PASSING["500"], 3), *((failure, 1) for failure in STAYING.values())]
)
def test_a_failure_that_stays_ends_the_run(failure, tries):
    with server(failure) as (url, asked):
        with pytest.raises(JudgeError):
            judge(url).judge([("a", "b")])
        assert len(asked) == tries


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_an_answer_that_the_server_cut_is_logged(reason, caplog):
    with server(answer({"choices": [GOOD["choices"][0] | {"finish_reason": reason}]})) as (url, _):
        assert judge(url).judge([PAIR]) == ["an analysis"]
    assert ("max_tokens=1024" in caplog.text) == (reason == "length")


def test_answers_come_in_order_and_hold_both_reports():
    with server(answer()) as (url, asked):
        pairs = [(f"reference {n}", f"candidate {n}") for n in range(20)]
        assert judge(url, concurrency=5).judge(pairs) == ["an analysis"] * 20
        sent = {body["messages"][0]["content"] for body in asked}
        assert all(any(first in text and second in text for text in sent) for first, second in pairs)
        assert all(body["temperature"] == 0 for body in asked)


def test_an_interrupted_run_loses_nothing_and_asks_nothing_twice(tmp_path):
    pairs = [(f"secret reference {n}", "secret candidate") for n in range(6)]
    good = [answer() for _ in range(3)]
    with server(*good, answer(status=400)) as (url, _), pytest.raises(JudgeError):
        CachedJudge(judge(url, concurrency=1), tmp_path).judge(pairs)
    with server(answer()) as (again, asked):
        kept = CachedJudge(judge(again), tmp_path)  # the same model at another port
        assert kept.judge(pairs) == ["an analysis"] * 6
        assert len(asked) == 3
        kept.judge(pairs)
        assert len(asked) == 3
    assert b"secret" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_damaged_cache_is_named(tmp_path):
    (tmp_path / "cache.sqlite").write_bytes(b"no database, though long enough to be taken for one" * 100)
    with pytest.raises(FileError, match=r"cache\.sqlite"):
        CachedJudge(RulesJudge(), tmp_path)


ELSEWHERE = "ftp://localhost localhost:8000 http://localhost:a/v1 http://[::1 http://localhost/v1?a"


@pytest.mark.parametrize("url", ["", "https://judge.example.org/v1", *ELSEWHERE.split()])
def test_reports_are_sent_to_this_machine_alone(url):
    with pytest.raises(JudgeError):
        EndpointJudge(url, "judge")
    for here in ("http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"):
        EndpointJudge(here, "judge")


def test_a_released_model_is_asked_in_its_own_form():
    expected = RELEASED.read_text(encoding="utf-8")
    with server(answer({"choices": [{"text": "an analysis"}]})) as (url, asked):
        for name, end in (("StanfordAIMI/GREEN-RadLlama2-7b", "</s>"), ("GREEN-Phi2", "<|endoftext|>")):
            assert EndpointJudge(url, name).judge([PAIR]) == ["an analysis"]
            assert asked[-1]["path"] == "/v1/completions"
            assert asked[-1]["prompt"] == expected.replace("</s>", end)
            assert "messages" not in asked[-1]


def test_a_judge_is_opened_by_its_name():
    url = "http://127.0.0.1:8000/v1"
    assert isinstance(open_judge("rules"), RulesJudge)
    assert open_judge(f"{url}#green") == EndpointJudge(url, "green")
    assert open_judge(url, model="mine") == EndpointJudge(url, "mine")
    assert hash_model(url) != hash_model(f"{url}#other")
    with pytest.raises(JudgeError):
        open_judge("rules", model="mine")


def test_no_server_gets_the_texts_of_a_data_root_without_a_statement(tmp_path, monkeypatch):
    monkeypatch.setenv("RADEVAL_DATA_ROOT", str(tmp_path))
    (tmp_path / "mimic_cxr").mkdir()
    (tmp_path / "mimic_cxr" / "mimic_cxr_sectioned.csv").touch()
    with pytest.raises(StatementError):
        open_judge("http://127.0.0.1:8000/v1#green")
    (tmp_path / "statements").mkdir()
    (tmp_path / "statements" / "green.yml").write_text(
        "corpus: mimic_cxr_rrs\nserver: 127.0.0.1:8000\ndate: 2026-11-23\nsigned: A. Officer\n"
    )
    assert isinstance(open_judge("http://127.0.0.1:8000/v1#green"), EndpointJudge)
