"""What the repository keeps of public test sets: numbers and categories alone, and the same records."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from notebooks import storing
from notebooks.across import bleu_variants
from notebooks.green import labelled_sentences
from radeval_lib import placeholders
from radeval_lib.data import iu_systems, openi, radpref, readers, recorded
from radeval_lib.data.errors import DataError
from radeval_lib.data.report_edits import EDITS, STEPS, WORDINGS
from radeval_lib.jobs import learned_weights, system_sets
from radeval_lib.metrics import create
from radeval_lib.paths import RECORDED
from radeval_lib.placeholders import PlaceholderError, make_placeholder, parse_placeholder
from radeval_lib.registry import METRICS
from radeval_lib.rules.reader import read

CATEGORIES: dict[str, set[str]] = {
    "edit": {"same", "another report", *map(str, STEPS), *EDITS, *WORDINGS},
    "system": {*iu_systems.FILES, *system_sets.LANDMARKS, system_sets.OWN_REFERENCE},
    "stratum": {"all", "normal", "finding", "other", "uncoded"},
    "half": set(storing.HALVES),
    "code": {storing.ALL_CODES, *openi.LABELS},
    "variant": set(bleu_variants.list_variants()),
    "source": {source for source, _ in bleu_variants.list_variants().values()},
    "draw": set(labelled_sentences.read_labels()["draw"]),
    "measure": {"presence", "location"},
}
"""The words that a column of categories may hold; every other column holds numbers."""
TABLES = sorted(path.name for path in RECORDED.glob("*.csv") if path.name != "probe.csv")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-\d+)?")
_WIDE = {"number", "case", "set", "rater", "system"}


@pytest.mark.parametrize("table", TABLES)
def test_every_cell_is_a_number_or_a_declared_category(table: str) -> None:
    cells = pd.read_csv(RECORDED / table, dtype=str, keep_default_na=False)
    for column in cells:
        allowed = CATEGORIES.get(column)
        for value in cells[column]:
            assert (allowed and value in allowed) or value == "" or _NUMBER.fullmatch(value), (column, value)
            assert allowed or len(value) <= 20


# The module notebooks.storing describes the columns of sets of systems.
@pytest.mark.parametrize("name", [name for name in recorded.names() if name != "iu_systems"])
def test_every_column_is_described(name: str) -> None:
    readme = (RECORDED / "README.md").read_text(encoding="utf-8")
    stored = recorded.load(name)
    for table in (stored.table, *stored.parts.values()):
        for column in set(table) - set(METRICS) - set(learned_weights.RECORDED):
            stem = re.sub(r"_\d$", "_1", column)
            if stem.removesuffix("_1") in METRICS:
                stem = "<metric>_1"
            mark = tuple(column.split("_", 1)) in radpref.MARKS
            assert mark or f"`{stem}`" in readme, column


def test_every_table_is_declared_and_the_folder_is_small() -> None:
    declared = [path.name for name in recorded.names() for path in recorded.list_tables(name)]
    assert sorted(declared) == TABLES
    assert sum(path.stat().st_size for path in RECORDED.iterdir()) < 3e6


def test_a_changed_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in RECORDED.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "radpref_ratings.csv").write_text("number,rater\n", encoding="utf-8")
    monkeypatch.setattr(recorded, "RECORDED", tmp_path)
    recorded.load.cache_clear()
    try:
        assert len(recorded.load("mts_dialog").table) == 400
        with pytest.raises(DataError, match=r"SHA-256 differs from that in radpref\.yml"):
            recorded.load("radpref")
        (tmp_path / "radpref_ratings.csv").unlink()
        with pytest.raises(DataError, match="the table is missing"):
            recorded.load("radpref")
        with pytest.raises(DataError):
            recorded.load("hearsay")
    finally:
        recorded.load.cache_clear()


def test_the_radiologists_ratings_are_those_of_the_files(data_root: Path) -> None:
    folder = data_root / "radpref"
    candidates = radpref.read_candidates(folder / radpref.CASES_FILE)
    files = [folder / "radiologist_annotations" / file for file in radpref.RATING_FILES]
    stored = recorded.load("radpref")
    marks = radpref.read_marks(files, candidates).drop(columns="user")
    pd.testing.assert_frame_equal(stored.parts["ratings"], marks)
    kept = candidates.drop(columns=["reference", "text", "name", "source"])
    pd.testing.assert_frame_equal(stored.table[list(kept)], kept)


@pytest.mark.parametrize("name", ["radpref", "mts_dialog"])
def test_recorded_records_are_the_loaders_own_but_for_texts(name: str, data_root: Path) -> None:
    ours, theirs = recorded.load_records(name), readers.load(name, data_root)
    assert len(ours) == len(theirs) == {"radpref": 1800, "mts_dialog": 400}[name]
    raters = list(dict.fromkeys(getattr(record, "rater", "") for record in theirs))
    for mine, its in zip(ours, theirs, strict=True):
        for side in ("reference", "candidate"):
            text = getattr(its, side)
            assert len(getattr(mine, side).split()) == len(text.split())
        if name == "radpref":
            assert (mine.rating, mine.scale) == (its.rating, its.scale)
            assert mine.rater == str(raters.index(its.rater) + 1)
        else:
            rates = ("precision", "recall", "f1", "hallucination", "omission", "group")
            assert all(getattr(mine, rate) == getattr(its, rate) for rate in rates)
            assert len(mine.source.split()) == len(its.source.split())
    if name == "radpref":  # the same texts are the same placeholders, others are not
        both = {(mine.reference, its.reference) for mine, its in zip(ours, theirs, strict=True)}
        assert len(both) == len({mine for mine, _ in both}) == len({its for _, its in both}) == 98


def test_a_placeholder_has_the_words_of_its_text_and_says_which_it_is() -> None:
    assert make_placeholder("radpref", "reference", 12, 3) == "⟦radpref:reference:12⟧ ⟦_⟧ ⟦_⟧"
    for words in (1, 2, 57):
        text = make_placeholder("radpref", "candidate", 12, words)
        assert len(text.split()) == len(re.findall(r"\w+", text.replace(":", ""))) == words
        assert parse_placeholder(text) == ("radpref", "candidate", 12)
    assert parse_placeholder("No effusion.") is None


def test_whatever_reads_texts_refuses_placeholders() -> None:
    text = make_placeholder("radpref", "candidate", 12, 9)
    with pytest.raises(PlaceholderError):
        create("rouge_l").score(["No effusion."], [text])
    with pytest.raises(PlaceholderError):
        read(text)
    placeholders.refuse_placeholders(["No effusion.", 3, None], "anything")


def test_columns_are_found_by_placeholder_alone() -> None:
    table = recorded.load("mts_dialog").table
    texts = recorded.tabulate_placeholders("mts_dialog")
    np.testing.assert_array_equal(recorded.read_column(texts["candidate"], "bleu"), table["bleu"])
    with pytest.raises(DataError, match="column 'bleu', text 2 "):
        recorded.read_column([texts["candidate"][0], "No effusion."], "bleu")
    with pytest.raises(DataError):
        recorded.read_column([texts["candidate"][0]], "spice")


@pytest.mark.parametrize(
    ("name", "sides"),
    [
        ("mediqa2021", ("findings", "impression")),
        ("openi", ("findings", "impression")),
        ("mtsamples", ("text", "summary")),
    ],
)
def test_recorded_lengths_are_those_of_the_texts(name: str, sides: tuple[str, str], data_root: Path) -> None:
    ours, theirs = recorded.load_records(name), readers.load(name, data_root)
    for mine, its in zip(ours, theirs, strict=True):
        for side in sides:
            assert len(getattr(mine, side).split()) == len(getattr(its, side).split())
