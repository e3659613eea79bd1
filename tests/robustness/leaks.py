"""Restricted text planted in a build in every way in which it may get there, for the guard to find it."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import pickle
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from random import Random
from urllib.parse import quote

import pandas as pd

from radeval_lib import tables
from radeval_lib.data import guard
from radeval_lib.data.restricted import RestrictedText
from radeval_lib.metrics.ratescore.scoring import Entity, Explanation
from radeval_lib.pages.ratescore import entity_display
from radeval_lib.paths import BOOK
from radeval_lib.synthetic.generator import generate
from radeval_lib.synthetic.records import AnnotatedText

CORPUS = 60  # reports in the restricted corpus
SHORTEST = 20  # words of a report that is planted
Files = dict[str, bytes]


def _page(body: str) -> bytes:
    return f"<html><body><main>{body}</main></body></html>".encode()


def _labels(text: AnnotatedText) -> list[tuple[str, str]]:
    """Each word of a report with the label of the entity that it is in."""
    words, place = [], 0
    for word in text.text.split():
        place = text.text.index(word, place)
        label = next((one.label for one in text.entities if one.start <= place < one.end), "O")
        words.append((word, label))
        place += len(word)
    return words


def page(text: AnnotatedText) -> Files:
    return {"_build/html/page.html": _page(f"<p>{escape(text.text)}</p>")}


def entities_shown(text: AnnotatedText) -> Files:
    found = tuple(Entity(one.text, one.label.upper()) for one in text.entities)
    shown = Explanation(
        reference=found, candidate=(), precision=None, recall=None, score=0.5, notes=()
    )  # fmt: skip
    return {"_build/html/page.html": _page(entity_display.html(shown, text.text, ""))}


def words_and_labels_in_a_table(text: AnnotatedText) -> Files:
    table = tables.table_html(pd.DataFrame(_labels(text), columns=["word", "label"]), "Words")
    return {"_build/html/page.html": _page(table)}


def one_word_a_row_in_a_result(text: AnnotatedText) -> Files:
    rows = [{"word": word, "label": label, "score": 0.5} for word, label in _labels(text)]
    return {"results/rales/a/rales.table1.json": json.dumps({"table": rows}).encode()}


def escaped_signs(text: AnnotatedText) -> Files:
    signs = "".join(f"\\u{ord(sign):04x}" for sign in text.text)
    return {"_build/html/data.js": f'var rows = ["{signs}"];'.encode()}


def percent_encoding(text: AnnotatedText) -> Files:
    link = f'<a href="https://example.org/?q={quote(text.text)}">look it up</a>'
    return {"_build/html/page.html": _page(link)}


def base64_in_an_address(text: AnnotatedText) -> Files:
    packed = base64.b64encode(text.text.encode()).decode()
    return {"_build/html/page.html": _page(f'<a href="data:text/plain;base64,{packed}">the file</a>')}


def another_ending(text: AnnotatedText) -> Files:
    return {"cells/a/notes.backup": text.text.encode()}


def log(text: AnnotatedText) -> Files:
    lines = [f"[12:00:0{number}] INFO {line}" for number, line in enumerate(text.text.split(". "))]
    return {"build.log": "\n".join(["starting", *lines, "done"]).encode()}


def rows_of_seven_words(text: AnnotatedText) -> Files:
    words = text.text.split()
    rows = [" ".join(words[start : start + 7]) for start in range(0, len(words), 7)]
    body = "".join(f"<p>Row {number} of the example: <em>{row}</em></p>" for number, row in enumerate(rows))
    return {"_build/html/page.html": _page(body)}


def notebook(text: AnnotatedText) -> Files:
    output = {"output_type": "stream", "name": "stdout", "text": [f"{text.text}\n"]}
    cell = {"cell_type": "code", "source": ["print(report)"], "outputs": [output], "metadata": {}}
    return {"executed/rales/a.ipynb": json.dumps({"cells": [cell], "metadata": {}}).encode()}


def traceback(text: AnnotatedText) -> Files:
    red = f"\x1b[31mValueError\x1b[0m: could not convert string to float: {text.text!r}"
    cell = {"cell_type": "code", "outputs": [{"output_type": "error", "traceback": [red]}], "source": []}
    return {"executed/rales/a.failed.ipynb": json.dumps({"cells": [cell]}).encode()}


def compressed(text: AnnotatedText) -> Files:
    return {"cells/a/table.csv.gz": gzip.compress(f"text\n{text.text}\n".encode())}


def pickled(text: AnnotatedText) -> Files:
    return {"_build/.doctrees/a.pickle": pickle.dumps({"text": text.text, "zero": b"\x00"})}


def columns_of_csv(text: AnnotatedText) -> Files:
    stream = io.StringIO()
    csv.writer(stream).writerows(
        [("number", "word", "label"), *((i, *one) for i, one in enumerate(_labels(text)))]
    )
    return {"results/rales/a/words.csv": stream.getvalue().encode()}


def columns_of_markdown(text: AnnotatedText) -> Files:
    rows = "\n".join(f"| {word} | {label} |" for word, label in _labels(text))
    return {"book/page.md": f"| word | label |\n|---|---|\n{rows}\n".encode()}


def words_cut_by_markup(text: AnnotatedText) -> Files:
    words = (f"{escape(word[:2])}<wbr><b>{escape(word[2:])}</b>" for word in text.text.split())
    return {"_build/html/page.html": _page(" ".join(words))}


def utf_16(text: AnnotatedText) -> Files:
    return {"cells/a/report.txt": text.text.encode("utf-16")}


def words_of_a_drawing(text: AnnotatedText) -> Files:
    words = (f'<text x="{9 * i}" y="5">{escape(w)}</text>' for i, w in enumerate(text.text.split()))
    return {"_build/html/_images/figure.svg": f"<svg>{''.join(words)}</svg>".encode()}


def tagged_lines(text: AnnotatedText) -> Files:
    return {
        "cells/a/sentences.conll": "\n".join(f"{word}\t{label}" for word, label in _labels(text)).encode()
    }


def picture(text: AnnotatedText) -> Files:
    return {"_build/html/_images/figure.png": b"\x89PNG\r\n\x1a\n" + bytes(50)}


KINDS: tuple[Callable[[AnnotatedText], Files], ...] = (
    page, entities_shown, words_and_labels_in_a_table, one_word_a_row_in_a_result, escaped_signs,
    percent_encoding, base64_in_an_address, another_ending, log, rows_of_seven_words, notebook, traceback,
    compressed, pickled, columns_of_csv, columns_of_markdown, words_cut_by_markup, utf_16, words_of_a_drawing,
    tagged_lines, picture,
)  # fmt: skip


def corpus(seed: int = 0) -> list[AnnotatedText]:
    """Generated findings that stand for a restricted corpus."""
    return [report.findings for report in generate(CORPUS, seed=seed, min_findings=3)]


def clean_build(folder: Path) -> None:
    """What a build without a leak may look like: the book's own prose and pages of numbers."""
    for path in sorted(BOOK.glob("*.md")):
        (folder / "book").mkdir(parents=True, exist_ok=True)
        (folder / "book" / path.name).write_bytes(path.read_bytes())
    (folder / "build.log").write_text("running notebooks/rales/a.md\n3 of 3 steps (100 %) done\n")


def tries(folder: Path, each: int = 10, seed: int = 0) -> Iterator[tuple[str, bool]]:
    """(kind, whether it was found and nothing of it stayed) of each planted leak, and of clean builds."""
    reports = corpus(seed)
    texts = {"mimic3_rrs": [RestrictedText(one.text, "mimic3_rrs") for one in reports]}
    public = [path.read_text(encoding="utf-8") for path in sorted(BOOK.glob("*.md"))]
    long = [report for report in reports if len(report.text.split()) >= SHORTEST]
    for kind in KINDS:
        for number, report in enumerate(Random(seed).sample(long, each)):
            build = folder / f"{kind.__name__}-{number}"
            clean_build(build)
            for name, content in kind(report).items():
                (build / name).parent.mkdir(parents=True, exist_ok=True)
                (build / name).write_bytes(content)
            try:
                guard.scan_build(build, texts, public)
            except guard.LeakError as error:
                told = set(guard.words(str(error)))
                stayed = any((build / name).exists() for name in kind(report))
                shown = len(told & set(guard.words(report.text))) > 5
                yield kind.__name__.replace("_", " "), not stayed and not shown
            else:
                yield kind.__name__.replace("_", " "), False
    build = folder / "clean"
    clean_build(build)
    yield "no leak", not guard.scan(build, texts, public)
