"""Scores that go by one name: ways to compute it that are in use, each with a source that can be opened.

A variant takes references and candidates and gives one number for the set. What no
library of this project computes is written out here; sacrebleu, an outside program, computes its own BLEU.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.errors import DataError
from radeval_lib.errors import listed
from radeval_lib.jobs.storing.r2gen_references import cleaned, cut
from radeval_lib.metrics import create
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.bleu import corpus_bleu, sentence_bleu
from radeval_lib.metrics.choosing import fitting
from radeval_lib.metrics.radcliq import COMPONENTS, RadCliQ, bleu2, radcliq
from radeval_lib.rules.judge import judge_pair
from radeval_lib.rules.reader.observations import FIVE, NO_FINDING, POSITIVE, UNCERTAIN, label, observations
from radeval_lib.stats.rouge import RougeTokenizer, longest_common_subsequence

Texts = Sequence[str]
Prepare = Callable[[Texts], list[str]]
Score = Callable[[Texts, Texts], float]
OfPairs = Callable[[Texts, Texts], NDArray[np.float64]]
Average = Literal["micro", "macro", "by report"]
R2GEN = "https://github.com/zhjohnchan/R2Gen/blob/main/modules/tokenizers.py"
COCO = "https://github.com/tylin/coco-caption/blob/master/pycocoevalcap"
SACREBLEU = "https://github.com/mjpost/sacrebleu"
GOOGLE_ROUGE = "https://github.com/google-research/google-research/tree/master/rouge"
CXR_METRIC = "https://github.com/rajpurkarlab/CXR-Report-Metric"
VILMEDIC_LEVELS = "https://github.com/jbdel/vilmedic/issues/11"
RADGRAPH_CASE = "https://github.com/Stanford-AIMI/radgraph/pull/15"
UNCERTAIN_AS = "https://github.com/wjhou/ORGan/issues/4"
BY_REPORT = "https://github.com/ttanida/rgrg/issues/4"
F1_5_OR_14 = "https://github.com/X-iZhang/CCD/issues/1"
RADCLIQ_TURNED = "https://github.com/jbdel/RadEval/issues/5"
GREEN_CODE = "https://github.com/Stanford-AIMI/GREEN"
RATESCORE_CODE = "https://github.com/MAGIC-AI4Med/RaTEScore"
BERT_SCORE = "https://github.com/Tiiiger/bert_score"
NLTK_METEOR = "https://github.com/nltk/nltk/blob/develop/nltk/translate/meteor_score.py"
DEBIAN_WORDNET = Path("/usr/share/wordnet")


@dataclass(frozen=True)
class Variant:
    """One way to compute a score; ``lower`` where less is better.

    ``score`` gives one number for the set, or where ``of_pairs`` is given, turns the values of its pairs into
    it; ``of_pairs`` is called once for all systems together.
    """

    family: str
    name: str
    source: str
    score: Callable[..., float]
    lower: bool = False
    of_pairs: OfPairs | None = None


def _each(
    family: str,
    name: str,
    source: str,
    of_pairs: Metric | OfPairs,
    score: Callable[..., float] = np.mean,
    lower: bool = False,
) -> Variant:
    """A variant that scores pairs one by one, and the set by ``score`` of their values."""
    values = of_pairs.values if isinstance(of_pairs, Metric) else of_pairs
    return Variant(family, name, source, score, lower, values)


def _corpus(order: int, prepare: Prepare, of_references: Prepare | None = None) -> Score:
    """BLEU of the set in percent; references are prepared as candidates are, or by ``of_references``."""
    return lambda references, candidates: (
        100 * corpus_bleu(prepare(candidates), (of_references or prepare)(references), order)
    )


def _mean_of_sentences(order: int) -> Score:
    return lambda references, candidates: (
        100 * float(sentence_bleu(_cleaned(candidates), _cleaned(references), order).mean())
    )


def _cleaned(texts: Texts) -> list[str]:
    return [cleaned(text) for text in texts]


def _split(texts: Texts) -> list[str]:
    return [text.lower().replace(".", " .") for text in texts]


def _bleu2(references: Texts, candidates: Texts) -> float:
    return 100 * float(np.mean([bleu2(*pair) for pair in zip(references, candidates, strict=True)]))


def _sacrebleu(**settings: Any) -> Score:
    """The BLEU that sacrebleu computes with these settings."""

    def score(references: Texts, candidates: Texts) -> float:
        from sacrebleu.metrics import BLEU

        return float(BLEU(force=True, **settings).corpus_score(list(candidates), [list(references)]).score)

    return score


def bleu() -> list[Variant]:
    """BLEU in percent; those of sacrebleu only where it is installed."""
    orders = (1, 2, 3, 4)
    rows = [
        *((f"BLEU-{n}, COCO, cleaned", COCO, _corpus(n, _cleaned)) for n in orders),
        *((f"BLEU-{n}, COCO, references cut at 59, unk", R2GEN, _corpus(n, _cleaned, cut)) for n in orders),
        ("BLEU-4, COCO, as written", COCO, _corpus(4, list)),
        *((f"BLEU-{n}, COCO, split at “ .”", CXR_METRIC, _corpus(n, _split)) for n in (2, 4)),
        *((f"BLEU-{n}, mean of sentences, cleaned", COCO, _mean_of_sentences(n)) for n in (4, 2)),
        ("BLEU-2, mean of sentences, fast-bleu", CXR_METRIC, _bleu2),
    ]
    if find_spec("sacrebleu"):
        rows += [
            ("sacrebleu, cased", SACREBLEU, _sacrebleu()),
            ("sacrebleu, lower case", SACREBLEU, _sacrebleu(lowercase=True)),
            (
                "sacrebleu, lower case, international",
                SACREBLEU,
                _sacrebleu(lowercase=True, tokenize="intl"),
            ),
        ]
    return [Variant("BLEU", *row) for row in rows]


def _rouge(prepare: Callable[[str], list[str]], beta: float) -> Score:
    """Mean of the F of the longest common subsequence, recall weighed ``beta`` times."""

    def score(references: Texts, candidates: Texts) -> float:
        values = []
        for reference, candidate in zip(references, candidates, strict=True):
            ours, theirs = prepare(reference), prepare(candidate)
            common = longest_common_subsequence(ours, theirs)
            recall, precision = (common / len(side) if side else 0.0 for side in (ours, theirs))
            below = recall + beta**2 * precision
            values.append((1 + beta**2) * precision * recall / below if below else 0.0)
        return float(np.mean(values))

    return score


def _rouge_summary(references: Texts, candidates: Texts) -> float:
    """ROUGE-Lsum of Google's package: sentence by sentence."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer, values = RougeScorer(["rougeLsum"], use_stemmer=True), []
    for reference, candidate in zip(references, candidates, strict=True):
        lines = (text.replace(". ", ".\n") for text in (reference, candidate))
        values.append(scorer.score(*lines)["rougeLsum"].fmeasure)
    return float(np.mean(values))


def rouge() -> list[Variant]:
    """ROUGE-L."""
    plain, stemmed = (RougeTokenizer(stem).tokenize for stem in (False, True))
    return [
        Variant("ROUGE-L", "COCO, β 1.2, cleaned", COCO, _rouge(lambda text: cleaned(text).split(), 1.2)),
        Variant("ROUGE-L", "F1, stemmed", GOOGLE_ROUGE, _rouge(stemmed, 1.0)),
        Variant("ROUGE-L", "F1, words as they are", GOOGLE_ROUGE, _rouge(plain, 1.0)),
        Variant("ROUGE-L", "F1, sentence by sentence (Lsum)", GOOGLE_ROUGE, _rouge_summary),
    ]


def meteor(wordnet: str | None) -> list[Variant]:
    """METEOR by NLTK; with synonyms where a folder of WordNet is given. Java METEOR 1.5 is not computed."""
    variants = [_each("METEOR", "NLTK, no synonyms", NLTK_METEOR, create("meteor"))]
    if wordnet:
        variants.append(_each("METEOR", "NLTK with WordNet", NLTK_METEOR, create("meteor", wordnet=wordnet)))
    return variants


def chexbert_f1(labels: Sequence[str], average: Average, uncertain: bool) -> Score:
    """F1 of those observations by rules that ``labels`` names, over all studies; ``uncertain``: whether
    uncertain ones count. A label that neither side has counts 0 in ``macro``, as scikit-learn has it, a
    report without findings on both sides 1 in ``by report``."""
    axis = {"micro": None, "macro": 0, "by report": 1}[average]

    def score(references: Texts, candidates: Texts) -> float:
        gold, stated = (_labels(side, labels, uncertain) for side in (references, candidates))
        common = (gold & stated).sum(axis=axis)
        total = gold.sum(axis=axis) + stated.sum(axis=axis)
        empty = 1.0 if average == "by report" else 0.0
        return float(np.mean(np.where(total > 0, 2 * common / np.maximum(total, 1), empty)))

    return score


def _labels(texts: Texts, names: Sequence[str], uncertain: bool) -> NDArray[np.bool_]:
    counted = (POSITIVE, UNCERTAIN) if uncertain else (POSITIVE,)
    return np.array([[_label(text)[name] in counted for name in names] for text in texts])


_label = lru_cache(maxsize=4096)(label)
_judge = lru_cache(maxsize=8192)(judge_pair)


def observation_variants() -> list[Variant]:
    """CheXbert-like F1: the averages that are in use, with the observations by rules in CheXbert's place."""
    thirteen = [name for name in observations() if name != NO_FINDING]
    variants = []
    for count, names in (("5", FIVE), ("14", observations()), ("13", thirteen)):
        for average in get_args(Average):
            for uncertain in (True, False):
                treatment = "uncertain as positive" if uncertain else "uncertain as negative"
                source = BY_REPORT if average == "by report" else F1_5_OR_14 if uncertain else UNCERTAIN_AS
                name = f"{count} labels, {average}, {treatment}"
                variants.append(
                    Variant("CheXbert-like F1", name, source, chexbert_f1(names, average, uncertain))
                )
    return variants


def green() -> list[Variant]:
    """GREEN by rules: the mean of scores, or the score of sums."""

    def counts(references: Texts, candidates: Texts) -> NDArray[np.float64]:
        """Matched findings and significant errors, shape (pairs, 2)."""
        judged = [_judge(*pair) for pair in zip(references, candidates, strict=True)]
        return np.array([(one.matched_findings, sum(one.count(True))) for one in judged], dtype=np.float64)

    def mean(given: float) -> Callable[[NDArray[np.float64]], float]:
        def score(table: NDArray[np.float64]) -> float:
            matched, errors = table.T + np.array([[given], [0.0]])
            return float(
                np.mean(np.divide(matched, matched + errors, out=np.zeros_like(matched), where=matched > 0))
            )

        return score

    def of_sums(table: NDArray[np.float64]) -> float:
        matched, errors = table.sum(axis=0)
        return float(matched / max(1.0, matched + errors))

    family, errors = "GREEN by rules", create("green_rules_errors")
    return [
        _each(family, "mean of scores, 0 if nothing matched", GREEN_CODE, counts, mean(0.0)),
        _each(family, "mean of scores, one match given", GREEN_CODE, counts, mean(1.0)),
        _each(family, "score of sums", GREEN_CODE, counts, of_sums),
        _each(family, "weighted errors", GREEN_CODE, errors, lower=True),
    ]


def of_models(models: Mapping[str, str]) -> list[Variant]:
    """Variants of the scores that need models, by role: ``encoder``, ``graph_model``, ``ner_model``."""
    encoder, graphs = models["encoder"], models["graph_model"]
    variants = [
        _each("BERTScore", name, BERT_SCORE, create("bertscore", encoder=encoder, layer=layer))
        for name, layer in (("layer last", None), ("layer 3", 3), ("layer 1", 1))
    ]
    for level in ("simple", "partial", "complete"):
        for case, name, source in (
            ("relations", "case kept", VILMEDIC_LEVELS),
            ("fold", "lower case", RADGRAPH_CASE),
        ):
            metric = create("f1_radgraph", graph_model=graphs, level=level, case=case)
            variants.append(_each("F1-RadGraph", f"{level}, {name}", source, metric))
    combined = create("radgraph_combined", graph_model=graphs)
    variants.append(_each("F1-RadGraph", "combined", CXR_METRIC, combined))
    components = RadCliQ(graph_model=graphs, encoder=encoder, layer=None)

    def parts(references: Texts, candidates: Texts) -> NDArray[np.float64]:
        details = components.score(references, candidates).details
        return np.array([[detail[name] for name in COMPONENTS] for detail in details])

    variants += [
        _each("RadCliQ", "v0, mean", CXR_METRIC, parts, lambda table: radcliq(table, "v0").mean(), True),
        _each("RadCliQ", "v1, mean", CXR_METRIC, parts, lambda table: radcliq(table, "v1").mean(), True),
        *(
            _each("RadCliQ", name, RADCLIQ_TURNED, parts, turned)
            for name, turned in (
                ("v1, 1 over the mean", lambda table: 1 / radcliq(table, "v1").mean()),
                ("v1, mean of 1 over each", lambda table: (1 / radcliq(table, "v1")).mean()),
            )
        ),
    ]
    filled = {"ner_model": models["ner_model"], "encoder": encoder}
    own: dict[str, Any] = {**filled, **fitting("ratescore", filled)}
    variants += [
        _each("RaTEScore", f"{weights} weights", RATESCORE_CODE, create("ratescore", weights=weights, **own))
        for weights in ("long", "short")
    ]
    return variants


def wordnet_folder() -> str | None:
    """Where Debian's package ``wordnet-base``, or what the variable ``WORDNET`` names, has WordNet's data."""
    folder = Path(os.environ.get("WORDNET", DEBIAN_WORDNET))
    return str(folder) if (folder / "data.noun").is_file() else None


def all_variants(models: Mapping[str, str] | None = None, wordnet: str | None = None) -> list[Variant]:
    """Every variant that can be computed here: of models only where these are given."""
    own = [*bleu(), *rouge(), *meteor(wordnet), *observation_variants(), *green()]
    return own + (of_models(models) if models else [])


def computed(variants: Sequence[Variant], texts: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Each variant's value of each system: ``family``, ``variant``, ``source``, ``lower``, a column per
    system.

    ``texts``: ``study``, ``system``, ``reference``, ``candidate``; a system without texts is a DataError.
    """
    if absent := sorted(set(systems) - set(texts["system"])):
        raise DataError(
            f"no text of {absent[0]!r}", "systems", f"Systems: {listed(texts['system'].unique())}."
        )
    sides, rows, known = {}, [], dict[Any, NDArray[np.float64]]()
    for system in systems:
        outputs = texts[texts["system"] == system].sort_values("study")
        sides[system] = outputs["reference"].tolist(), outputs["candidate"].tolist()
    every = [[text for pair in sides.values() for text in pair[side]] for side in (0, 1)]
    ends = np.cumsum([len(references) for references, _ in sides.values()])[:-1]
    for way in variants:
        if way.of_pairs is None:
            values = [way.score(*pair) for pair in sides.values()]
        else:
            if way.of_pairs not in known:
                known[way.of_pairs] = way.of_pairs(*every)
            values = [way.score(part) for part in np.split(known[way.of_pairs], ends)]
        row = {"family": way.family, "variant": way.name, "source": way.source, "lower": way.lower}
        rows.append(
            row | {system: round(float(value), 6) for system, value in zip(sides, values, strict=True)}
        )
    return pd.DataFrame(rows)
