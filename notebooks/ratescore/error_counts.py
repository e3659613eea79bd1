"""Counted errors against the lengths of reports."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from radeval_lib.data.radpref import MARKS, SYSTEMS
from radeval_lib.data.ratings import rating_table
from radeval_lib.papers.printed_numbers import Printed, texts
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.correlations import LEAST_GROUPS, resample
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.checks import Key, above
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.runs import Run
from radeval_lib.text_format import with_interval

LENGTHS = ["words, reference", "words, candidate"]
TITLES = {"errors": "errors, counted", "share": "share of possible errors"}


def printed_pairs() -> pd.DataFrame:
    """Return the texts of Appendix A.7: ``exhibit``, ``pair`` (its number), ``role``, ``text``, ``words``,
    and of these the ``blanks``, which stand for what was removed."""
    rows = texts("ratescore.reports").query("exhibit.str.startswith('ratescore.example_a7')")
    words = rows["text"].str.split().str.len()
    return rows.assign(pair=rows["exhibit"].str[-1], words=words, blanks=rows["text"].str.count("_+"))


def measured(run: Run) -> dict[str, pd.DataFrame]:
    """Return the pairs with counted ``errors`` and with their ``share`` of possible ones, each a table with
    the column of its name and, by :data:`LENGTHS`, the numbers of words of both texts."""
    errors, share = (rating_table(run.load(role)) for role in ("rated_errors", "rated_sentences"))
    errors["errors"], share["share"] = -errors["rating"], 1 - share["rating"]
    for table in (errors, share):
        for length in LENGTHS:
            table[length] = table[length.removeprefix("words, ")].str.split().str.len()
    return {"errors": errors, "share": share}


def length_correlations(run: Run, rated: Mapping[str, pd.DataFrame]) -> dict[tuple[str, str], Estimate]:
    """Return Kendall's correlation of each rating with the words of either text, whole cases drawn, by the
    rating (of :data:`TITLES`) and the length (of :data:`LENGTHS`).

    ``rated``: of :func:`measured`.
    """
    correlations = {}
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
            correlations[value, str(row.metric)] = Estimate(row.value, row.low, row.high, n=len(table))
    return correlations


def _in_words(estimate: Estimate, form: str) -> str:
    """Return a number with its interval, as text; without it where there is none."""
    if np.isnan(estimate.low):
        return "–" if np.isnan(estimate.value) else f"{estimate.value:{form}}"
    return with_interval(estimate.value, estimate.low, estimate.high, form)


def radpref_errors(run: Run) -> pd.DataFrame:
    """Return RadPref's candidates from what is stored of them: ``system``, ``case``, ``words`` of the
    reference, mean ``errors``, ``reference_findings`` (listed in the reference), ``possible`` errors
    (findings listed in either text) and the ``share`` of these (NaN where there are none)."""
    stored = run.recording("radpref")
    table, marks = stored.table.set_index("number"), stored.parts["ratings"].groupby("number").mean()
    errors = marks[["_".join(mark) for mark in MARKS]].sum(axis=1)
    possible = table["reference_findings"] + table["candidate_findings"]
    columns = table[["case", "reference_findings"]].assign(
        system=table["system"].map(SYSTEMS), words=table["reference_words"]
    )
    return columns.assign(errors=errors, possible=possible, share=errors / possible.replace(0, np.nan))


def rises(run: Run, reports: pd.DataFrame) -> pd.DataFrame:
    """Draw cases and return τ_b of errors with the words of the reference, a column for each way to count
    and each part of :func:`radpref_errors`; the first row is the value, the others the draws."""
    listed = reports["possible"] > 0
    parts = dict(iter(reports.groupby("system")))
    columns = {
        "all": _with(run, reports, "errors", "words"),
        **{f"{system}'s reports": _with(run, rows, "errors", "words") for system, rows in parts.items()},
        "share of possible errors, 0/0 as 0": _with(run, reports.fillna({"share": 0}), "share", "words"),
        "share of possible errors, where a finding is listed": _with(run, reports[listed], "share", "words"),
    }
    fixed = "reference_findings"
    errors, words = (_with(run, reports, value, fixed) for value in ("errors", "words"))
    plain = columns["all"]
    held = (plain - errors * words) / np.sqrt((1 - errors**2) * (1 - words**2))  # Kendall's partial τ
    return pd.DataFrame({**columns, "number of reference findings held fixed": held})


def _with(run: Run, reports: pd.DataFrame, value: str, other: str) -> FloatArray:
    """Return τ_b of two columns and, on the same draws of cases for every call, its resamples."""
    drawn = resample(
        {other: reports[other]},
        reports[value],
        groups=reports["case"],
        kind="kendall",
        resamples=run.profile.resamples,
        rng=run.rng("length on RadPref"),
    )
    return np.array([*drawn.values, *drawn.draws[0]])


def length_group(length: float, rule: Mapping[str, Printed]) -> str:
    """Return ``short``, ``long`` or ``between``, by the rule of A.7; a length that is missing is a
    ValueError."""
    if np.isnan(length):
        raise ValueError("a report without a length is in no group")
    if length < rule["short_words"].value:
        return "short"
    return "long" if length > rule["long_words"].value else "between"


def against_rule(pairs: pd.DataFrame, rule: Mapping[str, Printed]) -> str:
    """Return where both texts of A.7's pairs fall by the rule of A.7, in words, whether blanks count or
    not."""
    ruled = {
        "short": "about no error",
        "between": "any number of errors",
        "long": f"more than {rule['long_errors'].text} on average",
    }
    parts = []
    for role in ("candidate", "reference"):
        clauses = []
        for which, row in zip(("first", "second"), pairs[pairs["role"] == role].itertuples(), strict=True):
            lengths = sorted({row.words - row.blanks, row.words})
            wanted = dict.fromkeys(ruled[length_group(length, rule)] for length in lengths)
            clauses.append(f"{' or '.join(wanted)} in the {which} pair ({' or '.join(map(str, lengths))})")
        parts.append(f"by the words of the {role}s, {' and '.join(clauses)}")
    return "; ".join(parts)


def by_length_group(run: Run, counted: pd.DataFrame, rule: Mapping[str, Printed]) -> pd.DataFrame:
    """Return errors of short reports, long ones and those between, by the words of either text.

    ``words`` (``reference`` or ``candidate``), ``group``, ``pairs``, ``cases``; ``mean errors`` and ``no
    error`` (a mean below one half) as an Estimate, without ends where the cases are too few.
    """
    rows = []
    for length in LENGTHS:
        side, groups = length.removeprefix("words, "), counted[length].map(lambda n: length_group(n, rule))
        for group in ("short", "between", "long"):
            errors, cases = (counted.loc[groups == group, name] for name in ("errors", "case"))
            estimates = [
                _mean(run, values, cases, f"{name} {side} {group}")
                for name, values in (("errors", errors), ("none", errors < 0.5))
            ]
            rows.append((side, group, len(cases), cases.nunique(), *estimates))
    return pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])


def _mean(run: Run, values: pd.Series, cases: pd.Series, stream: str) -> Estimate:
    if cases.nunique() < LEAST_GROUPS:
        return Estimate(values.mean(), np.nan, np.nan)
    rng = run.rng(stream)
    return Estimate(*share_interval(values, cases.tolist(), resamples=run.profile.resamples, rng=rng))


def groups_in_words(groups: pd.DataFrame) -> pd.DataFrame:
    """Return what :func:`by_length_group` gives, as text."""
    shown = groups.copy()
    for column, form in (("mean errors", ".2f"), ("no error", ".0%")):
        shown[column] = [_in_words(estimate, form) for estimate in groups[column]]
    return shown


def left_out(groups: pd.DataFrame, rule: Mapping[str, Printed], said: str, source: str) -> str:
    """Return what the ledger says is left unchecked, and which part of the rule the data have no report
    for."""
    ends = {"short": f"under {rule['short_words'].text}", "long": f"over {rule['long_words'].text}"}
    cases = groups.groupby("group")["cases"].sum()
    whose = f"{source[:1].upper()}{source[1:]}"
    absent = [f"{whose} has no report of {ends[group]} words to check." for group in ends if not cases[group]]
    return " ".join([said, *absent])


def check_rule(
    claim: OpenExhibit,
    correlations: Mapping[tuple[str, str], Estimate],
    groups: pd.DataFrame,
    rule: Mapping[str, Printed],
) -> None:
    """Check that errors rise with length, and the rule; of a group of too few cases it is inconclusive.

    ``correlations``: of :func:`length_correlations`; ``groups``: of :func:`by_length_group`.
    """
    for length in LENGTHS:
        rise = correlations["errors", length]
        claim.states(
            Key("errors rise with the", length.replace(",", " of the")),
            "longer sentences scoring lower",
            f"Kendall {_in_words(rise, '.2f')}",
            above(rise.low, rise.high),
        )
    rules = {
        "short": (
            "length less than 10 words commonly has zero errors",
            "no error",
            0.5,
            ".0%",
        ),
        "long": (
            "longer than 25 words had an average error count greater than 3",
            "mean errors",
            rule["long_errors"].value,
            ".2f",
        ),
    }
    for _, row in groups[groups["group"].isin(rules)].iterrows():
        wanted, column, edge, form = rules[row["group"]]
        name = Key(f"{row['group']} reports, by the", row["words"])
        if row["cases"] < LEAST_GROUPS:
            few = f"fewer than {LEAST_GROUPS} cases" if row["cases"] else "no such report"
            claim.states(name, wanted, few, None)
            continue
        finding = f"{column}: {_in_words(row[column], form)}, {row['pairs']} pairs"
        claim.states(name, wanted, finding, above(row[column].low, row[column].high, edge))
