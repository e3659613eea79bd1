"""Ways in use to compute the BLEU of a set, each with its source.

References are prepared as R2Gen does in ``modules/tokenizers.py`` and ``modules/datasets.py`` of
github.com/zhjohnchan/R2Gen at commit e8cd3cf; sacrebleu, an outside program, computes its own.
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
from radeval_lib.metrics.radcliq import bleu2

Texts = Sequence[str]
Prepare = Callable[[Texts], list[str]]
Score = Callable[[Texts, Texts], float]
R2GEN = "https://github.com/zhjohnchan/R2Gen/blob/main/modules/tokenizers.py"
COCO = "https://github.com/tylin/coco-caption/blob/master/pycocoevalcap"
SACREBLEU = "https://github.com/mjpost/sacrebleu"
CXR_METRIC = "https://github.com/rajpurkarlab/CXR-Report-Metric"
_MOST, _RARE = 59, 3  # words that are kept of a reference; a word of fewer occurrences becomes <unk>
_REPLACED = (
    *[("..", ".")] * 3,
    ("1. ", ""),
    *((f". {number}. ", ". ") for number in range(2, 6)),
    *((f" {number}. ", ". ") for number in range(2, 6)),
)
_SIGNS = re.compile(r"[\"/\\'.,?;*!%^&_+():<=>@\[\]{}]")  # that R2Gen takes out of a sentence
_SPACES = re.compile(r"\s+")


def clean_report(text: str) -> str:
    """Return a report as ``clean_report_iu_xray`` cleans it: lower case, no numbering, hyphens as the only
    signs within sentences, and full stops as words."""
    for old, new in _REPLACED:
        text = text.replace(old, new)
    sentences = (_SIGNS.sub("", sentence.strip()) for sentence in text.strip().lower().split(". "))
    return _SPACES.sub(" ", " . ".join(sentences) + " .")


def cut(references: Texts) -> list[str]:
    """Return cleaned references as R2Gen decodes them: 59 words, and ``unk`` for a word that occurs fewer
    than three times.

    The 60 tokens of R2Gen's ``max_seq_length`` begin with one that marks the start, which is not decoded. It
    counts rare words in its training reports; here they are counted in the references themselves.
    """
    rows = [clean_report(text).split() for text in references]
    counts = Counter(word for row in rows for word in row)
    frequent = {word for word, count in counts.items() if count >= _RARE}
    return [" ".join(word if word in frequent else "unk" for word in row[:_MOST]) for row in rows]


def _corpus(order: int, prepare: Prepare, of_references: Prepare | None = None) -> Score:
    """Return BLEU of the set in percent; references are prepared as candidates are, or by
    ``of_references``."""
    return lambda references, candidates: (
        100 * corpus_bleu((of_references or prepare)(references), prepare(candidates), order)
    )


def _mean_of_sentences(order: int) -> Score:
    return lambda references, candidates: (
        100 * float(sentence_bleu(_cleaned(references), _cleaned(candidates), order).mean())
    )


def _cleaned(texts: Texts) -> list[str]:
    return [clean_report(text) for text in texts]


def _split(texts: Texts) -> list[str]:
    return [text.lower().replace(".", " .") for text in texts]


def _bleu2(references: Texts, candidates: Texts) -> float:
    return 100 * float(np.mean([bleu2(*pair) for pair in zip(references, candidates, strict=True)]))


def _sacrebleu(**settings: Any) -> Score:
    """Return the BLEU that sacrebleu computes with these settings."""

    def score(references: Texts, candidates: Texts) -> float:
        from sacrebleu.metrics import BLEU

        return float(BLEU(force=True, **settings).corpus_score(list(candidates), [list(references)]).score)

    return score


def variants() -> dict[str, tuple[str, Score]]:
    """Return by its name the source of each way and its function, which gives percent; sacrebleu's only if it
    is installed."""
    orders = (1, 2, 3, 4)
    ways = {f"BLEU-{n}, COCO, cleaned": (COCO, _corpus(n, _cleaned)) for n in orders}
    ways |= {f"BLEU-{n}, COCO, references cut at 59, unk": (R2GEN, _corpus(n, _cleaned, cut)) for n in orders}
    ways |= {"BLEU-4, COCO, as written": (COCO, _corpus(4, list))}
    ways |= {f"BLEU-{n}, COCO, split at “ .”": (CXR_METRIC, _corpus(n, _split)) for n in (2, 4)}
    ways |= {f"BLEU-{n}, mean of sentences, cleaned": (COCO, _mean_of_sentences(n)) for n in (4, 2)}
    ways |= {"BLEU-2, mean of sentences, fast-bleu": (CXR_METRIC, _bleu2)}
    if find_spec("sacrebleu"):
        ways |= {
            "sacrebleu, cased": (SACREBLEU, _sacrebleu()),
            "sacrebleu, lower case": (SACREBLEU, _sacrebleu(lowercase=True)),
            "sacrebleu, lower case, international": (SACREBLEU, _sacrebleu(lowercase=True, tokenize="intl")),
        }
    return ways


def compute_variants(texts: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Return the BLEU of each system in each way: ``variant``, ``source``, and a column per system.

    ``texts``: ``study``, ``system``, ``reference``, ``candidate``.
    """
    ordered = texts.sort_values("study").groupby("system")
    sides = {system: ordered.get_group(system)[["reference", "candidate"]].T.to_numpy() for system in systems}
    rows = [
        {"variant": name, "source": source}
        | {system: round(score(*map(list, pair)), 6) for system, pair in sides.items()}
        for name, (source, score) in variants().items()
    ]
    return pd.DataFrame(rows)
