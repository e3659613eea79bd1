"""Counted errors against the lengths of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data.ratings import rating_table
from radeval_lib.papers.printed_numbers import Printed, quoted, texts
from radeval_lib.stats.correlations import LEAST_GROUPS, resample
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import share_interval
from radeval_lib.stats.tokens import whitespace
from radeval_lib.study.checks import above
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.phrases import phrase
from radeval_lib.study.runs import Run
from radeval_lib.wording import with_interval

LENGTHS = ["words, reference", "words, candidate"]


TITLES = {"errors": "errors, counted", "share": "errors by possible errors"}


def words(text: str) -> int:
    """Words of a text, by whitespace."""
    return len(whitespace(text))


def printed_pairs() -> pd.DataFrame:
    """The texts of Appendix A.7: ``exhibit``, ``pair`` (its number), ``role``, ``text``, ``words``."""
    rows = texts("ratescore.reports").query("exhibit.str.startswith('ratescore.example_a7')")
    return rows.assign(pair=rows["exhibit"].str[-1], words=rows["text"].map(words))


def measured(run: Run) -> dict[str, pd.DataFrame]:
    """The pairs with counted errors and with their share of possible ones, in the column of that name, with
    the words of both texts; empty where people rated neither."""
    found = {}
    for value, role in (("errors", "rated_errors"), ("share", "rated_sentences")):
        if run.evidence(role) == "synthetic":
            return {}
        table = rating_table(run.load(role))
        rating = -table["rating"] if value == "errors" else 1 - table["rating"]
        lengths = {length: table[length.removeprefix("words, ")].map(words) for length in LENGTHS}
        found[value] = table.assign(**lengths, **{value: rating})
    return found


def links(run: Run, rated: Mapping[str, pd.DataFrame]) -> dict[tuple[str, str], Estimate]:
    """Kendall's correlation of each rating with the words of either text, whole cases drawn."""
    found = {}
    for value, table in rated.items():
        drawn = resample(
            {length: table[length] for length in LENGTHS},
            table[value],
            groups=table["case"],
            kind="kendall",
            resamples=run.profile.resamples,
            rng=run.rng(f"length {value}"),
        )
        for row in drawn.intervals().itertuples():
            found[value, str(row.metric)] = Estimate(row.value, row.low, row.high, n=len(table))
    return found


def answer(ties: Mapping[tuple[str, str], Estimate], source: str) -> dict[str, str]:
    """What the page answers, in its bold sentence and what follows on it."""
    said = {
        value: (
            phrase(found, more="rises", less="falls", open="has no sure link"),
            with_interval(found.value, found.low, found.high, "+.2f"),
        )
        for value in TITLES
        for found in [ties[value, LENGTHS[0]]]
    }
    n = ties["errors", LENGTHS[0]].n
    return {
        "answer": f"On {n} pairs of {source} the number of errors {said['errors'][0]} with the length of the "
        f"reference (Kendall {said['errors'][1]}).",
        "rests": f"As a share of the errors that were possible, it {said['share'][0]} with it "
        f"({said['share'][1]}).",
    }


def length_group(length: int, rule: Mapping[str, Printed]) -> str:
    """``short``, ``long`` or ``between``, by the rule of A.7."""
    if length < rule["short_words"].value:
        return "short"
    return "long" if length > rule["long_words"].value else "between"


def against_rule(pairs: pd.DataFrame, rule: Mapping[str, Printed]) -> str:
    """Where the candidates of A.7 fall by the rule of A.7, in words."""
    parts = []
    for exhibit, rows in pairs.groupby("exhibit", sort=False):
        length = int(rows.set_index("role").loc["candidate", "words"])
        errors, group = quoted(str(exhibit))["total_errors"].text, length_group(length, rule)
        ruled = {"short": "about no error", "long": f"more than {rule['long_errors'].text} on average"}
        of_rule = (
            f"for which the rule has {ruled[group]}" if group in ruled else "of which the rule says nothing"
        )
        parts.append(f"one has {length} words, {of_rule}, and {errors} errors")
    return "; the other".join(parts).replace("; the otherone", "; the other")


def by_length_group(run: Run, counted: pd.DataFrame, rule: Mapping[str, Printed]) -> pd.DataFrame:
    """Errors of short reports, long ones and those between, by the words of either text.

    Returns
    -------
    DataFrame
        ``words`` (``reference`` or ``candidate``), ``group``, ``pairs``, ``cases``; ``mean errors`` and ``no
        error`` (a mean below one half) as value and interval, without ends where the cases are too few.
    """
    rows = []
    for length in LENGTHS:
        side, groups = length.removeprefix("words, "), counted[length].map(lambda n: length_group(n, rule))
        for group in ("short", "between", "long"):
            chosen = counted[groups == group]
            columns = {"errors": chosen["errors"], "none": chosen["errors"] < 0.5}
            found = [
                _mean(run, values, chosen["case"], f"{name} {side} {group}")
                for name, values in columns.items()
            ]
            rows.append((side, group, len(chosen), chosen["case"].nunique(), *found))
    return pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])


def _mean(run: Run, values: pd.Series, cases: pd.Series, stream: str) -> tuple[float, float, float]:
    if cases.nunique() < LEAST_GROUPS:
        return (values.mean(), np.nan, np.nan)
    return share_interval(values, cases.tolist(), resamples=run.profile.resamples, rng=run.rng(stream))


def told_groups(groups: pd.DataFrame) -> pd.DataFrame:
    """What :func:`by_length_group` gives, as text."""
    shown = groups.copy()
    for column, form in (("mean errors", ".2f"), ("no error", ".0%")):
        shown[column] = [
            "–"
            if not n
            else f"{found[0]:{form}}"
            if n < LEAST_GROUPS
            else with_interval(found[0], found[1], found[2], form)
            for n, found in zip(groups["cases"], groups[column], strict=True)
        ]
    return shown


def check_rule(
    claim: OpenExhibit,
    ties: Mapping[tuple[str, str], Estimate],
    groups: pd.DataFrame,
    rule: Mapping[str, Printed],
) -> None:
    """Check that errors rise with length, and the rule for groups of enough cases."""
    for length in LENGTHS:
        found = ties["errors", length]
        claim.states(
            f"errors rise with the {length.replace(',', ' of the')}",
            "simply because the texts are longer",
            f"Kendall {with_interval(found.value, found.low, found.high, '.2f')}",
            above(found.low, found.high),
        )
    rules = {
        "short": ("length less than 10 words commonly has zero errors", "no error", 0.5, ".0%"),
        "long": (
            "longer than 25 words had an average error count greater than 3",
            "mean errors",
            rule["long_errors"].value,
            ".2f",
        ),
    }
    for _, row in groups[(groups["cases"] >= LEAST_GROUPS) & groups["group"].isin(rules)].iterrows():
        wanted, column, edge, form = rules[row["group"]]
        value, low, high = row[column]
        finding = f"{column}: {with_interval(value, low, high, form)}, {row['pairs']} pairs"
        name = f"{row['group']} reports, by the {row['words']}"
        claim.states(name, wanted, finding, above(low, high, edge))


def draw(grid: Sequence[Axes], rated: Mapping[str, pd.DataFrame], rule: Mapping[str, Printed]) -> None:
    """Each rating against the words of the reference, with means of six groups and the lines of the rule."""
    for axes, (value, table) in zip(grid, rated.items(), strict=True):
        length = table[LENGTHS[0]]
        axes.scatter(length, table[value], s=9, alpha=0.3, linewidth=0, color=plots.PALETTE[6])
        groups = table.groupby(pd.qcut(length, 6, duplicates="drop"), observed=True)
        middle, error = groups[[LENGTHS[0], value]].mean(), groups[value].sem()
        axes.errorbar(middle[LENGTHS[0]], middle[value], error, color=plots.PALETTE[1], marker="o")
        axes.set(title=TITLES[value], xlabel="words of the reference")
        for edge in ("short_words", "long_words"):
            axes.axvline(rule[edge].value, color="0.4", linestyle=":", linewidth=1)
    grid[0].axhline(rule["long_errors"].value, color="0.4", linestyle=":", linewidth=1)
