"""Spoiled input: good files of every format with bytes, cells and values changed at random.

A try holds if the file is read, or refused with one line of at most 300 characters that prints and repeats
nothing that the file holds.
"""

from __future__ import annotations

import csv
import io
import json
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from radeval_lib.data import fetch
from radeval_lib.errors import RadevalError, of_system
from radeval_lib.metrics import score_file
from tests.data.samples import SAMPLES

LONGEST = 300
Read = Callable[[Path], object]

_NASTY = (
    b"\x00", b"\r", b"\n", b'"', b"\xff", b"\xef\xbb\xbf", b"\\ud800", b"\x1b[2J", b"\xe2\x80\xae", b",",
    b"{", b"}", b"[", b"]", b"1e999", b"NaN", b"-1", b"null", b"9" * 5000, b"[" * 3000, b"x" * 2000,
    b"<!DOCTYPE a>", b"&a;", b"' OR 1=1", b"\t", b"\xe2\x80\xa8",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 5, 1e308, float("nan"), 10**400, "", " ", "x" * 3000, "\x1b[31m", "\ud800", [], {},
    [5], [[]], {"a": {}}, [None], ["located_at", {}], {"CT_head": 5}, "a\nb", "‮",
)  # fmt: skip


def spoil_bytes(content: bytes, rng: Random) -> bytes:
    """Flip, cut, double, or insert something nasty, once to four times."""
    for _ in range(rng.randint(1, 4)):
        place, length = rng.randrange(len(content) + 1), rng.choice((1, 1, 2, 8, 60))
        kind = rng.randrange(5)
        if kind == 0 and content:
            flipped = bytes([content[place - 1] ^ 1 << rng.randrange(8)])
            content = content[: place - 1] + flipped + content[place:]
        elif kind == 1:
            content = content[:place] + content[place + length :]
        elif kind == 2:
            content = content[:place] + content[place : place + length] * 2 + content[place + length :]
        elif kind == 3:
            content = content[:place] + rng.choice(_NASTY) + content[place:]
        else:
            content = content[:place]
    return content


def spoil_json(value: Any, rng: Random) -> Any:
    """Put a strange value in the place of one somewhere within, or take one out."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return rng.choice(_VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, copy = rng.choice(keys), value.copy()
    if rng.random() < 0.15:
        del copy[key]
    else:
        copy[key] = spoil_json(value[key], rng)
    return copy


def spoil(name: str, content: bytes, rng: Random) -> bytes:
    """A file spoiled with or without regard to its format."""
    if rng.random() < 0.5:
        return spoil_bytes(content, rng)
    try:
        if name.endswith((".json", ".jsonl")):
            return json.dumps(spoil_json(json.loads(content), rng)).encode()
        if name.endswith(".csv"):
            rows = list(csv.reader(io.StringIO(content.decode())))
            row = rng.choice(rows)
            row[rng.randrange(len(row))] = str(rng.choice(_VALUES))
            stream = io.StringIO()
            csv.writer(stream).writerows(rows)
            return stream.getvalue().encode("utf-8", "surrogatepass")
    except (ValueError, IndexError):
        pass
    return spoil_bytes(content, rng)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]{2,}", text.lower())


def fault(read: Read, path: Path, body: str) -> str:
    """What is wrong with how ``path`` is read; empty if nothing.

    Parameters
    ----------
    body : what the file held before it was spoiled, without the names of columns.
    """
    try:
        read(path)
    except RadevalError as error:
        message = str(error)
    except OSError as error:
        message = str(of_system(error))
    except Exception:
        return traceback.format_exc(limit=-3)
    else:
        return ""
    if len(message) > LONGEST or not message.isprintable():
        return f"message of {len(message)} characters: {message!r:.200}"
    held, said = _words(body), " ".join(_words(message))
    if any(" ".join(held[start : start + 4]) in said for start in range(len(held) - 3)):
        return f"message repeats the file: {message!r:.200}"
    return ""


PAIRS = [
    ["id", "reference", "candidate", "note"],
    ["1", "There is no pleural effusion today.", "No effusion.", "a\rb"],
    ["2", "The heart is enlarged, as before.", "", 'say "so"'],
    ["3", "Lungs are clear.\nNo mass.", "Lungs clear", ""],
]


def _pairs_csv() -> bytes:
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(PAIRS)
    return stream.getvalue().encode()


def _pairs_jsonl() -> bytes:
    rows = [dict(zip(PAIRS[0], row, strict=True)) for row in PAIRS[1:]]
    rows[1]["more"] = "only here"
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _scored(path: Path) -> None:
    """Score a file and see that nothing of it is lost."""
    target = path.with_name(f"scores{path.suffix}")
    target.unlink(missing_ok=True)
    score_file({"rouge_1": {}}, path, target)
    if path.suffix == ".csv":
        with (
            path.open(newline="", encoding="utf-8-sig") as one,
            target.open(newline="", encoding="utf-8") as two,
        ):
            before, after = (list(csv.reader(stream, strict=True)) for stream in (one, two))
        assert [row for row in before if row] == [row[:-1] for row in after], "rows were lost or changed"
    else:
        before, after = (
            [json.loads(line) for line in one.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
            for one in (path, target)
        )
        kept = [{key: value for key, value in row.items() if key != "rouge_1"} for row in after]
        assert repr(before) == repr(kept), "rows were lost or changed"


def targets() -> Iterator[tuple[str, str, bytes, Read]]:
    """(what is tried, file name, good content, what reads it)."""
    for sample in SAMPLES:
        yield "data files", sample.file, sample.good, sample.load
    yield "score files", "pairs.csv", _pairs_csv(), _scored
    yield "score files", "pairs.jsonl", _pairs_jsonl(), _scored
    record = json.dumps({"openi/indiana_reports.csv": "0" * 64}).encode()
    yield "records of checksums", fetch.RECORD, record, lambda path: fetch.status(path.parent, "openi")


def _body(name: str, content: bytes) -> str:
    """What a file holds without the names of columns and keys, which a message may tell."""
    text = content.decode("utf-8", "replace")
    if name.endswith(".csv"):
        return text.partition("\n")[2]
    try:
        return " ".join(_values_of(json.loads(text)))
    except ValueError:
        return text


def _values_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values_of(inner)
    elif isinstance(value, str):
        yield value


def tries(folder: Path, each: int = 380, seed: int = 0) -> Iterator[tuple[str, str]]:
    """(what was tried, what was wrong) of ``each`` spoiled versions of every good file."""
    for kind, name, content, read in targets():
        rng = Random(f"{seed} {name}")
        path = folder / name
        body = _body(name, content)
        # Score files get more tries: whoever scores writes them by hand.
        for _ in range(each * (4 if kind == "score files" else 1)):
            path.write_bytes(spoil(name, content, rng))
            yield kind, fault(read, path, body)
