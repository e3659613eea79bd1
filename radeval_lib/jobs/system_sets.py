"""Reports of real systems on Open-i's test split, from public repositories, and baselines for comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from radeval_lib.data import iu_systems, openi, reading
from radeval_lib.data.manifests import find
from radeval_lib.data.records import Report, SystemReport
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.stats.tokens import words

FILES = tuple(name for name in iu_systems.FILES if name != iu_systems.LAST_IMAGE)
"""The systems to compare. MLRG wrote a report per image; the first image's report represents its study."""
METRICS = (
    "bleu",
    "rouge_l",
    "meteor",
    "bertscore",
    "f1_radgraph",
    "ratescore",
    "observations",
    "green_rules",
    "green_rules_errors",
)
"""Metrics whose score of each report is stored."""
CONSTANT = "a constant"
LANDMARKS = (CONSTANT, "the most frequent reference", "another reference", "the nearest reference")
"""Baselines that do not copy the study's own reference; see :func:`make_baselines`."""
OWN_REFERENCE = "the reference itself"
# The constant is the best of this many texts, each scored against this many references.
_CONSTANTS_TRIED, _REFERENCES_TRIED = 100, 100
_CHOOSERS = ("bleu", "rouge_l", "meteor")


def load_outputs(root: Path) -> pd.DataFrame:
    """Return the reports of every system and baseline for the 590 studies of Open-i's test split.

    ``root`` is the data root.

    Returns
    -------
    DataFrame
        One row per study and system that has a report on it: ``study`` (its number, from 0), ``system``,
        ``reference``, ``candidate``, ``stratum`` and ``gold``, the codes that annotators gave the study. The
        stratum is ``finding``, ``normal``, ``other`` (for other codes) or ``uncoded``. The table is empty if
        the root lacks a file.

    Raises
    ------
    DataError
        If a file differs from its manifest or is malformed.
    """
    records: list[SystemReport] = iu_systems.read(lambda file: find("iu_systems", root, file))
    report_path = find("openi", root, "indiana_reports.csv")
    label_path = find("openi_labels", root, openi.LABELS_FILE)
    if not records or report_path is None or label_path is None:
        return pd.DataFrame()
    texts = {(record.system, record.id): reveal(record.text) for record in records}
    studies = [record.id for record in records if record.system == iu_systems.REFERENCE]
    labels_by_id = {study.id: study for study in openi.load_labels(label_path)}
    uncoded_ids = {
        row["uid"] for row in reading.read_csv(report_path, ("uid", "MeSH")) if row["MeSH"] == "No Indexing"
    }

    def find_stratum(study: str) -> str:
        if labels_by_id[study].codes:
            return "finding"
        if labels_by_id[study].normal:
            return "normal"
        return "uncoded" if study in uncoded_ids else "other"

    references = [texts[iu_systems.REFERENCE, study] for study in studies]
    candidates: dict[str, Sequence[str | None]] = {
        system: [texts[system, study] for study in studies] for system in iu_systems.FILES
    }
    candidates |= make_baselines(references, list_texts_outside(openi.load(report_path), set(studies)))
    return pd.DataFrame(
        [
            {
                "study": number,
                "system": system,
                "reference": references[number],
                "candidate": text,
                "stratum": find_stratum(study),
                "gold": labels_by_id[study].codes,
            }
            for system, system_reports in candidates.items()
            for number, (study, text) in enumerate(zip(studies, system_reports, strict=True))
            if text is not None
        ]
    )


def list_texts_outside(reports: Sequence[Report], test_ids: set[str]) -> list[str]:
    """Return the findings sections of studies outside a test split, except texts that occur in the split.

    ``test_ids`` holds the ids of the studies in the split.
    """
    test_keys = {openi.join_words(report) for report in reports if report.id in test_ids}
    other_reports = [report for report in reports if openi.join_words(report) not in test_keys]
    return [text for report in other_reports if (text := reveal(report.findings).strip())]


def make_baselines(references: Sequence[str], other_texts: Sequence[str]) -> dict[str, list[str | None]]:
    """Return a mapping from baseline to candidates, one for each reference.

    - The constant is the text, among the 100 most frequent ``other_texts``, with the highest mean of BLEU,
      ROUGE-L and METEOR against a sample of them. It is the only baseline chosen without the references.
    - The most frequent reference is the same for all studies.
    - Another reference is the reference half the list further on, or the next with a different text.
    - The nearest reference is the different text with the highest F1 of distinct words.
    - The last baseline is the reference itself.

    Parameters
    ----------
    references : the reference of each study; at least two must differ.
    other_texts : texts of studies outside the test split; at least one.
    """
    frequent_texts = [text for text, _ in Counter(other_texts).most_common(_CONSTANTS_TRIED)]
    sampled_texts = list(dict.fromkeys(other_texts))[:: max(1, len(set(other_texts)) // _REFERENCES_TRIED)]
    pairs = [text for text in sampled_texts for _ in frequent_texts], frequent_texts * len(sampled_texts)
    scores = [create(name).values(*pairs).reshape(len(sampled_texts), -1) for name in _CHOOSERS]
    means = sum(values.mean(axis=0) for values in scores)
    constant = frequent_texts[int(np.argmax(means))]
    texts = list(dict.fromkeys(references))
    vocabularies = [set(words(text)) for text in texts]
    f1_rows = [[2 * len(a & b) / max(1, len(a) + len(b)) for b in vocabularies] for a in vocabularies]
    word_f1 = np.array(f1_rows)
    np.fill_diagonal(word_f1, -1.0)
    nearest_texts = {text: texts[int(np.argmax(row))] for text, row in zip(texts, word_f1, strict=True)}
    shift, all_references = len(references) // 2, list(references)

    def find_other_reference(index: int) -> str:
        rotated = [*all_references[index + shift :], *all_references[: index + shift]]
        return next(text for text in rotated if text != all_references[index])

    return {
        CONSTANT: [constant for _ in all_references],
        LANDMARKS[1]: [Counter(all_references).most_common(1)[0][0] for _ in all_references],
        LANDMARKS[2]: [find_other_reference(index) for index in range(len(all_references))],
        LANDMARKS[3]: [nearest_texts[text] for text in all_references],
        OWN_REFERENCE: list(all_references),
    }
