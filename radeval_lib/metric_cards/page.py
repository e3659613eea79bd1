"""A card as a page: one file that loads nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from radeval_lib.metric_cards import words
from radeval_lib.metrics import report
from radeval_lib.text_format import with_interval

STYLE = Path(__file__).parents[1] / "metrics" / "report.css"
_LEFT, _WIDTH, _ROW = 150, 300, 24  # of the figure: where its scale begins, how wide it is, a row's height


class Row(NamedTuple):
    """A metric's row of the figure: its name and difference in words; then in pixels its middle (``y``), the
    ``zone`` of differences that are not detected, and the interval (``ends``) and the difference (``value``).
    """

    label: str
    text: str
    y: int
    zone: tuple[float, float]
    ends: tuple[float, float]
    value: float


class Forest(NamedTuple):
    """The differences in τ_b to every stored metric: rows, the largest first; ticks with their places, the
    height and the place of 0 in pixels."""

    rows: list[Row]
    ticks: list[tuple[str, float]]
    height: int
    zero: float


def forest(card: dict[str, Any]) -> Forest | None:
    """The figure of a card; None where nothing was compared."""
    compared = words.compared(card)
    if not compared:
        return None
    names = ("difference_low", "difference_high", "detectable")
    most = max(abs(row[key]) for row in compared for key in names) * 1.05

    def place(value: float) -> float:
        return round(_LEFT + _WIDTH * (value + most) / (2 * most), 1)

    rows = [
        Row(
            row["metric"],
            with_interval(row["difference"], row["difference_low"], row["difference_high"], "+.2f"),
            _ROW * at + _ROW // 2,
            (place(-row["detectable"]), place(row["detectable"])),
            (place(row["difference_low"]), place(row["difference_high"])),
            place(row["difference"]),
        )
        for at, row in enumerate(sorted(compared, key=lambda row: -row["difference"]))
    ]
    step = 0.1 if most < 0.45 else 0.2
    marks = [step * number for number in range(-int(most / step), int(most / step) + 1)]
    return Forest(rows, [(f"{mark:+.1f}", place(mark)) for mark in marks], _ROW * len(rows), place(0.0))


def table(card: dict[str, Any]) -> list[dict[str, Any]]:
    """Every metric with its agreement, in no order of merit: the card's first, then by name."""
    if not card["radpref"]:
        return []
    keys = ("by_grade", "by_difference", "choices", "by_radiologist", "length")
    by_measure = {key: {row["metric"]: row for row in card["radpref"][key]} for key in keys}
    if card["mts_dialog"]:
        by_measure["facts"] = {row["metric"]: row for row in card["mts_dialog"]["rates"]["f1"]}
    names = dict.fromkeys(name for rows in by_measure.values() for name in rows)
    order = sorted(names, key=lambda name: (name != card["metric"]["name"], name.lower()))
    return [{"metric": name, **{key: rows.get(name) for key, rows in by_measure.items()}} for name in order]


def page(card: dict[str, Any]) -> str:
    """The page, which loads nothing."""
    style = STYLE.read_text(encoding="utf-8")
    return str(
        _environment()
        .get_template("card.html.j2")
        .render(
            card=card,
            name=card["metric"]["name"],
            style=style,
            policy=f"default-src 'none'; style-src {report.content_hash(style)}; "
            "base-uri 'none'; form-action 'none'",
            power=words.power_sentence(card),
            leads=words.leads_sentence(card),
            band=words.band_sentence(card) if card["radpref"] else "",
            seen=words.edits_sentence(card),
            failed=words.failures_sentence(card),
            tuned=words.TUNED[card["metric"]["tuned_on_radpref"]],
            forest=forest(card),
            table=table(card),
            own=lambda rows: words.own(card, rows),
            paragraph=words.paragraph(card),
            left=_LEFT,
            width=_WIDTH,
        )
    )


def _environment() -> Any:
    """Jinja with filters that write numbers and intervals."""
    environment = report.environment(Path(__file__).parent)
    environment.filters["interval"] = lambda row, form=".2f": (
        "–" if not row or row.get("value") is None
        else with_interval(row["value"], row["low"], row["high"], form)
        if row.get("low") is not None else format(row["value"], form)
    )  # fmt: skip
    environment.filters["number"] = lambda value, form=".2f": "–" if value is None else format(value, form)
    return environment
