"""Pairs of impressions that agree or differ in meaning, generated and real, and their scores.

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
from radeval_lib.models.extractive_summarizers import split_sentences
from radeval_lib.rules.generator import SyntheticError, SyntheticReport, generate, inject, rewrite
from radeval_lib.rules.generator.generator import Pair, RewriteKind, make_rng, rerender
from radeval_lib.rules.reader.observations import NO_FINDING, label, select_positive

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
"""Kinds of candidates that do not contradict the reference: all but advice mean the same, advice adds to
it."""

_ADVICE_OFF = 6  # two bits of a report's ``wording``; the impression gives advice if both are 0
_REWRITES: dict[str, RewriteKind] = {WORDS: "synonym", STYLE: "style"}
_CATEGORIES = "bacd"  # letters of GREEN's error categories
_COLUMNS = ["report", "phenomenon", "reference", "candidate"]


def _reword_impression(report: SyntheticReport, seed: int) -> dict[str, str]:
    """Return versions of a report's impression that do not contradict it, by kind (one of :data:`FAIR`).

    A normal impression has only the kind :data:`NORMAL`. A kind is left out if it does not change the text.
    """
    reference = report.impression.text
    if not any(entity.label in ("OBS-DP", "OBS-U") for entity in report.impression.radgraph):
        # The three low bits of the wording decide on content, so they are kept.
        rng = make_rng(seed, report.report_id, "conclusion")
        reworded = replace(report, wording=rng.getrandbits(32) << 3 | report.wording & 7)
        versions = {NORMAL: rerender(reworded, report.plan).impression.text}
    else:
        advising = replace(report, wording=report.wording & ~_ADVICE_OFF)
        advised = rerender(advising, report.plan).impression.text
        versions = {ADVICE: advised} if advised.startswith(reference) else {}
        versions[ORDER] = " ".join(reversed(split_sentences(reference)))
        for phenomenon, kind in _REWRITES.items():
            with suppress(SyntheticError):  # raised if there is no other wording
                versions[phenomenon] = rewrite(report, kind, seed).impression.text
    return {name: text for name, text in versions.items() if text != reference}


def _contradict_impression(report: SyntheticReport, seed: int, categories: str) -> str | None:
    """Return the impression with one significant error added, of one of GREEN's ``categories`` (letters).

    None if no error of these categories changes the impression.
    """
    rng = make_rng(seed, report.report_id, "error")
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
    """Return impressions of ``n`` generated reports, each with several candidates.

    Parameters
    ----------
    modality_anatomy : the kind of report, such as ``("X-Ray", "CHEST")``; None for all kinds.
    categories : letters of GREEN's categories, of which the wrong candidate has an error.

    Returns
    -------
    DataFrame
        One row per candidate, with ``report`` (its id), ``phenomenon`` (one of :data:`FAIR` or
        :data:`ERROR`), ``reference`` and ``candidate``. Every report has one candidate with an error, and at
        least one without. There are fewer than ``n`` reports if fewer of the first 20 n generated ones allow
        both.
    """
    rows: list[tuple[str, str, str, str]] = []
    count = 0
    for generated in generate(20 * n, seed, modality_anatomy=modality_anatomy):
        report = rerender(replace(generated, wording=generated.wording | _ADVICE_OFF), generated.plan)
        wrong, fair = _contradict_impression(report, seed, categories), _reword_impression(report, seed)
        if wrong is None or not fair:
            continue
        for phenomenon, text in {**fair, ERROR: wrong}.items():
            rows.append((report.report_id, phenomenon, report.impression.text, text))
        count += 1
        if count == n:
            break
    return pd.DataFrame(rows, columns=_COLUMNS)


def normal_pairs(records: Sequence[ReportPair], n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return ``n`` random normal impressions, each paired with another normal one and with an abnormal one.

    An impression is normal if none of the fourteen observations, read by rules, is present. Identical texts
    are used once.

    Returns
    -------
    DataFrame
        The columns of :func:`candidates`; ``phenomenon`` is :data:`NORMAL` for a normal candidate, otherwise
        :data:`ERROR`. Empty without two distinct normal impressions and an abnormal one.
    """
    rng = make_rng(seed, "normal pairs")
    texts = [reveal(record.impression) for record in records]
    observed = {text: label(text) for text in texts}
    normal = list(dict.fromkeys(text for text in texts if select_positive(observed[text]) == {NO_FINDING}))
    abnormal = list(dict.fromkeys(text for text in texts if text not in set(normal)))
    rows = []
    for number in range(n if len(normal) > 1 and abnormal else 0):
        reference, other_normal = rng.sample(normal, 2)
        rows.append((str(number), NORMAL, reference, other_normal))
        rows.append((str(number), ERROR, reference, rng.choice(abnormal)))
    return pd.DataFrame(rows, columns=_COLUMNS)


def scores(table: pd.DataFrame, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return ``table`` with a column of scores for each metric, named by its key in ``metrics``.

    ``table`` must have the columns ``reference`` and ``candidate``. Scores are in the metric's own direction.
    """
    references, candidates = table["reference"].tolist(), table["candidate"].tolist()
    columns = {name: metric.score(references, candidates).values for name, metric in metrics.items()}
    return table.assign(**columns)


def real_impressions(run: Run, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return :func:`normal_pairs` of MEDIQA 2021's Indiana reports with a column of scores for each metric.

    Without the texts, the stored scores are returned; ``reference`` and ``candidate`` are then missing.
    """
    if (path := run.find("mediqa2021")) is not None:
        return scores(normal_pairs(mediqa.load(path)), metrics)
    stored = run.recording("mediqa2021").parts["impressions"]
    kind = stored["normal"].map({1: NORMAL, 0: ERROR})
    columns = {title: stored[metric.name] for title, metric in metrics.items()}
    return stored[["case"]].assign(phenomenon=kind, **columns).rename(columns={"case": "report"})
