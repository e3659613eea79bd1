"""Variants of BLEU: the ways in which published code computes it for a set of reports.

Texts are cleaned and truncated as in ``modules/tokenizers.py`` and ``modules/datasets.py`` of
github.com/zhjohnchan/R2Gen at commit e8cd3cf. sacrebleu, a separate package, tokenizes the texts itself.
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
Score = Callable[[Texts, Texts], float]  # Takes references and candidates; returns BLEU in percent.
R2GEN = "https://github.com/zhjohnchan/R2Gen/blob/main/modules/tokenizers.py"
COCO = "https://github.com/tylin/coco-caption/blob/master/pycocoevalcap"
SACREBLEU = "https://github.com/mjpost/sacrebleu"
CXR_METRIC = "https://github.com/rajpurkarlab/CXR-Report-Metric"
_MAX_WORDS, _MIN_OCCURRENCES = 59, 3  # The longest reference; rarer words become "unk".
_REPLACEMENTS = (
    *[("..", ".")] * 3,
    ("1. ", ""),
    *((f". {number}. ", ". ") for number in range(2, 6)),
    *((f" {number}. ", ". ") for number in range(2, 6)),
)
_PUNCTUATION = re.compile(r"[\"/\\'.,?;*!%^&_+():<=>@\[\]{}]")  # R2Gen removes these from sentences.
_SPACES = re.compile(r"\s+")


def clean_report(text: str) -> str:
    """Clean a report as R2Gen's ``clean_report_iu_xray`` does.

    The result is in lower case, without list numbers. Full stops are separate words; of the other ASCII
    punctuation, only hyphens and the signs ``#``, ``$``, backquote, ``|`` and ``~`` are kept.
    """
    for old, new in _REPLACEMENTS:
        text = text.replace(old, new)
    sentences = (_PUNCTUATION.sub("", sentence.strip()) for sentence in text.strip().lower().split(". "))
    return _SPACES.sub(" ", " . ".join(sentences) + " .")


def cut_references(references: Texts) -> list[str]:
    """Clean references and truncate them as R2Gen does: to the first 59 words, with ``unk`` for rare words.

    R2Gen's ``max_seq_length`` is 60 tokens, but the first token marks the start and is not decoded. A word is
    rare if it occurs fewer than three times: in R2Gen, in the training reports; here, in ``references``.
    """
    reports = [clean_report(text).split() for text in references]
    counts = Counter(word for report in reports for word in report)
    frequent = {word for word, count in counts.items() if count >= _MIN_OCCURRENCES}
    return [" ".join(word if word in frequent else "unk" for word in words[:_MAX_WORDS]) for words in reports]


def _make_bleu(order: int, prepare: Prepare, prepare_references: Prepare | None = None) -> Score:
    """Return a function that computes BLEU over the whole set, with n-grams of up to ``order`` words.

    ``prepare`` is applied to references and candidates. If ``prepare_references`` is given, it is applied to
    the references instead.
    """
    return lambda references, candidates: (
        100 * corpus_bleu((prepare_references or prepare)(references), prepare(candidates), order)
    )


def _make_mean_bleu(order: int) -> Score:
    """Return a function that computes the mean BLEU of single pairs, with n-grams of up to ``order`` words.

    It cleans the reports first.
    """
    return lambda references, candidates: (
        100 * float(sentence_bleu(_clean_reports(references), _clean_reports(candidates), order).mean())
    )


def _clean_reports(texts: Texts) -> list[str]:
    """Apply :func:`clean_report` to each text."""
    return [clean_report(text) for text in texts]


def _separate_stops(texts: Texts) -> list[str]:
    """Put the texts in lower case, with a space before each full stop."""
    return [text.lower().replace(".", " .") for text in texts]


def _average_bleu2(references: Texts, candidates: Texts) -> float:
    """Return the mean over pairs of the BLEU-2 of the package fast-bleu, in percent."""
    return 100 * float(np.mean([compute_bleu2(*pair) for pair in zip(references, candidates, strict=True)]))


def _make_sacrebleu(**settings: Any) -> Score:
    """Return a function that computes BLEU over the whole set with sacrebleu.

    ``settings`` are keyword arguments of sacrebleu's class ``BLEU``.
    """

    def score(references: Texts, candidates: Texts) -> float:
        from sacrebleu.metrics import BLEU

        return float(BLEU(force=True, **settings).corpus_score(list(candidates), [list(references)]).score)

    return score


def list_variants() -> dict[str, tuple[str, Score]]:
    """Return a mapping from the name of each BLEU variant to the URL of its source and its scoring function.

    The three sacrebleu variants are left out if sacrebleu is not installed.
    """
    orders, clean, cut = (1, 2, 3, 4), _clean_reports, cut_references
    bleu = {f"BLEU-{n}, COCO, cleaned": (COCO, _make_bleu(n, clean)) for n in orders}
    bleu |= {f"BLEU-{n}, COCO, references cut at 59, unk": (R2GEN, _make_bleu(n, clean, cut)) for n in orders}
    bleu |= {"BLEU-4, COCO, as written": (COCO, _make_bleu(4, list))}
    bleu |= {f"BLEU-{n}, COCO, split at “ .”": (CXR_METRIC, _make_bleu(n, _separate_stops)) for n in (2, 4)}
    bleu |= {f"BLEU-{n}, mean of sentences, cleaned": (COCO, _make_mean_bleu(n)) for n in (4, 2)}
    bleu |= {"BLEU-2, mean of sentences, fast-bleu": (CXR_METRIC, _average_bleu2)}
    if find_spec("sacrebleu"):
        international = _make_sacrebleu(lowercase=True, tokenize="intl")
        bleu |= {
            "sacrebleu, cased": (SACREBLEU, _make_sacrebleu()),
            "sacrebleu, lower case": (SACREBLEU, _make_sacrebleu(lowercase=True)),
            "sacrebleu, lower case, international": (SACREBLEU, international),
        }
    return bleu


def compute_variants(texts: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Return the BLEU of each system, in percent, by each variant from :func:`list_variants`.

    Parameters
    ----------
    texts : one row per study and system, with the columns ``study``, ``system``, ``reference`` and
        ``candidate``.
    systems : the systems to score; each must occur in ``texts``.

    Returns
    -------
    DataFrame
        One row per variant: ``variant`` (its name), ``source`` (a URL), and one column per system.
    """
    grouped = texts.sort_values("study").groupby("system")
    pairs = {system: grouped.get_group(system)[["reference", "candidate"]].T.to_numpy() for system in systems}
    rows = [
        {"variant": name, "source": source}
        | {system: round(score(*map(list, pair)), 6) for system, pair in pairs.items()}
        for name, (source, score) in list_variants().items()
    ]
    return pd.DataFrame(rows)
