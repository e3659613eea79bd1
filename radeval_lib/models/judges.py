"""Open a judge by its name (the rules, or a language model on this machine or on a server), and cache its
answers."""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter, Retry

from radeval_lib import checksums
from radeval_lib.data.manifests import data_root, list_restricted, require_statements
from radeval_lib.errors import FileError
from radeval_lib.models.catalog import URL_PREFIXES
from radeval_lib.registry import RULES
from radeval_lib.rules.judge import RulesJudge
from radeval_lib.rules.judge.base import Judge, JudgeError, Keep, Pair, store_answers, write_prompt

_LOG = logging.getLogger(__name__)
_RETRIED_STATUSES = (408, 409, 425, 429, 500, 502, 503, 504)
"""HTTP status codes after which a request is repeated: the server is too busy, too slow or not ready yet."""

_LOCAL_URL = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[1-9]\d*)?(/[^?#\s]*)?")
"""URLs on this machine, such as ``http://127.0.0.1:8000/v1``."""


@dataclass(frozen=True)
class EndpointJudge:
    """A judge that queries an OpenAI-compatible endpoint (vLLM, llama.cpp, Ollama), with greedy decoding.

    Requests are sent to ``<url>/chat/completions``. For a released GREEN model, recognized by its name, they
    are sent to ``<url>/completions``, because no chat endpoint produces its conversation format.

    Attributes
    ----------
    url : the URL up to the version, such as ``http://127.0.0.1:8000/v1``.
    model : the server's name for the model.
    concurrency : maximum number of simultaneous requests.
    timeout : maximum time, in seconds, to wait for a connection or for data from the server.
    tries : maximum number of requests for one answer, at least 1; a request is repeated if the server is busy
        or silent.
    pause : scale of the waiting times between requests, in seconds. The second request is sent immediately,
        the third after twice ``pause``; each further waiting time is doubled, up to 120 s. A waiting time
        given by the server (``Retry-After``) is used instead.
    max_tokens : maximum number of tokens of an answer. If the server reports that it truncated an answer, a
        warning is logged, and the truncated answer is returned.

    Raises
    ------
    JudgeError
        If the URL is not on this machine, or the model has no name.
    """

    url: str
    model: str
    concurrency: int = 4
    timeout: float = 120.0
    tries: int = 5
    pause: float = 2.0
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if not _LOCAL_URL.fullmatch(self.url):
            problem = f"{self.url!r} is not an HTTP URL on this machine, and reports are sent nowhere else"
            remedy = "Use a URL like http://127.0.0.1:8000/v1; for a server elsewhere, forward a local port."
            raise JudgeError(problem, "endpoint", remedy)
        if not self.model:
            remedy = "Append #MODEL to the URL, where MODEL is the server's name for the model."
            raise JudgeError(f"no model is named for the server {self.url}", "endpoint", remedy)

    @property
    def signature(self) -> str:
        """A string of everything that determines an answer except the two reports: the model's name,
        ``max_tokens`` and the text of the prompt. The URL is left out, since it does not affect answers."""
        return f"endpoint|{self.model}|{self.max_tokens}|{self._make_prompt('<reference>', '<candidate>')[1]}"

    def _make_prompt(self, reference: str, candidate: str) -> tuple[bool, str]:
        """Return (whether the model is a released GREEN model, the prompt for two reports)."""
        from radeval_lib.models.language_model_judge import fill_released_prompt, is_released, wrap_as_chat

        if not is_released(self.model):
            return False, write_prompt(reference, candidate)
        end = "<|endoftext|>" if "phi" in self.model.lower() else "</s>"
        return True, wrap_as_chat(fill_released_prompt(reference, candidate), end)

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return the server's answer to each pair of (reference, candidate), in the order of ``pairs``.

        ``keep``: function that is called for each answer, as soon as the answers to all earlier pairs have
        arrived, with a mapping from position in ``pairs`` to answer. After an error, no further request is
        sent.

        Raises
        ------
        JudgeError
            If the server gives no usable answer to a pair after ``tries`` requests.
        """
        answers = []
        with ThreadPoolExecutor(self.concurrency) as pool:
            for position, answer in enumerate(pool.map(self._request_answer, pairs)):
                answers.append(answer)
                if keep is not None:
                    keep({position: answer})
        return answers

    def _request_answer(self, pair: Pair) -> str:
        """Return the server's answer to one pair of (reference, candidate).

        If the server reports that it truncated the answer, a warning is logged. Raises :class:`JudgeError` if
        there is no usable answer.
        """
        is_released, text = self._make_prompt(*pair)
        question = {"prompt": text} if is_released else {"messages": [{"role": "user", "content": text}]}
        body: Any = {"model": self.model, **question, "temperature": 0, "max_tokens": self.max_tokens}
        url = f"{self.url.rstrip('/')}/{'' if is_released else 'chat/'}completions"
        retry = Retry(
            self.tries - 1, allowed_methods=None, status_forcelist=_RETRIED_STATUSES,
            backoff_factor=self.pause, raise_on_status=False,
        )  # fmt: skip
        try:
            with requests.Session() as session:
                session.trust_env = False  # reports are sent to the server directly, not through a proxy
                for scheme in URL_PREFIXES:
                    session.mount(scheme, HTTPAdapter(max_retries=retry))
                response = session.post(url, json=body, timeout=self.timeout, allow_redirects=False)
            response.raise_for_status()
            choice = response.json()["choices"][0]
            answer = choice["text"] if is_released else choice["message"]["content"]
        except (requests.RequestException, LookupError, TypeError) as error:
            problem = f"the server gave no usable answer ({type(error).__name__}: {error})"
            remedy = f"Check that the server runs and names its model {self.model!r}; read the server's log."
            raise JudgeError(problem, self.url, remedy) from error
        if not (answer and answer.strip()):
            remedy = "Check that the server runs a chat model, or use another model."
            raise JudgeError(f"the model {self.model!r} gave an empty answer", self.url, remedy)
        if choice.get("finish_reason") == "length":
            _LOG.warning("%s: an answer was truncated at max_tokens=%d", self.url, self.max_tokens)
        return str(answer)


class CachedJudge:
    """A judge that stores the answers of another judge in a file, and asks that judge only about new pairs.

    The file is ``cache.sqlite`` in ``folder``. Answers are stored as they arrive, with a hash of the two
    reports as the key. They reveal part of the reports, so keep answers about restricted reports in the data
    root.

    Parameters
    ----------
    judge : the judge to ask.
    folder : folder of the file; folder and file are created if they do not exist.

    Raises
    ------
    FileError
        If the file is damaged or locked, or the disk is full; :meth:`judge` raises it, too.
    """

    def __init__(self, judge: Judge, folder: str | Path) -> None:
        self._judge, self._path = judge, Path(folder) / "cache.sqlite"
        self._table = f"t{checksums.of_text(f'judge|{judge.signature}')[:32]}"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._open() as connection:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to the cache for a ``with`` block.

        Changes are committed if the block ends without an error. Raises
        :class:`~radeval_lib.errors.FileError` if SQLite cannot use the file.
        """
        try:
            with closing(sqlite3.connect(self._path, timeout=60)) as connection, connection:
                yield connection
        except sqlite3.DatabaseError as error:
            remedy = "Free disk space and close other programs that use the file; if that fails, delete it."
            raise FileError(f"cannot use this answer cache ({error})", self._path.name, remedy) from error

    @property
    def signature(self) -> str:
        """The signature of the judge whose answers are cached."""
        return self._judge.signature

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return the answer to each pair of (reference, candidate), in the order of ``pairs``.

        The other judge is asked once about each distinct pair whose answer is not stored. ``keep``: function
        that is called once, at the end, with a mapping from position in ``pairs`` to answer. Raises the
        errors of the other judge, and FileError if the file cannot be used.
        """
        texts = [f"{len(reference)}:{reference}{candidate}" for reference, candidate in pairs]
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        query = f"SELECT value FROM {self._table} WHERE key = ?"
        with self._open() as connection:
            rows = ((key, connection.execute(query, [key]).fetchone()) for key in dict.fromkeys(keys))
            answer_of: dict[bytes, bytes] = {key: row[0] for key, row in rows if row}
        missing_positions = sorted({key: i for i, key in enumerate(keys) if key not in answer_of}.values())

        def store(answers: Mapping[int, str]) -> None:
            encoded = {
                keys[missing_positions[index]]: answer.encode("utf-8", "surrogatepass")
                for index, answer in answers.items()
            }
            with self._open() as connection:
                connection.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", encoded.items())
            answer_of.update(encoded)

        if missing_positions:
            self._judge.judge([pairs[position] for position in missing_positions], store)
        return store_answers([answer_of[key].decode("utf-8", "surrogatepass") for key in keys], keep)


def open_judge(name: str, *, cache: str | Path | None = None, device: str = "auto", model: str = "") -> Judge:
    """Return the judge that ``name`` denotes, ready to judge pairs.

    Parameters
    ----------
    name : ``rules``; the URL of a server on this machine, with the name of its model after ``#``; or the
        folder or Hugging Face Hub name of a causal language model.
    cache : folder in which answers are stored; None stores none. Answers of the rules are never stored.
    device : device on which a local language model runs: ``auto``, ``cpu`` or ``cuda``.
    model : name of the server's model; if it is given, the name after ``#`` is ignored.

    Raises
    ------
    JudgeError
        If ``model`` is given although ``name`` is not a URL, if the URL is not on this machine, or if no
        model is named for a server.
    ModelError
        If ``name`` denotes a language model that cannot be loaded, or ``device`` is unknown or not available.
    StatementError
        If ``name`` is a URL, and no signed statement allows sending the data root's restricted texts there,
        or a statement is malformed.
    DataRootError
        If ``name`` is a URL, and the environment variable for the data root does not name a folder outside
        ``build/``.
    FileError
        If the cache cannot be used.
    """
    if model and not name.startswith(URL_PREFIXES):
        problem = f"the model {model!r} is given, but the judge {name!r} is not the URL of a server"
        raise JudgeError(problem, "judge", "Leave out model, or give a URL as the judge.")
    if name == RULES:
        return RulesJudge()
    judge: Judge
    if name.startswith(URL_PREFIXES):
        root = data_root()
        require_statements(list_restricted(root), name, root)
        url, _, model_in_name = name.partition("#")
        judge = EndpointJudge(url, model or model_in_name)
    else:
        from radeval_lib.models.language_model_judge import CausalJudge

        judge = CausalJudge(name, device=device)
    return CachedJudge(judge, cache) if cache is not None else judge
