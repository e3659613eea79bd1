"""The rules judge: whether it is as it was when RadPref was first scored with it, what it reads and finds.

What is frozen is behaviour: a digest of the judge's analyses and weighted errors on generated pairs, so that
code may be moved and renamed, and a changed word, rule or weight shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from IPython.display import Markdown
from sklearn.metrics import roc_auc_score

import radeval_lib.findings as findings
from radeval_lib.data import openi
from radeval_lib.data.categories import CATEGORIES
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import RadevalError
from radeval_lib.findings import Location, read
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.metrics.green import Analysis, parse
from radeval_lib.metrics.ratescore.scoring import unit
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.judges.rules import Judgement, judge_pair
from radeval_lib.models.judges.rules.items import SYNONYM, Synonyms, name, names_of
from radeval_lib.pages.green import ceilings as ceilings
from radeval_lib.pages.green.judging import CHEST, reworded
from radeval_lib.pages.green.summary import Encode
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import FloatArray, sum_estimates
from radeval_lib.study.runs import Run
from radeval_lib.synthetic import ErrorPair, SyntheticReport, error_pairs

_FILE = Path(__file__).with_name("freeze.yml")
_PAIRS, _SEED = 300, 20240917


@dataclass(frozen=True)
class Freeze:
    """When the judge was frozen, its digest then, and how often RadPref was scored with it since."""

    date: str
    digest: str
    scored: int
    note: str

    @property
    def holds(self) -> bool:
        """Whether the judge behaves today as it did then."""
        return self.digest == behaviour()


@lru_cache(maxsize=1)
def behaviour() -> str:
    """SHA-256 over what the judge says of 300 generated pairs, half of them of the chest."""
    digest = sha256()
    for anatomy in (CHEST, None):
        for pair in error_pairs(_PAIRS // 2, seed=_SEED, modality_anatomy=anatomy):
            judgement = judge_pair(pair.reference.findings.text, pair.candidate.findings.text)
            digest.update(f"{judgement.analysis()}\n{judgement.weighted_errors:.9f}\n".encode())
    return digest.hexdigest()


def freeze() -> Freeze:
    """The record of the freeze, from ``freeze.yml``."""
    return Freeze(**yaml.safe_load(_FILE.read_text(encoding="utf-8")))


_LABELS = Path(findings.__file__).parent / "labels" / "openi_sentences.csv"
_STABLE = {"silhouette_stable": "silhouette"}
MEASURES = ("presence", "normal statements", "location")


def labels() -> pd.DataFrame:
    """The labels, with columns report, section, start, end, draw, presence, key and locations.

    One row a finding or normal statement; a sentence without any has one row with an empty key.
    """
    return pd.read_csv(_LABELS, dtype={"report": str}, keep_default_na=False)


def first_scores() -> pd.DataFrame:
    """What the reader made of each draw when it first met it: counts of micro-F1 by draw and measure."""
    return pd.read_csv(_LABELS.with_name("first_scores.csv"))


def _place(where: Location) -> str:
    place = "" if where.place in (None, "lung") else str(where.place)
    return f"{where.side or ''} {place}".strip()


def counts(path: Path) -> pd.DataFrame:
    """What the reader finds in each labelled sentence of Open-i.

    One row a sentence and measure of :data:`MEASURES`: ``sentence``, ``draw``, ``measure``, ``hit``,
    ``gold``, ``found``. Raises RadevalError: if a labelled report is not in Open-i's file.
    """
    by_id = {report.id: report for report in openi.load(path)}
    rows = []
    for number, (where, part) in enumerate(
        labels().groupby(["report", "section", "start", "end", "draw"], sort=False)
    ):
        report, section, start, end, draw = where
        if report not in by_id:
            raise RadevalError(
                f"report {report} has labels and is not there", "Open-i", "Fetch the set anew."
            )
        text = reveal(getattr(by_id[report], section))[start:end]
        for measure, (gold, found) in _sets(text, part).items():
            rows.append((number, draw, measure, len(gold & found), len(gold), len(found)))
    return pd.DataFrame(rows, columns=["sentence", "draw", "measure", "hit", "gold", "found"])


WITHOUT_PAIRS = Markdown(
    "The pairs are sentences of Open-i, which this build does not have: `radbook data add openi` says how to "
    "get it."
)


def pair_answers(path: Path) -> pd.DataFrame:
    """Whether the judge says of pairs of Open-i's sentences what was said of them by hand.

    A pair is a sentence of a report's findings, the reference, and one of its impression. Index ``draw``;
    ``pairs``, and the shares ``false`` and ``missing`` on which both agree whether there is such an error.
    """
    by_id = {report.id: report for report in openi.load(path)}
    pairs = pd.read_csv(_LABELS.with_name("openi_pairs.csv"), dtype={"report": str})
    rows = []
    for row in pairs.itertuples():
        report = by_id[str(row.report)]
        said = judge_pair(
            reveal(report.findings)[row.findings_start : row.findings_end],
            reveal(report.impression)[row.impression_start : row.impression_end],
        )
        named = {error.category for error in said.errors}
        rows.append((row.draw, 1, ("a" in named) == bool(row.false), ("b" in named) == bool(row.missing)))
    told = pd.DataFrame(rows, columns=["draw", "pairs", "false", "missing"])
    return told.groupby("draw").agg({"pairs": "sum", "false": "mean", "missing": "mean"})


def _sets(text: str, part: pd.DataFrame) -> Mapping[str, tuple[set[tuple[str, str]], set[tuple[str, str]]]]:
    reading = read(text)
    normal = part["presence"] == "normal"
    stated = part[(part["key"] != "") & ~normal]
    placed = {
        (row.key, place.removesuffix(" lung"))
        for row in stated.itertuples()
        for place in str(row.locations).split(";")
        if place
    }
    return {
        "presence": (
            set(zip(stated["key"], stated["presence"], strict=True)),
            {(one.observation, one.presence) for one in reading.findings},
        ),
        "normal statements": (
            {(key, "normal") for key in part["key"][normal]},
            {(_STABLE.get(one.key, one.key), "normal") for one in reading.normals},
        ),
        "location": (
            placed,
            {
                (one.observation, _place(where))
                for one in reading.findings
                for where in one.locations
                if _place(where)
            },
        ),
    }


def _f1(sums: FloatArray) -> FloatArray:
    """Micro-F1 of hits, gold and found; shape (..., 3 n) to (..., n), NaN where there is nothing."""
    hit, gold, found = np.moveaxis(sums.reshape(*sums.shape[:-1], 3, -1), -2, 0)
    with np.errstate(invalid="ignore"):
        return 2 * hit / (gold + found)


def reading_f1(table: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro-F1 of each measure of :func:`counts`, with 95 % intervals from drawing sentences.

    Index ``measure``; ``sentences``, ``gold``, ``value``, ``low``, ``high``.
    """
    rows = {}
    for measure, part in table.groupby("measure", sort=False):
        values = part[["hit", "gold", "found"]].to_numpy(float)
        (found,) = sum_estimates(values, _f1, resamples=resamples, rng=rng)
        rows[measure] = (len(part), int(part["gold"].sum()), found.value, found.low, found.high)
    columns = ["sentences", "gold", "value", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("measure")


Planted = tuple[ErrorPair, SyntheticReport]
_SUMS = ["hit", "planted", "found"]


def planted_pairs(n: int, seed: int) -> list[Planted]:
    """X-rays of the chest with planted errors and the candidate as it is judged: said anew, in other words
    and half of the time in another style."""
    return [
        (pair, reworded(pair.candidate, seed, "style" if number % 2 else "synonym"))
        for number, pair in enumerate(error_pairs(n, seed=seed, modality_anatomy=CHEST))
    ]


def judged(pairs: Sequence[Planted], synonyms: Synonyms | None = None) -> list[Judgement]:
    """What the rules judge says of each pair, with the lexicon alone or with synonyms beside it."""
    return [judge_pair(pair.reference.findings.text, said.findings.text, synonyms) for pair, said in pairs]


def planted_counts(pairs: Sequence[Planted], judgements: Sequence[Judgement]) -> pd.DataFrame:
    """Significant errors, planted and found.

    One row a pair and category: ``pair``, ``category``, ``planted``, ``found`` and ``hit``, the smaller of
    the two.
    """
    rows = []
    for number, ((pair, _), judgement) in enumerate(zip(pairs, judgements, strict=True)):
        gold = pair.comparison.count(True)
        for letter, found in zip(CATEGORIES, judgement.count(True), strict=True):
            rows.append((number, letter, gold[letter], found, min(gold[letter], found)))
    return pd.DataFrame(rows, columns=["pair", "category", "planted", "found", "hit"])


def planted_f1(table: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro-F1 of :func:`planted_counts`, by category and over all, with 95 % intervals from drawing pairs.

    Index ``category`` and "all"; ``planted``, ``found``, ``value``, ``low``, ``high``.
    """
    both = pd.concat([table, table.groupby("pair", as_index=False)[_SUMS].sum().assign(category="all")])
    wide = both.pivot(index="pair", columns="category", values=_SUMS)
    names = [*table["category"].unique(), "all"]
    by_pair = np.hstack([wide[name][names].to_numpy(float) for name in _SUMS])
    found = [vars(one) for one in sum_estimates(by_pair, _f1, resamples=resamples, rng=rng)]
    totals = both.groupby("category")[["planted", "found"]].sum().loc[names]
    return totals.join(pd.DataFrame(found, index=totals.index)[["value", "low", "high"]])


def f1_difference(
    before: pd.DataFrame, after: pd.DataFrame, *, resamples: int, rng: np.random.Generator
) -> Estimate:
    """By how much micro-F1 over all categories rises from one judge to another on the same pairs.

    ``before``, ``after``: see :func:`planted_counts`, of the same pairs.
    """
    sides = [table.groupby("pair")[_SUMS].sum().to_numpy(float) for table in (before, after)]
    by_pair = np.stack(sides, axis=2).reshape(len(sides[0]), -1)
    (found,) = sum_estimates(by_pair, lambda sums: np.diff(_f1(sums)), resamples=resamples, rng=rng)
    return found


MISTAKEN = 0.001
"""The share of the pairs of different findings that a threshold may take for synonyms."""


class EncodedNames:
    """Says whether two observations are the same in other words.

    ``encode``: an encoder's ``encode``. ``threshold``: the cosine of both names from which on they are taken
    for synonyms.
    """

    def __init__(self, encode: Encode, threshold: float) -> None:
        self.threshold = threshold
        self._vector = lru_cache(maxsize=None)(lambda text: unit(encode([text]))[0])

    def likeness(self, one: str, other: str) -> float:
        """The cosine of two names."""
        return float(self._vector(one) @ self._vector(other))

    def __call__(self, one: str, other: str) -> bool:
        """Whether two observations (keys of the lexicon) are synonyms."""
        return self.likeness(name(one), name(other)) >= self.threshold


@dataclass(frozen=True)
class Recognition:
    """How well cosines tell synonyms.

    ``threshold`` is the cosine that the share :data:`MISTAKEN` of the pairs of different concepts reaches,
    ``recognised`` the share of the ``synonyms``, pairs of names of one concept, that reach it too; ``area``
    is the area under the ROC curve.
    """

    threshold: float
    recognised: float
    synonyms: int
    area: float


def recognise(encode: Encode) -> Recognition:
    """Measure an encoder on all pairs of names in the lexicon; no report is read.

    Concepts of several regions with one first name, as effusions of joints, are one finding here; names that
    several findings share tell nothing and are left out.
    """
    findings: dict[str, set[str]] = {}
    for concept in load_lexicon().concepts.values():
        for text in names_of(concept):
            findings.setdefault(text, set()).add(names_of(concept)[0])
    named = [(next(iter(of)), text) for text, of in findings.items() if len(of) == 1]
    vectors = unit(encode([text for _, text in named]))
    above = np.triu_indices(len(named), 1)
    cosines = (vectors @ vectors.T)[above]
    keys = np.array([key for key, _ in named])
    same = keys[above[0]] == keys[above[1]]
    threshold = float(np.quantile(cosines[~same], 1 - MISTAKEN))
    return Recognition(
        threshold,
        float((cosines[same] >= threshold).mean()),
        int(same.sum()),
        float(roc_auc_score(same, cosines)),
    )


def read_strictly(judgement: Judgement) -> Analysis:
    """What a strict reading makes of a judgement's analysis."""
    return parse(judgement.analysis(), "strict")


def encode_of(run: Run) -> Encode:
    """How the run's encoder turns texts into vectors."""
    return Encoder(run.model("encoder"), pooling="mean", device=run.profile.device).encode


def links_by_encoder(judgements: Sequence[Judgement]) -> int:
    """Pairs of findings that only the encoder relates."""
    return sum(how == SYNONYM for one in judgements for _, _, how in one.links)


def against_marks(told: pd.DataFrame) -> pd.DataFrame:
    """What the rules find in graded candidates beside what radiologists mark.

    ``told``: one row a candidate: ``grade``; ``errors`` and ``weighted``, the mean marks of radiologists;
    ``number by rules`` and ``by rules``, the same of the rules; ``gap``, by how much the rules rank it lower
    than the grade does.
    """
    marked_gap = told["weighted"].rank() - (-told["grade"]).rank()
    silent = told[(told["number by rules"] == 0) & (told["errors"] >= 1)]
    rows = {
        "number of errors, τ_b": f"{told['errors'].corr(told['number by rules'], 'kendall'):.2f}",
        "weighted errors, τ_b": f"{told['weighted'].corr(told['by rules'], 'kendall'):.2f}",
        "errors a candidate, by rules": f"{told['number by rules'].mean():.1f}",
        "errors a candidate, marked by a radiologist": f"{told['errors'].mean():.1f}",
        "difference in rank from the grade, correlation": f"{told['gap'].corr(marked_gap):.2f}",
        "candidates without an error by rules in which one is marked": str(len(silent)),
    }
    if len(silent):
        rows["mean grade of these"] = f"{silent['grade'].mean():.1f}"
    return pd.DataFrame({"": rows})
