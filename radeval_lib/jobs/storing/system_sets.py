"""Sets of studies with the outputs of several systems: texts, landmarks, and what is recorded of them.

A set is a table of texts with a row per study and candidate, columns ``study``, ``system``, ``reference`` and
``candidate``, and what people coded in each study. :func:`table` turns it into numbers:

``iu_systems.csv``, a row per study and candidate
    ``number`` place; ``study`` number of the study; ``case`` of its distinct reference; ``system`` file or
    landmark; ``text`` number of the distinct candidate; ``stratum`` ``finding`` (one of the codes of
    :data:`LABELS`), ``normal``, ``other`` or ``uncoded``; ``gold`` and ``found`` codes that people coded in
    the study and that the candidate states, as sums of powers of two in the order of :data:`LABELS`;
    ``stated`` the same of the fourteen observations, positive or uncertain; ``masked`` 1 where words of the
    reference are masked; ``matched_1`` to ``matched_4`` n-grams in common (COCO's words at blanks); words of
    both texts; scores.
``iu_systems_variants.csv``, a row per way to compute BLEU
    its value of each file and of the constant (:mod:`radeval_lib.jobs.storing.bleu_variants`).
``iu_systems_codes.csv``, a row per half of Open-i and code
    how the observations agree with people's codes (:mod:`radeval_lib.jobs.storing.coded_findings`).
``iu_systems_released.csv``, a row per study
    the scores that the MoERad repository commits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data import iu_systems, openi, reading
from radeval_lib.data.errors import DataError
from radeval_lib.data.manifests import find
from radeval_lib.data.openi import LABELS
from radeval_lib.data.records import CodedStudy, Report, SystemReport
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.metrics.bleu import Bleu
from radeval_lib.rules.reader.observations import NO_FINDING, coded, label, observations, positive
from radeval_lib.stats.base import FloatArray
from radeval_lib.stats.tokens import words

FILES = tuple(name for name in iu_systems.FILES if name != iu_systems.LAST_IMAGE)
"""The files that are compared; MLRG by the first image of each study."""
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
"""What is recorded of every candidate."""
CONSTANT = "a constant"
LANDMARKS = (
    CONSTANT,
    "the most frequent reference",
    "another reference",
    "the nearest reference",
)
SAME = "the reference itself"
STRATA = ("normal", "finding", "other", "uncoded")
_TRIED, _AGAINST = 100, 100  # texts among which the constant is chosen, and studies on which
_CHOOSERS = ("bleu", "rouge_l", "meteor")


def outputs(root: Path) -> pd.DataFrame:
    """Return the 590 studies of Open-i's test split with the outputs of each file and the landmarks:
    ``study``, ``system``, ``reference``, ``candidate``, ``stratum``, ``gold`` (codes); empty where the root
    has no such set."""
    records: list[SystemReport] = iu_systems.READER.load(lambda file: find("iu_systems", root, file))
    reports = find("openi", root, "indiana_reports.csv")
    labels = find("openi_labels", root, openi.LABELS_FILE)
    if not records or reports is None or labels is None:
        return pd.DataFrame()
    texts = {(one.system, one.id): reveal(one.text) for one in records}
    studies = [one.id for one in records if one.system == iu_systems.REFERENCE]
    known = {one.id: one for one in openi.load_labels(labels)}
    uncoded = {
        row["uid"] for row in reading.read_csv(reports, ("uid", "MeSH")) if row["MeSH"] == "No Indexing"
    }
    reference = [texts[iu_systems.REFERENCE, study] for study in studies]
    candidates: dict[str, Sequence[str | None]] = {
        system: [texts[system, study] for study in studies] for system in iu_systems.FILES
    }
    candidates |= landmarks(reference, elsewhere(openi.load(reports), set(studies)))
    return pd.DataFrame(
        [
            {
                "study": place,
                "system": system,
                "reference": reference[place],
                "candidate": text,
                "stratum": _stratum(known[study], study in uncoded),
                "gold": known[study].codes,
            }
            for system, of in candidates.items()
            for place, (study, text) in enumerate(zip(studies, of, strict=True))
            if text is not None
        ]
    )


def _stratum(study: CodedStudy, uncoded: bool) -> str:
    if study.codes:
        return "finding"
    return "normal" if study.normal else "uncoded" if uncoded else "other"


def elsewhere(reports: Sequence[Report], tested: set[str]) -> list[str]:
    """Return the findings sections of the studies that are not in a test split, nor have the text of one."""
    withheld = {openi.text_key(report) for report in reports if report.id in tested}
    kept = (one for one in reports if one.id not in tested and openi.text_key(one) not in withheld)
    return [text for one in kept if (text := reveal(one.findings).strip())]


def landmarks(references: Sequence[str], others: Sequence[str]) -> dict[str, list[str | None]]:
    """Return what any system can be compared with, by name; the constant alone is chosen without the
    references.

    The constant is fixed by this rule: of the most frequent texts of other studies, the one with the highest
    mean of BLEU, ROUGE-L and METEOR against texts of other studies again. Another reference is that of the
    study half the set further on, or the next that differs; the nearest shares most
    distinct words with it (F1) of those that differ.

    Raises
    ------
    DataError
        Where there is no other text, or no two references differ.
    """
    if not others or len(set(references)) < 2:
        raise DataError("no text to compare with", "landmarks", "Take two different references, and others.")
    frequent = [text for text, _ in Counter(others).most_common(_TRIED)]
    against = list(dict.fromkeys(others))[:: max(1, len(set(others)) // _AGAINST)]
    means = sum(create(name).matrix(against, frequent).mean(axis=0) for name in _CHOOSERS)
    constant = frequent[int(np.argmax(means))]
    distinct = list(dict.fromkeys(references))
    near = _overlap(distinct)
    np.fill_diagonal(near, -1.0)
    nearest = {text: distinct[int(np.argmax(row))] for text, row in zip(distinct, near, strict=True)}
    half, every = len(references) // 2, list(references)

    def other(place: int) -> str:
        turned = [*every[place + half :], *every[: place + half]]
        return next(text for text in turned if text != every[place])

    return {
        CONSTANT: [constant for _ in every],
        LANDMARKS[1]: [Counter(every).most_common(1)[0][0] for _ in every],
        LANDMARKS[2]: [other(place) for place in range(len(every))],
        LANDMARKS[3]: [nearest[text] for text in every],
        SAME: list(every),
    }


def _overlap(texts: Sequence[str]) -> FloatArray:
    """Return F1 of the distinct words of every text and every other."""
    distinct = [set(words(text)) for text in texts]
    place = {word: at for at, word in enumerate(sorted(set().union(*distinct)))}
    has = np.zeros((len(texts), len(place)))
    for row, one in zip(has, distinct, strict=True):
        row[[place[word] for word in one]] = 1.0
    sizes = has.sum(axis=1)
    return 2 * (has @ has.T) / np.maximum(1.0, sizes[:, None] + sizes[None, :])


def mask(found: frozenset[str], names: Sequence[str] = LABELS) -> int:
    """Return which of ``names`` were found, as a number, a power of two each."""
    return sum(1 << place for place, name in enumerate(names) if name in found)


def unmasked(masks: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return numbers of :func:`mask` as shape (numbers, codes)."""
    return np.array([[bool(code >> place & 1) for place in range(len(LABELS))] for code in map(int, masks)])


def table(texts: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of each row of a set beside its scores; see the module's description."""
    if missing := sorted({"study", "system", "reference", "candidate", "stratum", "gold"} - set(texts)):
        raise DataError(f"no column {missing[0]!r}", "texts of a set of systems")
    if texts.empty:
        raise DataError("no text", "texts of a set of systems")
    known = {text: mask(coded(text)) for text in texts["candidate"].unique()}
    said = {text: mask(positive(label(text)) - {NO_FINDING}, observations()) for text in known}
    counts = np.array(
        [detail["counts"] for detail in Bleu().score([*texts["reference"]], [*texts["candidate"]]).details]
    )
    return pd.DataFrame(
        {
            "number": range(len(texts)),
            "study": texts["study"],
            "case": pd.factorize(texts["reference"])[0],
            "system": texts["system"],
            "text": pd.factorize(texts["candidate"])[0],
            "stratum": texts["stratum"],
            "gold": [mask(codes) for codes in texts["gold"]],
            "found": [known[text] for text in texts["candidate"]],
            "stated": [said[text] for text in texts["candidate"]],
            "masked": texts["reference"].str.contains("XXXX").astype(int),
            **{f"matched_{n}": counts[:, n - 1].astype(int) for n in range(1, 5)},
        }
    ).reset_index(drop=True)


def released(root: Path) -> pd.DataFrame:
    """Return the scores that the MoERad repository commits, by ``study``."""
    path, known = (find("iu_systems", root, name) for name in (iu_systems.SCORES, iu_systems.REFERENCES))
    if path is None or known is None:
        return pd.DataFrame()
    found = pd.DataFrame(iu_systems.released(path, list(iu_systems.references(known))))
    return found.reset_index(drop=True).rename_axis("study").reset_index().round(6)
