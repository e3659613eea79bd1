"""Printed numbers: parsing, and the two guards on the transcription."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from radeval_lib.errors import PrintedError
from radeval_lib.papers.exhibits import description
from radeval_lib.papers.printed_numbers import NOT_LEGIBLE, NOT_PRINTED, table_path
from radeval_lib.paths import PAPERS
from radeval_lib.study import PAPERS as PAPER_NAMES
from radeval_lib.study import ledger, parse, printed, quoted, wide

TABLES = [exhibit for key in PAPER_NAMES for exhibit in description(key)["tables"]]
QUOTES = [
    (exhibit, number, quote)
    for key in PAPER_NAMES
    for exhibit, quotes in description(key)["prose"].items()
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
    described = description(exhibit.partition(".")[0])["tables"][exhibit]["keys"]
    assert keys == list(described)
    assert not frame.duplicated(keys).any()
    assert not frame.empty


def test_every_csv_is_described() -> None:
    described = {table_path(exhibit) for exhibit in TABLES}
    assert set(PAPERS.glob("*/*.csv")) == described


def test_every_exhibit_named_with_printed_numbers_is_in_the_ledger() -> None:
    named = set(TABLES) | {exhibit for exhibit, _, _ in QUOTES}
    assert named <= set(ledger())


@pytest.mark.parametrize(("exhibit", "number", "quote"), QUOTES, ids=[f"{e}-{n}" for e, n, _ in QUOTES])
def test_quoted_values_stand_in_their_quote(exhibit: str, number: int, quote: dict[str, object]) -> None:
    for text in quote.get("values", {}).values():  # type: ignore[attr-defined]
        assert _squeezed(text.rstrip("%")) in _squeezed(str(quote["quote"]))


@pytest.mark.parametrize("exhibit", sorted({exhibit for exhibit, *_ in QUOTES}))
def test_quoted_numbers_of_an_exhibit_have_a_name_each(exhibit: str) -> None:
    values = [quote.get("values", {}) for of, _, quote in QUOTES if of == exhibit]
    assert len(quoted(exhibit)) == sum(map(len, values))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def paper_lines(paper_texts: Path) -> dict[str, list[str]]:
    """The lines of each paper's text, letters and digits alone."""
    texts = {}
    for key in PAPER_NAMES:
        path = paper_texts / description(key)["text"]
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        texts[key] = [letters for line in lines if (letters := _letters(line))]
    return texts


@pytest.mark.parametrize(("exhibit", "number", "quote"), QUOTES, ids=[f"{e}-{n}" for e, n, _ in QUOTES])
def test_quotes_stand_in_the_paper(
    exhibit: str, number: int, quote: dict[str, object], paper_lines: dict[str, list[str]]
) -> None:
    assert _stands_in_columns(_letters(str(quote["quote"])), paper_lines[exhibit.partition(".")[0]])


def test_what_a_paper_does_not_say_is_no_quote_of_it() -> None:
    lines = [
        _letters(line) for line in ("we train on 12 re- A second column", "with 0.5 of it ports from a file")
    ]
    for quote in ("we train on 12 reports from a file", "A second column with 0.5 of it"):
        assert _stands_in_columns(_letters(quote), lines)
    for quote in ("we train on 13 reports from a file", "with 0.6 of it", "file we"):
        assert not _stands_in_columns(_letters(quote), lines)


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


@pytest.fixture(scope="session")
def spaced_texts(paper_texts: Path) -> dict[str, str]:
    """Each paper's text with every run of white space as one space."""
    texts = {}
    for key in PAPER_NAMES:
        content = (paper_texts / description(key)["text"]).read_text(encoding="utf-8", errors="replace")
        texts[key] = re.sub(r"\s+", " ", content)
    return texts


def _pair_in(first: str, second: str, text: str, between: str) -> bool:
    """Return whether two cells stand one after the other, with no more than ``between`` (a pattern) in
    between."""
    pattern = rf"(?<![\d.]){re.escape(first)}(?!\d|\.\d){between}(?<!\d){re.escape(second)}(?!\d)"
    return re.search(pattern, text) is not None


@pytest.mark.parametrize("exhibit", TABLES)
def test_cells_stand_in_the_paper_beside_their_neighbours(exhibit: str, spaced_texts: dict[str, str]) -> None:
    """The second guard on the transcription; the first is the papers' own arithmetic, in the audit.

    Every number must stand in the paper's text next to the number before or after it in our table. Cells that
    the extraction garbled are listed in paper.yml, under ``garbled``, with the reason in ``notes``.
    """
    key = exhibit.partition(".")[0]
    described = description(key)["tables"][exhibit]
    if described.get("source"):
        pytest.skip(f"transcribed from {described['source']}, not from the paper")
    text = spaced_texts[key]
    cells = [c for c in printed(exhibit)["printed"] if c not in (NOT_LEGIBLE, NOT_PRINTED)]
    cells = [c.removesuffix("%") for c in cells]
    # Words and signs, but no other number; labels such as "Expert 1" or "95% CI" need leave.
    between = r".{0,70}?" if described.get("digits_between") else r"[^\d]{0,160}?"
    beside = [_pair_in(first, second, text, between) for first, second in pairwise(cells)]
    lonely = [
        c
        for number, c in enumerate(cells)
        if not any(beside[max(number - 1, 0) : number + 1]) and c not in described.get("garbled", [])
    ]
    assert not lonely
