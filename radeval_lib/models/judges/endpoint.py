"""A judge behind an OpenAI-compatible endpoint (vLLM, llama.cpp, Ollama) on one's own machine."""

from __future__ import annotations

import http.client
import ipaddress
import json
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock
from urllib.parse import urlsplit

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_attempt,
    stop_when_event_set,
)

from radeval_lib.errors import check_at_least
from radeval_lib.models.judges.green_prompt import is_released, released_chat, released_prompt
from radeval_lib.rules.judge.base import JudgeError, Keep, Pair, prompt

# The states of an answer after which it is worth asking again: too busy, too slow, not up yet.
_AGAIN = frozenset([408, 409, 425, 429, 500, 502, 503, 504])
_LONGEST_PAUSE = 60.0  # seconds between two tries
_MOST_BYTES = 4 * 1024 * 1024  # an answer is a few thousand words


class _PassingError(Exception):
    """A failure that may pass; ``pause`` is how long the server asked to wait, in seconds."""

    def __init__(self, what: str, pause: float | None = None) -> None:
        super().__init__(what)
        self.pause = pause


@dataclass(frozen=True)
class EndpointJudge:
    """Asks ``POST <url>/chat/completions``, greedily.

    A released GREEN model, known by its name, is asked at ``/completions``: the form of its conversations is
    not one that a server's chat can fill.

    Attributes
    ----------
    url : the address up to the version, as ``http://127.0.0.1:8000/v1``.
    model : the name that the server knows the model by.
    send_to : the host that reports may be sent to where it is not this machine.
    concurrency : requests that are on their way at once.
    timeout : seconds for one answer.
    tries : how often one answer is asked for.
    pause : seconds before the second try, twice as many before each further one.
    max_tokens : the longest answer.

    Raises
    ------
    JudgeError
        If the address is none, or another machine's that ``send_to`` does not name, the model has no name, or
        a number is out of its range.
    """

    url: str
    model: str
    send_to: str = ""
    concurrency: int = 4
    timeout: float = 120.0
    tries: int = 5
    pause: float = 1.0
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            plain = parts.scheme in ("http", "https") and (parts.port or 1) and not parts.query
        except ValueError:  # brackets or a port
            plain = False
        if not plain or not parts.hostname:
            wrong = f"{self.url!r} is not an http address without a query"
            raise JudgeError(wrong, "endpoint", "For example http://127.0.0.1:8000/v1.")
        if not _is_here(parts.hostname) and self.send_to != parts.hostname:
            wrong = f"{parts.hostname} is another machine, and reports are not sent there"
            remedy = f"If these reports may leave this machine, say send_to={parts.hostname!r}."
            raise JudgeError(wrong, "endpoint", remedy)
        if not self.model:
            remedy = "Put the name by which the server knows it behind the address, after #."
            raise JudgeError("the server's model has no name", "endpoint", remedy)
        counts = {"concurrency": self.concurrency, "tries": self.tries, "max_tokens": self.max_tokens}
        check_at_least(1, "endpoint", JudgeError, **counts)
        check_at_least(0.001, "endpoint", JudgeError, timeout=self.timeout)
        check_at_least(0.0, "endpoint", JudgeError, pause=self.pause)

    @property
    def signature(self) -> str:
        """Model, length and the wording of the prompt; the same model at another address answers the same."""
        return f"endpoint|{self.model}|{self.max_tokens}|{self._asked('<reference>', '<candidate>')}"

    def _asked(self, reference: str, candidate: str) -> str:
        if not is_released(self.model):
            return prompt(reference, candidate)
        end = "<|endoftext|>" if "phi" in self.model.lower() else "</s>"
        return released_chat(released_prompt(reference, candidate), end)

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return the server's answers, in the input's order. If it refuses a request or fails too often, what
        came before was handed to ``keep``, and requests not yet sent are not sent any more."""
        answers: dict[int, str] = {}
        lock, stop = Lock(), Event()

        def one(place: int) -> None:
            if stop.is_set():
                return
            try:
                answer = self._answer(self._asked(*pairs[place]), stop)
            except BaseException:
                stop.set()
                raise
            with lock:
                answers[place] = answer
                if keep is not None:
                    keep({place: answer})

        with ThreadPoolExecutor(self.concurrency) as pool:
            jobs = [pool.submit(one, place) for place in range(len(pairs))]
            try:
                done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
                for job in done:
                    job.result()
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        return [answers[place] for place in range(len(pairs))]

    def _answer(self, text: str, stop: Event) -> str:
        """Return the server's answer, asked for again after failures that may pass, until ``stop`` is set."""

        def pause(state: RetryCallState) -> float:
            wait: float | None = getattr(_failure(state), "pause", None)
            return min(_LONGEST_PAUSE, self.pause * 2 ** (state.attempt_number - 1) if wait is None else wait)

        retrying = Retrying(
            stop=stop_after_attempt(self.tries) | stop_when_event_set(stop),
            wait=pause,
            sleep=sleep_using_event(stop),
            retry=retry_if_exception_type((_PassingError, OSError, http.client.HTTPException)),
            retry_error_callback=self._given_up,
        )
        return retrying(self._ask_once, text)

    def _given_up(self, state: RetryCallState) -> str:
        failure = _failure(state)
        last = str(failure) if isinstance(failure, _PassingError) else f"{type(failure).__name__}: {failure}"
        wrong = f"no usable answer in {self.tries} tries; the last: {last}"
        raise JudgeError(wrong, self.url, "See that the server runs.")

    def _ask_once(self, text: str) -> str:
        """Return one request; a :class:`_PassingError` where another may succeed."""
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        raw = is_released(self.model)
        asked = {"prompt": text} if raw else {"messages": [{"role": "user", "content": text}]}
        body = json.dumps({"model": self.model, **asked, "temperature": 0, "max_tokens": self.max_tokens})
        end = time.monotonic() + self.timeout
        assert parts.hostname is not None
        connection = kind(parts.hostname, parts.port, timeout=self.timeout)
        try:
            path = f"{parts.path.rstrip('/')}/{'' if raw else 'chat/'}completions"
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = _read(response, connection, end)
        finally:
            connection.close()
        if response.status in _AGAIN:
            raise _PassingError(f"status {response.status}", _retry_after(response))
        if response.status != 200:
            said = f"the server answers {response.status} {response.reason}"
            raise JudgeError(said, self.url, "See that the path and the model's name are the server's.")
        return _content(content, raw)


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _is_here(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _read(response: http.client.HTTPResponse, connection: http.client.HTTPConnection, end: float) -> bytes:
    """Return the body; a server that sends a byte now and then does not hold the run for ever."""
    body, part = b"", b"more"
    while part:
        left = end - time.monotonic()
        if left <= 0:
            raise _PassingError("the answer took too long")
        if connection.sock is not None:
            connection.sock.settimeout(left)
        part = response.read1(65536)
        body += part
        if len(body) > _MOST_BYTES:
            raise _PassingError("the answer is longer than any analysis")
    if response.length:
        raise _PassingError("the answer ended before its end")
    return body


def _retry_after(response: http.client.HTTPResponse) -> float | None:
    with suppress(ValueError):
        return max(0.0, float(response.getheader("Retry-After", "")))
    return None


def _content(body: bytes, raw: bool) -> str:
    """Return the text of an answer; ``raw``: of ``/completions`` rather than of a chat."""
    try:
        choice = json.loads(body)["choices"][0]
        answer = choice["text"] if raw else choice["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        raise _PassingError("the answer is not of the form of a completion") from None
    if not isinstance(answer, str) or not answer.strip():
        raise _PassingError("the answer is empty")
    return answer
