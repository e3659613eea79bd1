"""Judges by name: the rules, a language model on this machine or behind a server; and a cache of answers."""

from __future__ import annotations

import hashlib
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
from radeval_lib.data.manifests import data_root, require_statements, restricted_in
from radeval_lib.errors import FileError
from radeval_lib.models.catalog import ADDRESSES
from radeval_lib.registry import RULES
from radeval_lib.rules.judge import RulesJudge
from radeval_lib.rules.judge.base import Judge, JudgeError, Keep, Pair, prompt, store_answers

_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
"""HTTP states after which a request is repeated: the server is too busy, too slow or not up yet."""

_ADDRESS = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[1-9]\d*)?(/[^?#\s]*)?")
"""Addresses of this machine, as ``http://127.0.0.1:8000/v1``."""


@dataclass(frozen=True)
class EndpointJudge:
    """A judge behind an OpenAI-compatible endpoint (vLLM, llama.cpp, Ollama), asked greedily at
    ``<url>/chat/completions``.

    A released GREEN model, known by its name, is asked at ``/completions``, because no server's chat endpoint
    produces the form of its conversations.

    Attributes
    ----------
    url : the address up to the version, as ``http://127.0.0.1:8000/v1``.
    model : the name that the server knows the model by.
    concurrency : requests that are on their way at once.
    timeout : longest silence of the server, in seconds.
    tries : most requests for one answer, if the server is busy or silent.
    pause : seconds before the third request, doubled before each further one.
    max_tokens : tokens of an answer, at most.

    Raises
    ------
    JudgeError
        If the address is not one of this machine, or the model has no name.
    """

    url: str
    model: str
    concurrency: int = 4
    timeout: float = 120.0
    tries: int = 5
    pause: float = 2.0
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if not _ADDRESS.fullmatch(self.url):
            problem = f"{self.url!r} is no http address of this machine, so no reports are sent there"
            remedy = "Give one such as http://127.0.0.1:8000/v1; forward the port of a server elsewhere."
            raise JudgeError(problem, "endpoint", remedy)
        if not self.model:
            remedy = "Append the server's name for it to the address, after #."
            raise JudgeError("the server's model has no name", "endpoint", remedy)

    @property
    def signature(self) -> str:
        """The model, the length and the wording of the prompt; the address changes no answer."""
        return f"endpoint|{self.model}|{self.max_tokens}|{self._asked('<reference>', '<candidate>')[1]}"

    def _asked(self, reference: str, candidate: str) -> tuple[bool, str]:
        """Return whether the model is a released one, and the text that it is asked."""
        from radeval_lib.models.language_model_judge import is_released, released_chat, released_prompt

        if not is_released(self.model):
            return False, prompt(reference, candidate)
        end = "<|endoftext|>" if "phi" in self.model.lower() else "</s>"
        return True, released_chat(released_prompt(reference, candidate), end)

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return the server's answers, in the pairs' order.

        Each is passed to ``keep`` when it and all before it are there. After an error nothing more is sent.
        """
        answers = []
        with ThreadPoolExecutor(self.concurrency) as pool:
            for position, answer in enumerate(pool.map(self._answer, pairs)):
                answers.append(answer)
                if keep is not None:
                    keep({position: answer})
        return answers

    def _answer(self, pair: Pair) -> str:
        """Return the server's answer."""
        released, text = self._asked(*pair)
        asked = {"prompt": text} if released else {"messages": [{"role": "user", "content": text}]}
        body: Any = {"model": self.model, **asked, "temperature": 0, "max_tokens": self.max_tokens}
        url = f"{self.url.rstrip('/')}/{'' if released else 'chat/'}completions"
        again = Retry(
            self.tries - 1, allowed_methods=None, status_forcelist=_AGAIN, backoff_factor=self.pause,
            raise_on_status=False,
        )  # fmt: skip
        try:
            with requests.Session() as session:
                session.trust_env = False  # reports go to the server alone, not through a proxy
                for scheme in ADDRESSES:
                    session.mount(scheme, HTTPAdapter(max_retries=again))
                response = session.post(url, json=body, timeout=self.timeout, allow_redirects=False)
            response.raise_for_status()
            choice = response.json()["choices"][0]
            answer = choice["text"] if released else choice["message"]["content"]
        except (requests.RequestException, LookupError, TypeError) as error:
            problem = f"no usable answer ({type(error).__name__}: {error})"
            raise JudgeError(problem, self.url, "Check the server and the model's name.") from error
        if not (answer and answer.strip()):
            raise JudgeError("the answer is empty", self.url, "Check the model.")
        return str(answer)


class CachedJudge:
    """A judge with its answers cached in one SQLite file as they arrive, under hashes of the texts.

    Answers reveal something of the texts, so keep those about restricted texts in the data root. Methods
    raise :class:`~radeval_lib.errors.FileError` if the file is damaged or locked, or the disk is full.
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
        """Yield a connection, whose changes stay if the block ends without an error."""
        try:
            with closing(sqlite3.connect(self._path, timeout=60)) as connection, connection:
                yield connection
        except sqlite3.DatabaseError as error:
            remedy = "Check whether the disk is full or another program uses it; if neither, delete it."
            raise FileError(f"unusable cache ({error})", self._path.name, remedy) from error

    @property
    def signature(self) -> str:
        """The signature of the judge itself."""
        return self._judge.signature

    def judge(self, pairs: Sequence[Pair], keep: Keep | None = None) -> list[str]:
        """Return an analysis of each (reference, candidate); the judge is only asked about pairs that are not
        cached.

        ``keep`` is called once, with all analyses by position.
        """
        texts = [f"{len(reference)}:{reference}{candidate}" for reference, candidate in pairs]
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        query = f"SELECT value FROM {self._table} WHERE key = ?"
        with self._open() as connection:
            rows = ((key, connection.execute(query, [key]).fetchone()) for key in dict.fromkeys(keys))
            kept: dict[bytes, bytes] = {key: row[0] for key, row in rows if row}
        missing = sorted({key: position for position, key in enumerate(keys) if key not in kept}.values())

        def store(analyses: Mapping[int, str]) -> None:
            new = {
                keys[missing[number]]: analysis.encode("utf-8", "surrogatepass")
                for number, analysis in analyses.items()
            }
            with self._open() as connection:
                connection.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", new.items())
            kept.update(new)

        if missing:
            self._judge.judge([pairs[position] for position in missing], store)
        return store_answers([kept[key].decode("utf-8", "surrogatepass") for key in keys], keep)


def open_judge(name: str, *, cache: str | Path | None = None, device: str = "auto", model: str = "") -> Judge:
    """Return the judge of that name.

    Parameters
    ----------
    name : ``rules``; the address of a server, with the name of its model after ``#``; or the folder or hub
        name of a language model.
    cache : folder in which answers are kept; None keeps none. Answers of the rules are never kept.
    device : of a language model: ``auto``, ``cpu`` or ``cuda``.
    model : name of the server's model; takes precedence over the one in ``name``.

    Raises
    ------
    JudgeError
        If a model is named and ``name`` is not a server's, or the judge cannot be made.
    StatementError
        If it is a server, and no statement allows sending it the data root's text.
    """
    if model and not name.startswith(ADDRESSES):
        problem = f"the judge {name!r} is no server, so it takes no model {model!r}"
        raise JudgeError(problem, "judge", "Leave model out, or give the address of a server.")
    if name == RULES:
        return RulesJudge()
    judge: Judge
    if name.startswith(ADDRESSES):
        root = data_root()
        require_statements(restricted_in(root), name, root)
        address, _, of_address = name.partition("#")
        judge = EndpointJudge(address, model or of_address)
    else:
        from radeval_lib.models.language_model_judge import CausalJudge

        judge = CausalJudge(name, device=device)
    return CachedJudge(judge, cache) if cache is not None else judge
