"""Printed numbers: parsing, and the two guards on the transcription."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from radeval_lib.errors import PrintedError
from radeval_lib.papers.exhibits import load_paper
from radeval_lib.papers.printed_numbers import NOT_LEGIBLE, NOT_PRINTED, find_table
from radeval_lib.paths import PAPERS
from radeval_lib.study import PAPERS as PAPER_NAMES
from radeval_lib.study import ledger, parse, printed, quoted, wide

TABLES = [exhibit for key in PAPER_NAMES for exhibit in load_paper(key)["tables"]]
QUOTES = [
    (exhibit, number, quote)
    for key in PAPER_NAMES
    for exhibit, quotes in load_paper(key)["prose"].items()
    for number, quote in enumerate(quotes)
]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    ("text", "value", "half_width", "decimals"),
    [
        (".238", 0.238, 0.0005, 3),
        ("58,091", 58091.0, 0.0, 0),  # a count is exact
        ("1.0", 1.0, 0.05, 1),  # printed to one digit
        ("-0.89", -0.89, 0.005, 2),
        ("36%", 36.0, 0.5, 0),  # a percentage without decimals was rounded
        ("83.5%", 83.5, 0.05, 1),
        ("0", 0.0, 0.0, 0),
    ],
)
def test_parse_knows_value_and_rounding(text: str, value: float, half_width: float, decimals: int) -> None:
    number = parse(text)
    assert number.value == pytest.approx(value)
    assert number.half_width == pytest.approx(half_width)
    assert number.decimals == decimals


@pytest.mark.parametrize("text", [NOT_LEGIBLE, NOT_PRINTED])
def test_missing_cells_are_nan(text: str) -> None:
    assert math.isnan(parse(text).value)


@pytest.mark.parametrize("text", ["", "abc", "1.2.3", "12,34", "0.5 ± 0.1", "."])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(PrintedError):
        parse(text)


def test_wide_keeps_the_papers_order() -> None:
    frame = printed("rales.table3")
    table = wide(frame, "model", "task")
    assert list(table.index) == list(dict.fromkeys(frame["model"]))
    assert list(table.columns) == list(dict.fromkeys(frame["task"]))


@pytest.mark.parametrize("exhibit", TABLES)
def test_tables_are_tidy(exhibit: str) -> None:
    frame = printed(exhibit)
    keys = [column for column in frame.columns if column not in ("printed", "value", "half_width")]
    described = load_paper(exhibit.partition(".")[0])["tables"][exhibit]["keys"]
    assert keys == list(described)
    assert not frame.duplicated(keys).any()
    assert not frame.empty


def test_every_csv_is_described() -> None:
    described = {find_table(exhibit) for exhibit in TABLES}
    assert set(PAPERS.glob("*/*.csv")) == described


def test_every_exhibit_named_with_printed_numbers_is_in_the_ledger() -> None:
    named = set(TABLES) | {exhibit for exhibit, _, _ in QUOTES}
    assert named <= set(ledger())


def test_quoted_values_stand_in_their_quote_and_have_a_name_each() -> None:
    for exhibit, _, quote in QUOTES:
        for text in quote.get("values", {}).values():
            assert _squeezed(text.rstrip("%")) in _squeezed(quote["quote"]), exhibit
    for exhibit in {exhibit for exhibit, *_ in QUOTES}:
        values = [quote.get("values", {}) for of, _, quote in QUOTES if of == exhibit]
        assert len(quoted(exhibit)) == sum(map(len, values)), exhibit


@pytest.fixture(scope="session")
def text_of(paper_texts: Path) -> dict[str, str]:
    """Each paper's text."""
    return {
        key: (paper_texts / load_paper(key)["text"]).read_text(encoding="utf-8", errors="replace")
        for key in PAPER_NAMES
    }


@pytest.mark.parametrize("exhibit", sorted({exhibit for exhibit, *_ in QUOTES}))
def test_quotes_stand_in_the_paper(exhibit: str, text_of: dict[str, str]) -> None:
    text = text_of[exhibit.partition(".")[0]]
    lines = [letters for line in text.splitlines() if (letters := _letters(line))]
    quotes = [str(quote["quote"]) for of, _, quote in QUOTES if of == exhibit]
    assert not [quote for quote in quotes if not _stands_in_columns(_letters(quote), lines)]


def _letters(text: str) -> str:
    """Return letters and digits alone, with points and signs of numbers: extraction loses and breaks the
    rest."""
    return "".join(re.findall(r"[+-]?\d+\.\d+|(?<![A-Za-z])[+-]?\.\d+|[A-Za-z0-9]", text.replace("−", "-")))


def _stands_in_columns(quote: str, lines: list[str], apart: int = 5) -> bool:
    """Return whether a quote runs through lines of a text whose columns may stand beside one another.

    From the line where it begins each next piece, as long as it can be, stands further down, at most
    ``apart`` lines away: where the other column's lines, or a heading, stand between. Words left out just
    there go unnoticed.
    """

    @cache
    def follows(at: int, start: int) -> bool:
        for row in range(start, min(start + apart, len(lines))):
            sizes = range(min(len(quote) - at, len(lines[row])), 0, -1)
            longest = next((size for size in sizes if quote[at : at + size] in lines[row]), 0)
            if longest and (at + longest == len(quote) or follows(at + longest, row + 1)):
                return True
        return False

    return any(follows(0, row) for row in range(len(lines)) if quote[:2] in lines[row])


def _pair_in(first: str, second: str, text: str, between: str) -> bool:
    """Return whether two cells stand one after the other, with no more than ``between`` (a pattern) in
    between."""
    pattern = rf"(?<![\d.]){re.escape(first)}(?!\d|\.\d){between}(?<!\d){re.escape(second)}(?!\d)"
    return re.search(pattern, text) is not None


@pytest.mark.parametrize("exhibit", TABLES)
def test_cells_stand_in_the_paper_beside_their_neighbours(exhibit: str, text_of: dict[str, str]) -> None:
    """The second guard on the transcription; the first is the papers' own arithmetic, in the audit.

    Every number must stand in the paper's text next to the number before or after it in our table. Cells that
    the extraction garbled are listed in paper.yml, under ``garbled``, with the reason in ``notes``.
    """
    key = exhibit.partition(".")[0]
    described = load_paper(key)["tables"][exhibit]
    if described.get("source"):
        pytest.skip(f"transcribed from {described['source']}, not from the paper")
    text = re.sub(r"\s+", " ", text_of[key])
    legible = printed(exhibit).query("printed not in [@NOT_LEGIBLE, @NOT_PRINTED]")["printed"]
    cells = [text.removesuffix("%") for text in legible]
    # Words and signs, but no other number; labels such as "Expert 1" or "95% CI" need leave.
    between = r".{0,70}?" if described.get("digits_between") else r"[^\d]{0,160}?"
    beside = [_pair_in(first, second, text, between) for first, second in pairwise(cells)]
    lonely = [
        c
        for number, c in enumerate(cells)
        if not any(beside[max(number - 1, 0) : number + 1]) and c not in described.get("garbled", [])
    ]
    assert not lonely
