"""Restricted text planted in a build in every way in which it may get there, for the guard to find it."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from itertools import islice
from pathlib import Path, PurePath
from random import Random
from zlib import crc32

import pandas as pd

from radeval_lib import atomic, tables
from radeval_lib.data import guard, leak_sequences
from radeval_lib.data.restricted import RestrictedText
from radeval_lib.paths import BOOK, ROOT
from radeval_lib.pipeline import release
from radeval_lib.rules.generator.generator import generate
from radeval_lib.rules.generator.records import AnnotatedText

LARGE = 2500  # reports in the restricted corpus
BATCH = 100  # leaks of each kind in a build
SHORTEST = 20  # words of a report that is planted
Files = dict[str, bytes]


def _page(body: str) -> Files:
    return {"_build/html/page.html": f"<html><body><main>{body}</main></body></html>".encode()}


def _labels(text: AnnotatedText) -> list[tuple[str, str]]:
    """Return each word of a report with the label of the entity that it is in."""
    words, start = [], 0
    for word in text.text.split():
        start = text.text.index(word, start)
        label = next((entity.label for entity in text.entities if entity.start <= start < entity.end), "O")
        words.append((word, label))
        start += len(word)
    return words


def _one_of(text: AnnotatedText, *ways: str) -> str:
    """Return one of several ways for each report, the same one always."""
    return ways[crc32(text.text.encode()) % len(ways)]


def _either(text: AnnotatedText, ways: dict[str, str]) -> Files:
    """Return one of several files for each report, the same one always."""
    name = _one_of(text, *ways)
    return {name: ways[name].encode()}


def _notebook(*outputs: dict[str, object]) -> Files:
    cells = [
        {"cell_type": "code", "source": [f"show({number})"], "outputs": [output], "metadata": {}}
        for number, output in enumerate(outputs)
    ]
    return {"executed/rales/a.ipynb": json.dumps({"cells": cells, "metadata": {}}).encode()}


def page(text: AnnotatedText) -> Files:
    return _page(f"<p>{escape(text.text)}</p>")


def entities_shown(text: AnnotatedText) -> Files:
    words = (
        escape(word) if label == "O" else f"<mark>{escape(word)}<small> {label}</small></mark>"
        for word, label in _labels(text)
    )
    return _page(f"<p>{' '.join(words)}</p>")


def words_and_labels_in_a_table(text: AnnotatedText) -> Files:
    return _page(tables.table_html(pd.DataFrame(_labels(text), columns=["word", "label"]), "Words"))


def one_word_a_row_in_a_result(text: AnnotatedText) -> Files:
    rows = [{"word": word, "label": label, "score": 0.5} for word, label in _labels(text)]
    return {"results/rales/a/rales.table1.json": json.dumps({"table": rows}).encode()}


def another_ending(text: AnnotatedText) -> Files:
    return {"jobs/a/notes.backup": text.text.encode()}


def rows_of_seven_words(text: AnnotatedText) -> Files:
    rows = enumerate(_parts(text, 7))
    return _page("".join(f"<p>Row {number} of the example: <em>{row}</em></p>" for number, row in rows))


def notebook(text: AnnotatedText) -> Files:
    return _notebook({"output_type": "stream", "name": "stdout", "text": [f"{text.text}\n"]})


def traceback(text: AnnotatedText) -> Files:
    red = f"\x1b[31mValueError\x1b[0m: could not convert string to float: {text.text!r}"
    return _notebook({"output_type": "error", "traceback": [red]})


def compressed(text: AnnotatedText) -> Files:
    return {"jobs/a/table.csv.gz": gzip.compress(f"text\n{text.text}\n".encode())}


def columns_of_csv(text: AnnotatedText) -> Files:
    table = pd.DataFrame(_labels(text), columns=["word", "label"])
    return {"results/rales/a/words.csv": table.to_csv(index_label="number").encode()}


def columns_of_markdown(text: AnnotatedText) -> Files:
    rows = "\n".join(f"| {word} | {label} |" for word, label in _labels(text))
    return {"book/page.md": f"| word | label |\n|---|---|\n{rows}\n".encode()}


def words_cut_by_markup(text: AnnotatedText) -> Files:
    words = (f"{escape(word[:2])}<wbr><b>{escape(word[2:])}</b>" for word in text.text.split())
    return _page(" ".join(words))


def words_of_a_drawing(text: AnnotatedText) -> Files:
    words = (f'<text x="{9 * i}" y="5">{escape(w)}</text>' for i, w in enumerate(text.text.split()))
    return {"_build/html/_images/figure.svg": f"<svg>{''.join(words)}</svg>".encode()}


def tagged_lines(text: AnnotatedText) -> Files:
    lines = "\n".join(map("\t".join, _labels(text)))
    return {"jobs/a/sentences.conll": lines.encode()}


def _name(text: AnnotatedText) -> str:
    """Return the text as a system takes it for a name."""
    joint = _one_of(text, " ", "_", "-")
    return joint.join(word.strip(".,/") for word in text.text.split())[:200]


def name_of_a_file(text: AnnotatedText) -> Files:
    return {f"jobs/a/{_name(text)}.json": b"{}"}


def _parts(text: AnnotatedText, length: int) -> list[str]:
    words = text.text.split()
    return [" ".join(words[start : start + length]) for start in range(0, len(words), length)]


def one_word_an_output(text: AnnotatedText) -> Files:
    words = _parts(text, 1)
    return _notebook(*({"output_type": "stream", "name": "stdout", "text": [f"{word}\n"]} for word in words))


def five_words_an_output(text: AnnotatedText) -> Files:
    shown = ({"text/plain": ["<HTML object>"], "text/html": f"<i>{part}</i>"} for part in _parts(text, 5))
    return _notebook(*({"output_type": "display_data", "data": data} for data in shown))


def _pieces(text: AnnotatedText) -> list[tuple[str, str]]:
    """Return pieces of words as tokenizers cut them, each with the label of its word."""
    before, joint, after = _one_of(text, "|##|", "||@@", "▁||", "Ġ||").split("|")
    pieces = []
    for word, label in _labels(text):
        cut = max(1, len(word) // 2)
        first, rest = word[:cut], word[cut:]
        pieces += [
            (f"{before}{first}{after if rest else ''}", label),
            *([(joint + rest, label)] if rest else []),
        ]
    return pieces


def word_pieces(text: AnnotatedText) -> Files:
    return {"jobs/a/tokens.json": json.dumps({"tokens": [piece for piece, _ in _pieces(text)]}).encode()}


def word_pieces_with_labels(text: AnnotatedText) -> Files:
    rows = [{"token": piece, "label": label, "is": "left"} for piece, label in _pieces(text)]
    return {"jobs/a/tokens.json": json.dumps(rows).encode()}


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
    return _notebook({"output_type": "stream", "name": "stdout", "text": shown[_one_of(text, *shown)]})


def yaml_lists(text: AnnotatedText) -> Files:
    rows = _hard_labels(text)
    ways = {
        "jobs/a/words.yml": "left:\n" + "".join(f"  - {word}\n" for word, _ in rows),
        "jobs/a/flow.yml": "".join(f"- {{is: {word!r}, left: {label!r}}}\n" for word, label in rows),
        "jobs/a/keys.yml": "".join(f"- left: {label}\n  is: {word}\n" for word, label in rows),
        "jobs/a/pairs.yml": "".join(f"- [{word!r}, {label!r}]\n" for word, label in rows),
    }
    return _either(text, ways)


def member_of_an_archive(text: AnnotatedText) -> Files:
    stream = io.BytesIO()
    if _one_of(text, "zip", "tar") == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("report.txt", text.text)
    else:
        with tarfile.open(fileobj=stream, mode="w") as bundle:
            member = tarfile.TarInfo("report.txt")
            member.size = len(text.text.encode())
            bundle.addfile(member, io.BytesIO(text.text.encode()))
    return {"jobs/a/reports": stream.getvalue()}


def log(text: AnnotatedText) -> Files:
    lines = [f"[12:00:0{number}] INFO {line}" for number, line in enumerate(text.text.split(". "))]
    coloured = " ".join(f"\x1b[3{len(word) % 8}m{word}\x1b[0m" for word in text.text.split())
    return {"build.log": _one_of(text, "\n".join(["starting", *lines, "done"]), coloured).encode()}


def script(text: AnnotatedText) -> Files:
    return {"_build/html/data.js": f"var rows = {json.dumps(['left', text.text + chr(10)])};".encode()}


def name_of_a_folder(text: AnnotatedText) -> Files:
    return {f"{_name(text)}/facts.json": b"{}"}


def _number(text: AnnotatedText) -> int:
    """Return the study's number, as the restricted corpus names it."""
    return 50_000_000 + crc32(text.text.encode()) % 9_999_999


def _day(text: AnnotatedText) -> str:
    """Return the day of the study, moved as de-identification moves it."""
    return f"{2110 + _number(text) % 80}-{_number(text) % 12 + 1:02}-{_number(text) % 28 + 1:02}"


def study_number(text: AnnotatedText) -> Files:
    rows = [{"study": _number(text), "score": 0.5}, {"study": f"s{_number(text)}", "score": 0.25}]
    ways = {"results/rales/a/t.json": json.dumps({"table": rows}), "build.log": f"read s{_number(text)}.txt"}
    return _either(text, ways)


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
        "jobs/a/t.csv": f"SUBJECT_ID,score\n{_short_number(text)},0.5\n7,0.25\n",
        "_build/html/page.html": f"<p>Scores</p>{table}",
        "build.log": f"scored patient {_short_number(text)} in 3 s",
    }
    return _either(text, ways)


def accession_number(text: AnnotatedText) -> Files:
    ways = {"build.log": "read {}.dcm", "_build/html/page.html": "<td>{}</td>", "jobs/a/t.csv": "a\n{},1\n"}
    return _either(text, {name: way.format(_accession(text)) for name, way in ways.items()})


def _parts_of(text: str, length: int) -> list[tuple[str, ...]]:
    """Return the sequences of so many words within sentences."""
    sentences = [re.findall("[a-z]+|[0-9]+", part) for part in re.split(r"[.:;?!](?:\s|$)", text.lower())]
    return [
        tuple(words[start : start + length])
        for words in sentences
        for start in range(len(words) - length + 1)
    ]


@cache
def _holders() -> Counter[tuple[str, ...]]:
    """Return how many reports of the corpus hold each sequence of four words."""
    return Counter(part for report in corpus(LARGE) for part in set(_parts_of(report.text, 4)))


def _says_much(part: tuple[str, ...]) -> bool:
    long = sum(len(word) > 2 and word.isalpha() for word in part) >= 3
    is_rare = _holders()[part] <= leak_sequences.MAX_TEXTS
    return long and is_rare and part[-1] not in leak_sequences.FUNCTION_WORDS


def day_of_a_study(text: AnnotatedText) -> Files:
    return {"results/rales/a/t.csv": f"study,day,score\n1,{_day(text)},0.5\n".encode()}


def study_number_in_another_form(text: AnnotatedText) -> Files:
    number = _number(text)
    ways = (f"{number:,}", f"{number}.0", f"study{number}", f"p{number - 40_000_000}s{number}.jpg")
    return {"jobs/a/t.csv": f'study,score\n"{_one_of(text, *ways)}",0.5\n'.encode()}


def number_in_a_name(text: AnnotatedText) -> Files:
    return {f"jobs/a/p10/s{_number(text)}.json": b"{}"}


def phrase(text: AnnotatedText) -> Files:
    """Return a phrase of four to seven words, of which four are rare and say something."""
    length = int(_one_of(text, *"4567"))
    telling = [
        part
        for part in _parts_of(text.text, length)
        if any(_says_much(part[start : start + 4]) for start in range(length - 3))
    ]
    if not telling:
        return {}
    chosen = " ".join(Random(crc32(text.text.encode())).choice(telling))
    ways = {
        "results/rales/a/t.json": json.dumps({"table": [{"found": chosen, "score": 0.5}]}),
        "_build/html/page.html": f"<p>The reader found <em>{chosen}</em> twice</p>",
        "build.log": f"[12:00] INFO scored {chosen!r} in 3 s",
        "executed/rales/a.ipynb": json.dumps({"cells": [{"outputs": [{"text": [f"{chosen}\n"]}]}]}),
    }
    return _either(text, ways)


KINDS: tuple[Callable[[AnnotatedText], Files], ...] = (
    page, entities_shown, words_and_labels_in_a_table, one_word_a_row_in_a_result, another_ending, log,
    script, rows_of_seven_words, notebook, traceback, compressed, columns_of_csv,
    columns_of_markdown, words_cut_by_markup, words_of_a_drawing, tagged_lines, name_of_a_file,
    name_of_a_folder, one_word_an_output, five_words_an_output, word_pieces, word_pieces_with_labels,
    tuples_as_shown, yaml_lists, member_of_an_archive, study_number, study_number_in_another_form,
    number_in_a_name, day_of_a_study, patient_number, accession_number, phrase,
)  # fmt: skip


def corpus(size: int) -> list[AnnotatedText]:
    """Return generated findings that stand for a restricted corpus."""
    return [report.findings for report in generate(size, seed=0, min_findings=3)]


def texts(reports: list[AnnotatedText]) -> dict[str, list[RestrictedText]]:
    """Return the restricted corpus of these reports, with what identifies each of them."""
    named = (
        f"Accession {_number(text)}, id {_accession(text)}, patient {_short_number(text)}, examination of "
        f"{_day(text)}."
        for text in reports
    )
    every = [*(text.text for text in reports), *named]
    return {"mimic3_rrs": [RestrictedText(text, "mimic3_rrs") for text in every]}


def recall(folder: Path, each: int = 600, reports: int = LARGE) -> Iterator[tuple[str, bool]]:
    """Yield (kind, whether it was found) of leaks planted side by side, :data:`BATCH` of each kind in a
    build."""
    restricted = corpus(reports)
    corpora, public = texts(restricted), [path.read_text(encoding="utf-8") for path in BOOK.glob("*.md")]
    long = [text for text in restricted if len(text.text.split()) >= SHORTEST]
    plants = {
        kind.__name__: list(islice(filter(None, map(kind, Random(0).sample(long, len(long)))), each))
        for kind in KINDS
    }
    for start in range(0, each, BATCH):
        numbers = range(start, min(start + BATCH, each))
        with tempfile.TemporaryDirectory(dir=folder) as build:
            for kind, planted in plants.items():
                for number in numbers:
                    for name, content in planted[number].items():
                        path = Path(build) / f"{kind}-{number}" / name
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(content)
            caught = {PurePath(leak.file).parts[0] for leak in guard.scan(Path(build), corpora, public)}
        for kind in plants:
            yield from ((kind.replace("_", " "), f"{kind}-{number}" in caught) for number in numbers)


def measured(folder: Path, each: int = 600) -> Iterator[str]:
    """Yield the kind of every leak that was missed; the recall of each goes to :data:`release.RECALL`."""
    planted, caught = Counter[str](), Counter[str]()
    for kind, held in recall(folder, each):
        planted[kind] += 1
        caught[kind] += held
        if not held:
            yield kind
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    rows = [(kind, planted[kind], caught[kind], commit or "unknown") for kind in planted]
    table = pd.DataFrame(rows, columns=["kind", "planted", "found", "commit"])
    atomic.write_text(release.RECALL, table.to_csv(index=False, lineterminator="\n"))
