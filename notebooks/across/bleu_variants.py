"""Ways in which published code computes the BLEU of a set of reports, each with its source.

Texts are cleaned and cut as R2Gen does in ``modules/tokenizers.py`` and ``modules/datasets.py`` of
github.com/zhjohnchan/R2Gen at commit e8cd3cf. sacrebleu, a separate package, prepares the texts itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.metrics.bleu import corpus_bleu, sentence_bleu
from radeval_lib.metrics.radcliq import compute_bleu2

Texts = Sequence[str]
Prepare = Callable[[Texts], list[str]]
Score = Callable[[Texts, Texts], float]  # of references and candidates, in percent
R2GEN = "https://github.com/zhjohnchan/R2Gen/blob/main/modules/tokenizers.py"
COCO = "https://github.com/tylin/coco-caption/blob/master/pycocoevalcap"
SACREBLEU = "https://github.com/mjpost/sacrebleu"
CXR_METRIC = "https://github.com/rajpurkarlab/CXR-Report-Metric"
_MOST_WORDS, _LEAST_OCCURRENCES = 59, 3  # of a reference; rarer words become "unk"
_REPLACED = (
    *[("..", ".")] * 3,
    ("1. ", ""),
    *((f". {number}. ", ". ") for number in range(2, 6)),
    *((f" {number}. ", ". ") for number in range(2, 6)),
)
_SIGNS = re.compile(r"[\"/\\'.,?;*!%^&_+():<=>@\[\]{}]")  # R2Gen removes these from sentences.
_SPACES = re.compile(r"\s+")


def clean_report(text: str) -> str:
    """Return a report as R2Gen's ``clean_report_iu_xray`` cleans it: in lower case and without numbering,
    with full stops as separate words and no other punctuation than hyphens."""
    for old, new in _REPLACED:
        text = text.replace(old, new)
    sentences = (_SIGNS.sub("", sentence.strip()) for sentence in text.strip().lower().split(". "))
    return _SPACES.sub(" ", " . ".join(sentences) + " .")


def cut_references(references: Texts) -> list[str]:
    """Return cleaned references as R2Gen decodes them: the first 59 words, with ``unk`` in place of each
    word that occurs fewer than three times.

    R2Gen's ``max_seq_length`` is 60 tokens, but the first one marks the start and is not decoded. R2Gen
    counts words in its training reports; this function counts them in ``references``.
    """
    reports = [clean_report(text).split() for text in references]
    counts = Counter(word for report in reports for word in report)
    frequent = {word for word, count in counts.items() if count >= _LEAST_OCCURRENCES}
    return [" ".join(word if word in frequent else "unk" for word in row[:_MOST_WORDS]) for row in reports]


def _pool_bleu(order: int, prepare: Prepare, prepare_references: Prepare | None = None) -> Score:
    """Return a function that computes BLEU over the whole set, with n-grams of up to ``order`` words.
    ``prepare`` is applied to both sides, unless ``prepare_references`` is given for the references."""
    return lambda references, candidates: (
        100 * corpus_bleu((prepare_references or prepare)(references), prepare(candidates), order)
    )


def _average_bleu(order: int) -> Score:
    """Return a function that computes the mean over cleaned report pairs of the BLEU of one pair."""
    return lambda references, candidates: (
        100 * float(sentence_bleu(_clean_reports(references), _clean_reports(candidates), order).mean())
    )


def _clean_reports(texts: Texts) -> list[str]:
    return [clean_report(text) for text in texts]


def _split_stops(texts: Texts) -> list[str]:
    return [text.lower().replace(".", " .") for text in texts]


def _average_bleu2(references: Texts, candidates: Texts) -> float:
    """Return the mean over pairs of BLEU-2 as the package fast-bleu computes it, in percent."""
    return 100 * float(np.mean([compute_bleu2(*pair) for pair in zip(references, candidates, strict=True)]))


def _make_sacrebleu(**settings: Any) -> Score:
    """Return a function that computes BLEU over the whole set with sacrebleu, given these ``settings`` of its
    class BLEU."""

    def score(references: Texts, candidates: Texts) -> float:
        from sacrebleu.metrics import BLEU

        return float(BLEU(force=True, **settings).corpus_score(list(candidates), [list(references)]).score)

    return score


def list_variants() -> dict[str, tuple[str, Score]]:
    """Return the URL of the source and the scoring function of each way to compute BLEU, by the way's name.

    The three ways of sacrebleu are left out if it is not installed.
    """
    orders, clean, cut = (1, 2, 3, 4), _clean_reports, cut_references
    ways = {f"BLEU-{n}, COCO, cleaned": (COCO, _pool_bleu(n, clean)) for n in orders}
    ways |= {f"BLEU-{n}, COCO, references cut at 59, unk": (R2GEN, _pool_bleu(n, clean, cut)) for n in orders}
    ways |= {"BLEU-4, COCO, as written": (COCO, _pool_bleu(4, list))}
    ways |= {f"BLEU-{n}, COCO, split at “ .”": (CXR_METRIC, _pool_bleu(n, _split_stops)) for n in (2, 4)}
    ways |= {f"BLEU-{n}, mean of sentences, cleaned": (COCO, _average_bleu(n)) for n in (4, 2)}
    ways |= {"BLEU-2, mean of sentences, fast-bleu": (CXR_METRIC, _average_bleu2)}
    if find_spec("sacrebleu"):
        international = _make_sacrebleu(lowercase=True, tokenize="intl")
        ways |= {
            "sacrebleu, cased": (SACREBLEU, _make_sacrebleu()),
            "sacrebleu, lower case": (SACREBLEU, _make_sacrebleu(lowercase=True)),
            "sacrebleu, lower case, international": (SACREBLEU, international),
        }
    return ways


def compute_variants(texts: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Return the BLEU of each system in percent, computed in each of the :func:`list_variants`.

    Parameters
    ----------
    texts : one row per study and system, with the columns ``study``, ``system``, ``reference`` and
        ``candidate``.
    systems : the systems to score; each must occur in ``texts``.

    Returns
    -------
    DataFrame
        One row per way: ``variant`` (its name), ``source`` (a URL), and a column per system.
    """
    ordered = texts.sort_values("study").groupby("system")
    sides = {system: ordered.get_group(system)[["reference", "candidate"]].T.to_numpy() for system in systems}
    rows = [
        {"variant": name, "source": source}
        | {system: round(score(*map(list, pair)), 6) for system, pair in sides.items()}
        for name, (source, score) in list_variants().items()
    ]
    return pd.DataFrame(rows)
