"""A card in words: sentences of its page, and a paragraph for a methods or results section.

Each takes a card as ``data_manifests/schemas/metric_card.schema.json`` describes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radeval_lib.stats.system_comparison import LEVEL
from radeval_lib.text_format import joined, with_interval

TUNED = {
    "yes": "Its author declares that it was fitted to RadPref: its agreement there is no evidence.",
    "no": "Its author declares that nothing of it was fitted to RadPref.",
    "unknown": "Whether it was fitted to RadPref is not declared.",
}


def verdict(card: dict[str, Any]) -> dict[str, list[str]]:
    """The stored metrics by how the card's metric compares: ``better``, ``worse`` or ``open``."""
    sides: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for row in compared(card):
        sure = row["p_holm"] < LEVEL
        sides["open" if not sure else "better" if row["difference"] > 0 else "worse"].append(row["metric"])
    return sides


def compared(card: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of stored metrics that the card's metric was tested against; none where no test was made."""
    rows = (card["radpref"] or {}).get("by_grade", [])
    return [row for row in rows if "p_holm" in row]


def own(card: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The row of the card's metric; empty where it has none."""
    return next((row for row in rows if row["metric"] == card["metric"]["name"]), {})


def power_sentence(card: dict[str, Any]) -> str:
    """What this test can tell."""
    if not card["radpref"]:
        return "Agreement with radiologists was not measured, so this card says nothing about it."
    return " ".join(power_sentences(card))


def power_sentences(card: dict[str, Any]) -> tuple[str, str]:
    """What a test on RadPref can tell, and how that varies."""
    power, band = card["radpref"]["power"], card["radpref"]["null_band"]["grade"]
    alone, corrected = power["alone"], power["corrected"]
    first = (
        f"With RadPref's {power['candidates']} candidates of {power['cases']} cases, a difference of two "
        f"metrics in τ_b is detected four times in five where it is at least {alone['median']:.2f}."
    )
    more = (
        f"This is the median over {power['compared']} pairs of stored metrics ({alone['lowest']:.2f} for "
        f"two nearly alike, {alone['upper_quartile']:.2f} in the upper quarter, {alone['highest']:.2f} at "
        f"most); for the first of {power['family']} comparisons by Holm, it is {corrected['median']:.2f} "
        f"({corrected['highest']:.2f} at most). Scores that have nothing to do with the grades reach a τ_b "
        f"of {band[0]:+.2f} to {band[1]:+.2f} in 95 of 100 permutations."
    )
    return first, more


def leads_sentence(card: dict[str, Any]) -> str:
    """What the primary family of tests comes to."""
    if not compared(card):
        return "No test was made: intervals only."
    sides = verdict(card)
    clauses = [
        f"agrees {word} with the radiologists than {joined(sides[key])}"
        for key, word in (("better", "better"), ("worse", "worse"))
        if sides[key]
    ]
    if sides["open"]:
        clauses.append(f"is not shown to differ from {joined(sides['open'])}")
    return f"It {joined(clauses)} (τ_b with the mean grade, one family, Holm)."


def band_sentence(card: dict[str, Any]) -> str:
    """Whether the agreement is more than nothing."""
    row = own(card, card["radpref"]["by_grade"])
    low, high = card["radpref"]["null_band"]["grade"]
    inside = low <= row["value"] <= high
    value = with_interval(row["value"], row["low"], row["high"], ".2f")
    where = "within" if inside else "outside"
    return f"τ_b with the mean grade is {value}, {where} the null band of {low:+.2f} to {high:+.2f}."


def edit_costs(card: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cost of each edit, as the card has it, by the name of the edit."""
    return {row["edit"]: row for row in card["edits"]["edits"]} if card["edits"] else {}


def cost_in_words(cost: Mapping[str, Any]) -> str:
    """A cost with its interval, both with a decimal where whole percents hide its width; no interval where
    every report costs the same.

    >>> ends = ((0.01, 0.03), (0.018, 0.024), (0.021, 0.021))
    >>> [cost_in_words({"value": 0.021, "low": low, "high": high}) for low, high in ends]
    ['2% [1%, 3%]', '2.1% [1.8%, 2.4%]', '2%']
    """
    ends = [cost["low"], cost["high"]]
    for form in ("z.0%", "z.1%"):
        low, high = (f"{end:{form}}" for end in ends)
        if low != high:
            return f"{cost['value']:{form}} [{low}, {high}]"
    return f"{cost['value']:z.0%}"


def edits_sentence(card: dict[str, Any]) -> str:
    """A lost denial beside the same in other words."""
    edits = edit_costs(card)
    lost, words = edits.get("a “no” lost"), edits.get("in other words")
    if not lost or not words:
        return ""
    if lost["value"] is None or words["value"] is None:
        return "An unrelated report does not surely score below an equal one, so costs have no scale."
    return (
        f"A lost “no” costs {cost_in_words(lost)} of what an unrelated report costs, the same said in other "
        f"words {cost_in_words(words)} ({card['edited']}; {lost['n']} and {words['n']} reports)."
    )


def failures_sentence(card: dict[str, Any]) -> str:
    """How many pairs could not be scored."""
    if not card["behaviour"]:
        return ""
    failed = sum(failure["pairs"] for failure in card["behaviour"]["failures"])
    if not failed:
        return f"All {card['behaviour']['pairs']:,} pairs were scored."
    share = f"{failed:,} of {card['behaviour']['pairs']:,} pairs"
    return f"{share} could not be scored and count as the worst of their part."


def paragraph(card: dict[str, Any]) -> str:
    """One paragraph to paste."""
    name, version = card["metric"]["name"], card["packages"].get("radeval-lib", "")
    looks = len(card["looks"])
    made = f"metric card, seed {card['settings']['seed']}"
    parts = [f"The metric “{name}” was tested by radeval-lib {version} ({made})."]
    if card["radpref"]:
        power = card["radpref"]["power"]
        parts += [
            f"On RadPref ({power['candidates']} candidates of {power['cases']} cases, three radiologists), "
            f"its {band_sentence(card)}",
            leads_sentence(card),
            f"A difference below about {power['alone']['median']:.2f} is missed more than once in five.",
        ]
    if card["mts_dialog"] and (row := own(card, card["mts_dialog"]["rates"]["f1"])):
        value = with_interval(row["value"], row["low"], row["high"], ".2f")
        parts.append(f"Its τ_b with F1 of counted facts in {row['n']} summaries of MTS-Dialog is {value}.")
    parts += [edits_sentence(card), failures_sentence(card), TUNED[card["metric"]["tuned_on_radpref"]]]
    if looks:
        parts.append(
            f"RadPref’s grades were looked at {'once' if looks == 1 else f'{looks} times'} for this card."
        )
    return " ".join(part for part in parts if part)
