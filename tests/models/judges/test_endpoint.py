"""The endpoint judge against a real HTTP server on loopback that fails in every way."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from radeval_lib.models.judges.endpoint import EndpointJudge
from radeval_lib.models.judges.opening import CachedJudge
from radeval_lib.rules.judge.base import JudgeError

RELEASED = Path(__file__).with_name("released_chat.txt")
PAIR = ("No effusion.\n  Heart size is {normal}.", "Small right\tpleural effusion.")
GOOD = {"choices": [{"message": {"content": "an analysis"}}]}


@contextmanager
def server(*behaviours):
    """A server that behaves in turn as told (the last one for ever), and the requests that it got."""
    asked, lock = [], threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                behaviour = behaviours[min(len(asked), len(behaviours) - 1)]
                asked.append((time.monotonic(), body | {"path": self.path}))
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


def answer(content=GOOD, status=200, **headers):
    def behave(handler):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def half(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "500")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')
    handler.close_connection = True


def hang(handler):
    time.sleep(3 * PATIENCE)
    handler.close_connection = True


def trickle(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    for _ in range(60):
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return
        time.sleep(0.05)
    handler.close_connection = True


def drop(handler):
    handler.close_connection = True


PATIENCE = 1.0  # of a judge whose server is too slow, in seconds
TOO_SLOW = (hang, trickle)
FAILURES = {
    "429": answer(status=429),
    "500": answer(status=500),
    "half a response": half,
    "nonsense": answer(b"<html>busy</html>"),
    "another form": answer({"choices": []}),
    "empty": answer({"choices": [{"message": {"content": " "}}]}),
    "no answer in time": hang,
    "a byte now and then": trickle,
    "connection dropped": drop,
}


def judge(url, **settings):
    return EndpointJudge(url, "judge", **({"pause": 0.01, "tries": 3} | settings))


def patience(failure):
    """Settings of a judge that this failure meets: it waits long for whatever is not too slow itself."""
    return {"timeout": PATIENCE} if failure in TOO_SLOW else {}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_that_passes_is_tried_again(failure):
    with server(failure, answer()) as (url, asked):
        assert judge(url, **patience(failure)).judge([("a", "b")]) == ["an analysis"]
        assert len(asked) == 2


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_that_stays_ends_the_run_after_so_many_tries(failure):
    with server(failure) as (url, asked):
        with pytest.raises(JudgeError, match="3 tries"):
            judge(url, **patience(failure)).judge([("a", "b")])
        assert len(asked) == 3


def test_a_refusal_is_not_tried_again_and_says_what():
    with server(answer(status=404)) as (url, asked):
        with pytest.raises(JudgeError, match="404"):
            judge(url).judge([("a", "b")])
        assert len(asked) == 1


def test_the_server_may_ask_for_patience():
    with server(answer(status=429, Retry_After="0.2"), answer()) as (url, asked):
        judge(url).judge([("a", "b")])
        assert asked[1][0] - asked[0][0] >= 0.2


def test_answers_come_in_order_and_hold_both_reports():
    def echo(handler):
        answer({"choices": [{"message": {"content": "an analysis"}}]})(handler)

    with server(echo) as (url, asked):
        pairs = [(f"reference {n}", f"candidate {n}") for n in range(20)]
        assert judge(url, concurrency=5).judge(pairs) == ["an analysis"] * 20
        sent = {body["messages"][0]["content"] for _, body in asked}
        assert all(any(one in text and other in text for text in sent) for one, other in pairs)
        assert all(body["temperature"] == 0 for _, body in asked)


def test_an_interrupted_run_loses_nothing_and_asks_nothing_twice(tmp_path):
    pairs = [(f"reference {n}", "candidate") for n in range(6)]
    good = [answer() for _ in range(3)]
    with server(*good, answer(status=400)) as (url, asked):
        with pytest.raises(JudgeError, match="400"):
            CachedJudge(judge(url, concurrency=1), tmp_path).judge(pairs)
        assert len(asked) == 4
    with server(answer()) as (again, asked):
        kept = CachedJudge(judge(again), tmp_path)  # the same model at another port
        assert kept.judge(pairs) == ["an analysis"] * 6
        assert len(asked) == 3
        kept.judge(pairs)
        assert len(asked) == 3


def test_the_reports_are_not_kept_with_the_answers(tmp_path):
    with server(answer()) as (url, _):
        CachedJudge(judge(url), tmp_path).judge([("secret reference", "secret candidate")])
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"secret" not in content


def test_reports_are_not_sent_to_another_machine_unless_it_is_named():
    with pytest.raises(JudgeError, match="another machine"):
        EndpointJudge("https://judge.example.org/v1", "judge")
    with pytest.raises(JudgeError, match="another machine"):
        EndpointJudge("https://judge.example.org/v1", "judge", send_to="example.org")
    EndpointJudge("https://judge.example.org/v1", "judge", send_to="judge.example.org")
    for here in ("http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"):
        EndpointJudge(here, "judge")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://localhost",
        "localhost:8000",
        "",
        "http://localhost:a/v1",
        "http://[::1",
        "http://localhost/v1?a",
    ],
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(JudgeError, match="not an http address"):
        EndpointJudge(url, "judge")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": ""}, "the server's model has no name"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"tries": 0}, "tries is 0"),
        ({"timeout": -1.0}, "timeout is -1.0"),
        ({"pause": -1.0}, "pause is -1.0"),
    ],
)
def test_settings_of_a_server_that_cannot_be_are_named(settings, said):
    with pytest.raises(JudgeError, match=said):
        EndpointJudge(**{"url": "http://localhost:1/v1", "model": "judge", **settings})


def test_a_released_model_is_asked_in_its_own_form():
    told = RELEASED.read_text(encoding="utf-8")
    with server(answer({"choices": [{"text": "an analysis"}]})) as (url, asked):
        for name, end in (("StanfordAIMI/GREEN-RadLlama2-7b", "</s>"), ("GREEN-Phi2", "<|endoftext|>")):
            found = EndpointJudge(url, name).judge([PAIR])
            assert found == ["an analysis"]
            body = asked[-1][1]
            assert body["path"] == "/v1/completions"
            assert body["prompt"] == told.replace("</s>", end)
            assert "messages" not in body
