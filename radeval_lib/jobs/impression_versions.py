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
"""Kinds of candidates that do not contradict the reference: advice adds to it, the others mean the same."""

_ADVICE_OFF = 6  # two bits of a report's ``wording_seed``; the impression gives advice if both are 0
_REWRITES: dict[str, RewriteKind] = {WORDS: "synonym", STYLE: "style"}
_CATEGORIES = "bacd"  # letters of GREEN's error categories
_COLUMNS = ["report", "phenomenon", "reference", "candidate"]


def _reword_impression(report: SyntheticReport, seed: int) -> dict[str, str]:
    """Return a mapping from phenomenon to a rewording that does not contradict the report's impression.

    Phenomena are those of :data:`FAIR`; a normal impression has only :data:`NORMAL`. A rewording that equals
    the impression is left out.
    """
    reference = report.impression.text
    if not any(entity.label in ("OBS-DP", "OBS-U") for entity in report.impression.radgraph):
        # The three low bits of the wording decide on content, so they are kept.
        rng = make_rng(seed, report.report_id, "conclusion")
        reworded_report = replace(report, wording_seed=rng.getrandbits(32) << 3 | report.wording_seed & 7)
        versions = {NORMAL: rerender(reworded_report, report.plan).impression.text}
    else:
        advice_report = replace(report, wording_seed=report.wording_seed & ~_ADVICE_OFF)
        advice_text = rerender(advice_report, report.plan).impression.text
        versions = {ADVICE: advice_text} if advice_text.startswith(reference) else {}
        versions[ORDER] = " ".join(reversed(split_sentences(reference)))
        for phenomenon, rewrite_kind in _REWRITES.items():
            with suppress(SyntheticError):  # raised if there is no other wording
                versions[phenomenon] = rewrite(report, rewrite_kind, seed).impression.text
    return {name: text for name, text in versions.items() if text != reference}


def _contradict_impression(report: SyntheticReport, seed: int, categories: str) -> str | None:
    """Return the impression with one significant error, or None if no error changes the text.

    ``categories`` has the letters of GREEN's categories to choose from.
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
    modality_anatomy : the reports' modality and anatomy, such as ``("X-Ray", "CHEST")``; None for all.
    categories : letters of GREEN's categories. The wrong candidate has an error of one of them.

    Returns
    -------
    DataFrame
        One row per candidate, with ``report`` (its id), ``phenomenon`` (one of :data:`FAIR` or
        :data:`ERROR`), ``reference`` and ``candidate``. Every report has one candidate with an error and at
        least one without. There are fewer than ``n`` reports if too few of 20 n generated reports allow both.
    """
    rows: list[tuple[str, str, str, str]] = []
    count = 0
    for source in generate(20 * n, seed, modality_anatomy=modality_anatomy):
        report = rerender(replace(source, wording_seed=source.wording_seed | _ADVICE_OFF), source.plan)
        error_text, texts = _contradict_impression(report, seed, categories), _reword_impression(report, seed)
        if error_text is None or not texts:
            continue
        for phenomenon, text in {**texts, ERROR: error_text}.items():
            rows.append((report.report_id, phenomenon, report.impression.text, text))
        count += 1
        if count == n:
            break
    return pd.DataFrame(rows, columns=_COLUMNS)


def normal_pairs(records: Sequence[ReportPair], n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return ``n`` random normal impressions, each paired with another normal and with an abnormal one.

    An impression is normal if *No Finding* is the only CheXpert observation that the rules label positive.
    Identical texts are used once.

    Returns
    -------
    DataFrame
        The columns of :func:`candidates`; ``phenomenon`` is :data:`NORMAL` for a normal candidate, otherwise
        :data:`ERROR`. Empty unless there are two distinct normal impressions and an abnormal one.
    """
    rng = make_rng(seed, "normal pairs")
    texts = [reveal(record.impression) for record in records]
    labels = {text: label(text) for text in texts}
    normal_texts = [text for text in labels if select_positive(labels[text]) == {NO_FINDING}]
    abnormal_texts = list(dict.fromkeys(text for text in texts if text not in set(normal_texts)))
    rows = []
    for number in range(n if len(normal_texts) > 1 and abnormal_texts else 0):
        reference, other_normal = rng.sample(normal_texts, 2)
        rows.append((str(number), NORMAL, reference, other_normal))
        rows.append((str(number), ERROR, reference, rng.choice(abnormal_texts)))
    return pd.DataFrame(rows, columns=_COLUMNS)


def add_scores(table: pd.DataFrame, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return ``table`` with a column of scores added for each metric, named by its key in ``metrics``.

    ``table`` must have the columns ``reference`` and ``candidate``. Scores are in the metric's own direction.
    """
    references, candidate_texts = table["reference"].tolist(), table["candidate"].tolist()
    columns = {name: metric.score(references, candidate_texts).values for name, metric in metrics.items()}
    return table.assign(**columns)


def real_impressions(run: Run, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """Return :func:`normal_pairs` of MEDIQA 2021's Indiana reports with a column of scores for each metric.

    If the texts are not available, the stored scores are returned, without ``reference`` and ``candidate``.
    """
    if (path := run.find("mediqa2021")) is not None:
        return add_scores(normal_pairs(mediqa.load(path)), metrics)
    stored = run.recording("mediqa2021").parts["impressions"]
    phenomena = stored["normal"].map({1: NORMAL, 0: ERROR})
    columns = {title: stored[metric.name] for title, metric in metrics.items()}
    return stored[["case"]].assign(phenomenon=phenomena, **columns).rename(columns={"case": "report"})
