"""Restricted text planted in a build in every way in which it may get there, for the guard to find it."""

from __future__ import annotations

import base64
import bz2
import csv
import gzip
import io
import json
import lzma
import pickle
import re
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from html import escape
from pathlib import Path, PurePath
from random import Random
from urllib.parse import quote
from zlib import crc32

import numpy as np
import pandas as pd

from notebooks.ratescore import entity_display
from radeval_lib import atomic, tables
from radeval_lib.data import guard, leak_sequences
from radeval_lib.data.restricted import RestrictedText
from radeval_lib.metrics.ratescore.formula import Explanation, NamedEntity
from radeval_lib.paths import BOOK, ROOT
from radeval_lib.pipeline import release
from radeval_lib.rules.generator.generator import generate
from radeval_lib.rules.generator.records import AnnotatedText

CORPUS = 60  # reports in the restricted corpus
LARGE = 2500  # and where many leaks of each kind are planted
BATCH = 300  # leaks of a build
SHORTEST = 20  # words of a report that is planted
Files = dict[str, bytes]


def _page(body: str) -> bytes:
    return f"<html><body><main>{body}</main></body></html>".encode()


def _labels(text: AnnotatedText) -> list[tuple[str, str]]:
    """Return each word of a report with the label of the entity that it is in."""
    words, place = [], 0
    for word in text.text.split():
        place = text.text.index(word, place)
        label = next((one.label for one in text.entities if one.start <= place < one.end), "O")
        words.append((word, label))
        place += len(word)
    return words


def _one_of(text: AnnotatedText, *ways: str) -> str:
    """Return one of several ways for each report, the same one always."""
    return ways[crc32(text.text.encode()) % len(ways)]


def page(text: AnnotatedText) -> Files:
    return {"_build/html/page.html": _page(f"<p>{escape(text.text)}</p>")}


def entities_shown(text: AnnotatedText) -> Files:
    found = tuple(NamedEntity(one.text, one.label.upper()) for one in text.entities)
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
    form = _one_of(text, "\\u{:04x}", "\\x{:02x}", "\\u{{{:x}}}", "\\U{:08x}")
    signs = "".join(form.format(ord(sign)) for sign in text.text)
    return {"_build/html/data.js": f'var rows = ["{signs}"];'.encode()}


def percent_encoding(text: AnnotatedText) -> Files:
    link = f'<a href="https://example.org/?q={quote(text.text)}">look it up</a>'
    return {"_build/html/page.html": _page(link)}


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


def words_of_a_drawing(text: AnnotatedText) -> Files:
    words = (f'<text x="{9 * i}" y="5">{escape(w)}</text>' for i, w in enumerate(text.text.split()))
    return {"_build/html/_images/figure.svg": f"<svg>{''.join(words)}</svg>".encode()}


def tagged_lines(text: AnnotatedText) -> Files:
    return {
        "cells/a/sentences.conll": "\n".join(f"{word}\t{label}" for word, label in _labels(text)).encode()
    }


def _name(text: AnnotatedText) -> str:
    """Return the text as a system takes it for a name."""
    joint = _one_of(text, " ", "_", "-")
    return joint.join(word.strip(".,/") for word in text.text.split())[:200]


def name_of_a_file(text: AnnotatedText) -> Files:
    return {f"cells/a/{_name(text)}.json": b"{}"}


def name_of_a_folder(text: AnnotatedText) -> Files:
    return {f"{_name(text)}/facts.json": b"{}"}


def one_word_a_folder_in_the_next(text: AnnotatedText) -> Files:
    return {f"cells/{'/'.join(word.strip('.,/') for word in text.text.split()[:30])}/facts.json": b"{}"}


def _parts(text: AnnotatedText, length: int) -> list[str]:
    words = text.text.split()
    return [" ".join(words[start : start + length]) for start in range(0, len(words), length)]


def _notebook(outputs: list[dict[str, object]]) -> Files:
    cells = [
        {"cell_type": "code", "source": [f"show({number})"], "outputs": [output], "metadata": {}}
        for number, output in enumerate(outputs)
    ]
    return {"executed/rales/a.ipynb": json.dumps({"cells": cells, "metadata": {}}).encode()}


def one_word_an_output(text: AnnotatedText) -> Files:
    return _notebook(
        [{"output_type": "stream", "name": "stdout", "text": [f"{word}\n"]} for word in _parts(text, 1)]
    )


def five_words_an_output(text: AnnotatedText) -> Files:
    return _notebook(
        [
            {
                "output_type": "display_data",
                "data": {"text/plain": ["<IPython.core.display.HTML object>"], "text/html": f"<i>{part}</i>"},
            }
            for part in _parts(text, 5)
        ]
    )


def _pieces(text: AnnotatedText) -> list[tuple[str, str]]:
    """Return pieces of words as tokenizers cut them, each with the label of its word."""
    kind, pieces = _one_of(text, "##", "▁", "Ġ", "@@"), []
    for word, label in _labels(text):
        cut = max(1, len(word) // 2)
        if kind == "##":
            whole = [word[:cut], *([f"##{word[cut:]}"] if word[cut:] else [])]
        elif kind == "@@":
            whole = [f"{word[:cut]}@@", word[cut:]] if word[cut:] else [word]
        else:
            whole = [kind + word[:cut], *([word[cut:]] if word[cut:] else [])]
        pieces += [(piece, label) for piece in whole]
    return pieces


def word_pieces(text: AnnotatedText) -> Files:
    return {"cells/a/tokens.json": json.dumps({"tokens": [piece for piece, _ in _pieces(text)]}).encode()}


def word_pieces_with_labels(text: AnnotatedText) -> Files:
    rows = [{"token": piece, "label": label, "is": "left"} for piece, label in _pieces(text)]
    return {"cells/a/tokens.json": json.dumps(rows).encode()}


# Labels that are words of the corpus too.
def _hard_labels(text: AnnotatedText) -> list[tuple[str, str]]:
    return [(word, "no" if label == "O" else "the left lung") for word, label in _labels(text)]


def tuples_as_shown(text: AnnotatedText) -> Files:
    rows = _hard_labels(text)
    shown = {
        "pairs": repr(rows),
        "longer": repr([(word, label, 0.5, "right") for word, label in rows]),
        "dictionaries": repr([{"is": word, "left": label} for word, label in rows]),
        "objects": " ".join(f"Entity(text={word!r}, left={label!r})" for word, label in rows),
        "slashes": " ".join(f"{word}/{'no' if label == 'no' else 'left'}" for word, label in rows),
    }
    output = {"output_type": "stream", "name": "stdout", "text": shown[_one_of(text, *shown)]}
    return _notebook([output])


def yaml_lists(text: AnnotatedText) -> Files:
    rows = _hard_labels(text)
    shown = {
        "words": "left:\n" + "".join(f"  - {word}\n" for word, _ in rows),
        "flow": "".join(f"- {{is: {word!r}, left: {label!r}}}\n" for word, label in rows),
        "keys": "".join(f"- left: {label}\n  is: {word}\n" for word, label in rows),
        "pairs": "".join(f"- [{word!r}, {label!r}]\n" for word, label in rows),
    }
    return {"cells/a/words.yml": shown[_one_of(text, *shown)].encode()}


def member_of_an_archive(text: AnnotatedText) -> Files:
    stream = io.BytesIO()
    if _one_of(text, "zip", "tar") == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("report.txt", text.text)
    else:
        with tarfile.open(fileobj=stream, mode="w:xz") as bundle:
            member = tarfile.TarInfo("report.txt")
            member.size = len(text.text.encode())
            bundle.addfile(member, io.BytesIO(text.text.encode()))
    return {"cells/a/reports": stream.getvalue()}


def other_kind_of_file(text: AnnotatedText) -> Files:
    stream, words = io.BytesIO(), text.text.split()
    np.savez_compressed(stream, words=np.array(words), scores=np.zeros(9))
    kinds = {
        "words.npz": stream.getvalue(),
        "words.pickle": pickle.dumps(words),
        "table.pkl": pickle.dumps(pd.DataFrame(_labels(text), columns=["word", "label"])),
        "report.txt": text.text.encode("utf-16"),
        "report.zlib": zlib.compress(text.text.encode()),
        "report.gz": gzip.compress(text.text.encode() + b" and so on" * 200)[:-8] + b"sevenmen",
    }
    name = _one_of(text, *kinds)
    return {f"cells/a/{name}": kinds[name]}


def accents(text: AnnotatedText) -> Files:
    marked = text.text.translate(str.maketrans({"a": "á", "e": "ë", "u": "u\u0300", "s": "s\u00ad"}))
    return {"cells/a/notes.txt": marked.encode()}


def file_in_an_address(text: AnnotatedText) -> Files:
    kind = _one_of(text, "text/plain", "text/csv", "image/svg+xml", "text/html;charset=utf-8")
    packed = base64.b64encode(text.text.encode()).decode()
    return {"_build/html/page.html": _page(f'<a href="data:{kind};base64,{packed}">the file</a>')}


PICTURES = {
    "png": b"\x89PNG\r\n\x1a\n" + bytes(50),
    "tiff": b"II*\0" + bytes(50),
    "bmp": b"BM" + (99).to_bytes(4, "little") + bytes(8) + b"\x28\0\0\0" + bytes(50),
    "avif": b"\0\0\0\x1cftypavif" + bytes(50),
    "ico": b"\0\0\1\0\1\0\x10\x10\0\0\1\0\x20\0" + bytes(50),
    "webp": b"RIFF" + (99).to_bytes(4, "little") + b"WEBPVP8 " + bytes(50),
    "jpeg": b"\xff\xd8\xff\xe0" + bytes(50),
}


def _picture(text: AnnotatedText) -> tuple[str, bytes]:
    kind = _one_of(text, *PICTURES)
    return kind, PICTURES[kind]


def _picture_url(text: AnnotatedText) -> str:
    kind, content = _picture(text)
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def picture(text: AnnotatedText) -> Files:
    return {f"_build/html/_images/figure.{_picture(text)[0]}": _picture(text)[1]}


def picture_of_another_name(text: AnnotatedText) -> Files:
    return {"cells/a/facts.json": _picture(text)[1]}


def picture_in_an_output(text: AnnotatedText) -> Files:
    kind, content = _picture(text)
    data = {f"image/{kind}": base64.b64encode(content).decode(), "text/plain": ["<Figure>"]}
    return _notebook([{"output_type": "display_data", "data": data}])


def picture_in_a_style_sheet(text: AnnotatedText) -> Files:
    return {"_build/html/page.css": f"body {{ background: url({_picture_url(text)}) }}".encode()}


def picture_in_markdown(text: AnnotatedText) -> Files:
    return {"book/page.md": f"# Page\n\n![figure]({_picture_url(text)})\n".encode()}


def picture_in_a_drawing(text: AnnotatedText) -> Files:
    drawing = f"<svg><image xlink:href='{_picture_url(text)}'/></svg>"
    return {"_build/html/_images/figure.svg": drawing.encode()}


def picture_behind_a_sign(text: AnnotatedText) -> Files:
    return {"_build/html/page.html": _page(f"<img alt='>' src='{_picture_url(text)}'>")}


def picture_packed(text: AnnotatedText) -> Files:
    pack = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
    way = _one_of(text, *pack)
    return {f"cells/a/figure.{way}": pack[way](_picture(text)[1])}


def letters_apart_or_joined(text: AnnotatedText) -> Files:
    words = text.text.split()
    shown = {
        "apart": " ".join(" ".join(word) for word in words),
        "far apart": "   ".join(" ".join(word) for word in words),
        "points": ".".join("".join(words)),
        "joined": "".join(words),
        "camels": "".join(word.capitalize() for word in words),
        "lines": "\n".join("".join(words)),
    }
    return {"cells/a/notes.txt": shown[_one_of(text, *shown)].encode()}


def colours_of_a_terminal(text: AnnotatedText) -> Files:
    return {
        "build.log": " ".join(f"\x1b[3{len(word) % 8}m{word}\x1b[0m" for word in text.text.split()).encode()
    }


def _number(text: AnnotatedText) -> int:
    """Return the study's number, as the restricted corpus names it."""
    return 50_000_000 + crc32(text.text.encode()) % 9_999_999


def _day(text: AnnotatedText) -> str:
    """Return the day of the study, moved as de-identification moves it."""
    return f"{2110 + _number(text) % 80}-{_number(text) % 12 + 1:02}-{_number(text) % 28 + 1:02}"


def study_number(text: AnnotatedText) -> Files:
    rows = [{"study": _number(text), "score": 0.5}, {"study": f"s{_number(text)}", "score": 0.25}]
    ways = {"results/rales/a/t.json": json.dumps({"table": rows}), "build.log": f"read s{_number(text)}.txt"}
    name = _one_of(text, *ways)
    return {name: ways[name].encode()}


def study_number_in_another_form(text: AnnotatedText) -> Files:
    number = _number(text)
    ways = (
        f"{number:,}", f"{number}.0", f"{number / 1e7}e+07", f"{number:010}", f"study{number}",
        f"study.{number}", f"p{number - 40_000_000}s{number}.jpg",
    )  # fmt: skip
    return {"cells/a/t.csv": f'study,score\n"{_one_of(text, *ways)}",0.5\n'.encode()}


def number_in_a_name(text: AnnotatedText) -> Files:
    return {f"cells/a/p10/s{_number(text)}.json": b"{}"}


def _short_number(text: AnnotatedText) -> int:
    """Return the patient's number, as short as those of MIMIC-III."""
    return 10_000 + crc32(text.text.encode()) % 990_000


def _accession(text: AnnotatedText) -> str:
    return f"CR{_number(text) % 90 + 10}-{_short_number(text):07}"


def patient_number(text: AnnotatedText) -> Files:
    rows = [{"subject_id": _short_number(text), "score": 0.5}]
    table = tables.table_html(pd.DataFrame(rows), "Scores", index=False)
    ways = {
        "results/rales/a/t.json": json.dumps({"table": rows}),
        "cells/a/t.csv": f"SUBJECT_ID,score\n{_short_number(text)},0.5\n7,0.25\n",
        "_build/html/page.html": f"<p>Scores</p>{table}",
        "build.log": f"scored patient {_short_number(text)} in 3 s",
    }
    name = _one_of(text, *ways)
    return {name: ways[name].encode()}


def accession_number(text: AnnotatedText) -> Files:
    ways = {"build.log": "read {}.dcm", "_build/html/page.html": "<td>{}</td>", "cells/a/t.csv": "a\n{},1\n"}
    name = _one_of(text, *ways)
    return {name: ways[name].format(_accession(text)).encode()}


def day_in_words_or_figures(text: AnnotatedText) -> Files:
    year, month, day = map(int, _day(text).split("-"))
    name = date(2000, month, 1).strftime(_one_of(text, "%B", "%b"))
    ways = (
        f"{name} {day}, {year}", f"{day} {name} {year}", f"{month}/{day}/{year}", f"{day}.{month}.{year}",
        f"{name} {day:02} 10:00:00 {year}", f"the {day}th of {name} {year}", f"{year}_{month:02}_{day:02}",
    )  # fmt: skip
    return {"_build/html/page.html": _page(f"<p>Seen on {_one_of(text, *ways)} and later</p>")}


def _parts_of(text: str, length: int) -> list[tuple[str, ...]]:
    """Return the sequences of so many words within sentences."""
    sentences = (re.findall("[a-z]+|[0-9]+", one) for one in re.split(r"[.:;?!](?:\s|$)", text.lower()))
    return [
        tuple(words[start : start + length])
        for words in sentences
        for start in range(len(words) - length + 1)
    ]


@cache
def _holders() -> Counter[tuple[str, ...]]:
    """Return how many reports of the corpus hold each sequence of four words."""
    return Counter(part for one in corpus(LARGE) for part in set(_parts_of(one.text, 4)))


def _says_much(part: tuple[str, ...]) -> bool:
    long = sum(len(word) > 2 and word.isalpha() for word in part) >= 3
    return long and part[-1] not in leak_sequences.FUNCTION_WORDS and _holders()[part] <= leak_sequences.RARE


def _phrase(text: AnnotatedText, length: int) -> Files:
    """Return a phrase of which four words are rare and say something, in one of several places."""
    every = _parts_of(text.text, length)
    telling = [one for one in every if any(_says_much(one[at : at + 4]) for at in range(length - 3))]
    if not telling:
        return {}
    phrase = " ".join(Random(crc32(text.text.encode())).choice(telling))
    ways = {
        "results/rales/a/t.json": json.dumps({"table": [{"found": phrase, "score": 0.5}]}),
        "_build/html/page.html": f"<p>The reader found <em>{phrase}</em> twice</p>",
        "build.log": f"[12:00] INFO scored {phrase!r} in 3 s",
        "executed/rales/a.ipynb": json.dumps({"cells": [{"outputs": [{"text": [f"{phrase}\n"]}]}]}),
    }
    name = _one_of(text, *ways)
    return {name: ways[name].encode()}


def phrase_of_four_words(text: AnnotatedText) -> Files:
    return _phrase(text, 4)


def phrase_of_five_words(text: AnnotatedText) -> Files:
    return _phrase(text, 5)


def phrase_of_six_words(text: AnnotatedText) -> Files:
    return _phrase(text, 6)


def phrase_of_seven_words(text: AnnotatedText) -> Files:
    return _phrase(text, 7)


def day_of_a_study(text: AnnotatedText) -> Files:
    return {"results/rales/a/t.csv": f"study,day,score\n1,{_day(text)},0.5\n".encode()}


KINDS: tuple[Callable[[AnnotatedText], Files], ...] = (
    page, entities_shown, words_and_labels_in_a_table, one_word_a_row_in_a_result, escaped_signs,
    percent_encoding, another_ending, log, rows_of_seven_words, notebook, traceback, compressed, pickled,
    columns_of_csv, columns_of_markdown, words_cut_by_markup, words_of_a_drawing, tagged_lines,
    name_of_a_file, name_of_a_folder, one_word_a_folder_in_the_next, one_word_an_output,
    five_words_an_output, word_pieces, word_pieces_with_labels, tuples_as_shown,
    yaml_lists, member_of_an_archive, other_kind_of_file, accents, file_in_an_address, picture,
    picture_of_another_name, picture_in_an_output, picture_in_a_style_sheet, picture_in_markdown,
    picture_in_a_drawing, picture_behind_a_sign, picture_packed, letters_apart_or_joined,
    colours_of_a_terminal, study_number, study_number_in_another_form, number_in_a_name, day_of_a_study,
    day_in_words_or_figures, patient_number, accession_number, phrase_of_four_words, phrase_of_five_words,
    phrase_of_six_words, phrase_of_seven_words,
)  # fmt: skip


def corpus(size: int = CORPUS) -> list[AnnotatedText]:
    """Return generated findings that stand for a restricted corpus."""
    return [report.findings for report in generate(size, seed=0, min_findings=3)]


def clean_build(folder: Path, pages: int | None = None) -> None:
    """What a build without a leak may look like: the book's own prose, all of it or some pages, and a log."""
    for path in sorted(BOOK.glob("*.md"))[:pages]:
        (folder / "book").mkdir(parents=True, exist_ok=True)
        (folder / "book" / path.name).write_bytes(path.read_bytes())
    (folder / "build.log").write_text("running notebooks/rales/a.md\n3 of 3 steps (100 %) done\n")


def _numbers_of_a_build(folder: Path) -> None:
    rng = Random(0)
    rows = [
        {"id": n, "report": f"{n:08}", "bytes": 62_465_680 + n, "score": rng.random()} for n in range(999)
    ]
    (folder / "table.json").write_text(json.dumps({"seed": 20230704, "table": rows}))
    (folder / "facts.csv").write_text(
        "id,value\n" + "".join(f"{n},{rng.gauss(0, 1e6)}\n" for n in range(999))
    )
    (folder / "record.txt").write_text(
        f"{rng.getrandbits(256):064x} 2026-11-22 10:00:00 0.50123456789\n" * 99
    )
    (folder / "model.safetensors").write_bytes(rng.randbytes(1 << 20))
    (folder / "weights.safetensors").write_bytes(
        np.random.default_rng(0).normal(size=1 << 17).astype("<f4").tobytes()
    )


def _words_of_a_build(folder: Path) -> None:
    """Single words of the trade in small files, in names, and under labels."""
    trade = ("left", "lung", "effusion", "no", "right", "small", "opacity", "heart", "is", "the", "size")
    rng = Random(0)
    for number in range(60):
        (folder / f"{number}-{rng.choice(trade)}.txt").write_text(" ".join(rng.choices(trade, k=3)))
    cells = [{"outputs": [{"text": [rng.choice(trade)]}], "source": ["show()"]} for _ in range(60)]
    (folder / "a.ipynb").write_text(json.dumps({"cells": cells, "data": {"image/svg+xml": "<svg></svg>"}}))
    (folder / "a.html").write_text(
        "<img src='data:image/svg+xml;utf8,%3Csvg/%3E'>data:image/png is not shown"
    )
    (folder / ".doctrees").mkdir()
    (folder / ".doctrees" / "a.pickle").write_bytes(pickle.dumps([rng.choice(trade) for _ in range(99)]))
    (folder / "a.csv.gz").write_bytes(gzip.compress("\n".join(trade).encode()))


def _reports_of_a_build(folder: Path) -> None:
    """The reports that a build generates, as pages, tables and results show them."""
    texts = [report.findings.text for report in generate(CORPUS, seed=1)]
    (folder / "reports.json").write_text(json.dumps([{"text": text, "score": 0.5} for text in texts]))
    (folder / "page.html").write_bytes(_page("".join(f"<p>{escape(text)}</p>" for text in texts)))


CLEAN = (clean_build, _numbers_of_a_build, _words_of_a_build)


def _tells(name: str, content: bytes) -> bool:
    """Return whether a planted file has a word of the text, which its name holds where it is empty."""
    return bool(guard.words(PurePath(name).stem if content == b"{}" else content.decode("latin-1")))


def _shown(message: str, text: str, names: list[str]) -> bool:
    """Return whether a message repeats three words of a text together, or a name that holds some of it."""
    held, said = guard.words(text), " ".join(guard.words(message))
    together = any(" ".join(held[start : start + 3]) in said for start in range(len(held) - 2))
    return together or any(name in message for name in names)


def _texts(reports: list[AnnotatedText]) -> dict[str, list[RestrictedText]]:
    """Return the restricted corpus of these reports, with what identifies each of them."""
    named = (
        f"Accession {_number(one)}, id {_accession(one)}, patient {_short_number(one)}, examination of "
        f"{_day(one)}."
        for one in reports
    )
    every = [*(one.text for one in reports), *named]
    return {"mimic3_rrs": [RestrictedText(one, "mimic3_rrs") for one in every]}


def _public() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(BOOK.glob("*.md"))]


def _plant(build: Path, files: Files) -> None:
    for name, content in files.items():
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_bytes(content)


def tries(folder: Path, each: int = 10, pages: int | None = None) -> Iterator[tuple[str, bool]]:
    """Yield (kind, whether it was found and nothing of it stayed) of each planted leak, beside all pages of
    the book's prose or so many, and of clean builds."""
    reports, public = corpus(), _public()
    texts = _texts(reports)
    long = [report for report in reports if len(report.text.split()) >= SHORTEST]
    for kind in KINDS:
        able = [report for report in long if kind(report)]
        for number, report in enumerate(Random(0).sample(able, each)):
            build, planted = folder / f"{kind.__name__}-{number}", kind(report)
            clean_build(build, pages)
            _plant(build, planted)
            try:
                guard.scan_build(build, texts, public)
            except guard.LeakError as error:
                stayed = any(
                    (build / name).exists() and _tells(name, content) for name, content in planted.items()
                )
                names = [PurePath(name).stem for name, content in planted.items() if content == b"{}"]
                shown = _shown(str(error), report.text, names)
                again = guard.scan(build, texts, public)
                yield _name_of(kind), not (stayed or shown or again)
            else:
                yield _name_of(kind), False
    for plant in CLEAN:
        build = folder / plant.__name__
        build.mkdir()
        plant(build)
        yield "no leak", not guard.scan(build, texts, public)
    build = folder / "reports"
    build.mkdir()
    _reports_of_a_build(build)  # which are of the generator that wrote the corpus: only other prose can tell
    prose = [re.sub(r"```.*?```", "", one, flags=re.DOTALL) for one in public]  # examples are reports too
    yield "no leak", not guard.scan(build, {"prose": prose})


def recall(folder: Path, each: int = 600) -> Iterator[tuple[str, bool]]:
    """Yield (kind, whether it was found) of leaks planted side by side, :data:`BATCH` in a build."""
    reports, public = corpus(LARGE), _public()
    texts = _texts(reports)
    long = [report for report in reports if len(report.text.split()) >= SHORTEST]
    for kind in KINDS:
        chosen = Random(0).sample([report for report in long if kind(report)], each)
        for start in range(0, each, BATCH):
            with tempfile.TemporaryDirectory(dir=folder) as build:
                for number, report in enumerate(chosen[start : start + BATCH]):
                    _plant(Path(build) / str(number), kind(report))
                found = {PurePath(leak.file).parts[0] for leak in guard.scan(Path(build), texts, public)}
            for number in range(len(chosen[start : start + BATCH])):
                yield _name_of(kind), str(number) in found


def _name_of(kind: Callable[[AnnotatedText], Files]) -> str:
    return kind.__name__.replace("_", " ")


def measured(folder: Path) -> Iterator[str]:
    """Yield the kind of every leak that was missed; the recall of each goes to :data:`release.RECALL`."""
    yield from (kind for kind, held in tries(folder) if not held)
    planted, caught = Counter[str](), Counter[str]()
    for kind, held in recall(folder):
        planted[kind] += 1
        caught[kind] += held
        if not held:
            yield kind
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    rows = [(kind, planted[kind], caught[kind], commit or "unknown") for kind in planted]
    table = pd.DataFrame(rows, columns=["kind", "planted", "found", "commit"])
    atomic.write_text(release.RECALL, table.to_csv(index=False, lineterminator="\n"))
