"""Generated and real impressions that mean the same as their reference or do not, and their scores.

Source of the question: RaLEs (Zambrano Chaves et al. 2023), Appendix J.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from radeval_lib.data import mediqa
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.models.extractive_summarizers import sentences
from radeval_lib.rules.generator import SyntheticError, SyntheticReport, generate, inject, rewrite
from radeval_lib.rules.generator.generator import Pair, RewriteKind, rerender, seeded
from radeval_lib.rules.reader.observations import NO_FINDING, label, positive

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric
    from radeval_lib.study.runs import Run

ADVICE = "an added recommendation"
WORDS = "other words"
STYLE = "another style"
ORDER = "another order"
NORMAL = "no disease but other words"
ERROR = "one significant error"
FAIR = (ADVICE, WORDS, STYLE, ORDER, NORMAL)
"""Candidates that mean what the reference means; advice adds to it without contradicting."""

_ADVICE_OFF = 6  # bits of a report's wording; an impression gives advice where both are 0
_REWRITES: dict[str, RewriteKind] = {WORDS: "synonym", STYLE: "style"}
_CATEGORIES = "bacd"
_COLUMNS = ["report", "phenomenon", "reference", "candidate"]


def _equivalents(report: SyntheticReport, seed: int) -> dict[str, str]:
    """Return the impression of each version that means the same and reads differently, by phenomenon."""
    reference = report.impression.text
    if not any(entity.label in ("OBS-DP", "OBS-U") for entity in report.impression.radgraph):
        rng = seeded(seed, report.report_id, "conclusion")  # the low bits decide on more than words: kept
        other = replace(report, wording=rng.getrandbits(32) << 3 | report.wording & 7)
        versions = {NORMAL: rerender(other, report.plan).impression.text}
    else:
        advising = replace(report, wording=report.wording & ~_ADVICE_OFF)
        advised = rerender(advising, report.plan).impression.text
        versions = {ADVICE: advised} if advised.startswith(reference) else {}
        versions[ORDER] = " ".join(reversed(sentences(reference)))
        for phenomenon, kind in _REWRITES.items():
            with suppress(SyntheticError):  # there may be no other version
                versions[phenomenon] = rewrite(report, kind, seed).impression.text
    return {name: text for name, text in versions.items() if text != reference}


def _contradiction(report: SyntheticReport, seed: int, categories: str) -> str | None:
    """Return an impression with one significant error of one of GREEN's categories, all else as it is; None
    if no error shows there."""
    rng = seeded(seed, report.report_id, "error")
    for category in sorted(categories, key=lambda _: rng.random()):
        try:
            text = inject(report, [(category, True)], seed).candidate.impression.text
        except SyntheticError:
            continue
        if text != report.impression.text:
            return text
    return None


def candidates(
    n: int, seed: int, modality_anatomy: Pair | None = None, categories: str = _CATEGORIES
) -> pd.DataFrame:
    """Return impressions of ``n`` generated reports, of one kind or of all, with candidates for each. Wrong
    candidates have an error of one of ``categories``.

    Returns
    -------
    DataFrame
        One row per candidate: ``report``, ``phenomenon`` (one of :data:`FAIR` or :data:`ERROR`),
        ``reference``, ``candidate``. Every report has its error, and at least one of the others; there are
        fewer than ``n`` if 20 n generated reports hold no more of this kind.
    """
    rows: list[tuple[str, str, str, str]] = []
    count = 0
    for made in generate(20 * n, seed, modality_anatomy=modality_anatomy):
        report = rerender(replace(made, wording=made.wording | _ADVICE_OFF), made.plan)
        wrong, fair = _contradiction(report, seed, categories), _equivalents(report, seed)
        if wrong is None or not fair:
            continue
        for phenomenon, text in {**fair, ERROR: wrong}.items():
            rows.append((report.report_id, phenomenon, report.impression.text, text))
        count += 1
        if count == n:
            break
    return pd.DataFrame(rows, columns=_COLUMNS)


def normal_pairs(records: Sequence[ReportPair], n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return pairs of real impressions in the rows of :func:`candidates`. Either both reports have no finding
    (:data:`NORMAL`), or only one has (:data:`ERROR`); empty if there are too few.

    A report without a finding is one in which the fourteen observations, read by rules, find nothing;
    identical texts are left out, since they say nothing about wording.
    """
    rng = seeded(seed, "normal pairs")
    texts = [reveal(record.impression) for record in records]
    observed = {text: label(text) for text in texts}
    normal = list(dict.fromkeys(text for text in texts if positive(observed[text]) == {NO_FINDING}))
    abnormal = list(dict.fromkeys(text for text in texts if text not in set(normal)))
    rows = []
    for number in range(n if len(normal) > 1 and abnormal else 0):
        reference, other = rng.sample(normal, 2)
        rows.append((str(number), NORMAL, reference, other))
        rows.append((str(number), ERROR, reference, rng.choice(abnormal)))
    return pd.DataFrame(rows, columns=_COLUMNS)


def scores(table: pd.DataFrame, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return ``table`` with a column for each metric, named as in ``metrics``."""
    references, candidates = table["reference"].tolist(), table["candidate"].tolist()
    columns = {name: metric.score(references, candidates).values for name, metric in metrics.items()}
    return table.assign(**columns)


def real_impressions(run: Run, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return the :func:`scores` of the :func:`normal_pairs` in MEDIQA's reports of Indiana, from its file or
    as stored."""
    if (path := run.find("mediqa2021")) is not None:
        return scores(normal_pairs(mediqa.load(path)), metrics)
    stored = run.recording("mediqa2021").parts["impressions"]
    kind = stored["normal"].map({1: NORMAL, 0: ERROR})
    columns = {title: stored[metric.name] for title, metric in metrics.items()}
    return stored[["case"]].assign(phenomenon=kind, **columns).rename(columns={"case": "report"})
