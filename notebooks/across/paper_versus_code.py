"""Smallest examples on which a paper and its released code differ; ``contrasts.yml`` says what each compares,
and of which kind it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from radeval_lib import green_analysis, own_yaml
from radeval_lib.metrics import bleu, green, radgraph, ratescore
from radeval_lib.papers import demonstrations as demo
from radeval_lib.papers.printed_numbers import printed, quoted, released, wide
from radeval_lib.stats import calibration

CONTRADICTS, SLIP, NUMBER, OPEN = "contradicts", "slip", "number", "open"
_STATED = {
    name: (whose, claim)
    for whose, contrasts in own_yaml.read(Path(__file__).with_name("contrasts.yml")).items()
    for name, claim in contrasts.items()
}


@dataclass(frozen=True)
class Contrast:
    """One quantity of one demonstration, as it is stated and as the released code has it; ``kind`` is one of
    :data:`CONTRADICTS`, :data:`SLIP`, :data:`NUMBER` and :data:`OPEN`."""

    name: str
    whose: str
    difference: str
    quantity: str
    stated: float
    released: float
    basis: str
    kind: str

    def shown(self, value: float) -> str:
        """Return a value as text, without decimals if both values are whole, else with three."""
        whole = float(self.stated).is_integer() and float(self.released).is_integer()
        return f"{value:,.{0 if whole else 3}f}"


def contrast(name: str, values: Iterable[float], **words: object) -> Contrast:
    """Return a contrast from its two values, the stated one first; ``words`` fill the braces of its texts in
    ``contrasts.yml``."""
    whose, (difference, quantity, basis, kind) = _STATED[name]
    stated, by_code = values
    return Contrast(name, whose, difference, quantity.format(**words), stated, by_code, basis, kind)


def table(contrasts: Iterable[Contrast], packages: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each contrast: ``paper``, ``difference``, ``example``, ``stated``, ``code``,
    ``released package`` (what it gave, its version and the day, if it was run), ``kind``, and ``differs``,
    whether stated and code are not equal.

    ``packages``: the table ``packages`` of released numbers.
    """
    ran = {row.difference: row for row in packages.itertuples()}
    return pd.DataFrame(
        [
            {
                "paper": pair.whose,
                "difference": pair.difference,
                "example": pair.quantity,
                "stated": f"{pair.shown(pair.stated)} ({pair.basis})",
                "code": pair.shown(pair.released),
                "released package": "–"
                if (row := ran.get(pair.name)) is None
                else f"{pair.shown(row.value)} ({row.package} {row.version}, {row.date})",
                "kind": pair.kind,
                "differs": pair.stated != pair.released,
            }
            for pair in contrasts
        ]
    )


IRREGULAR = re.sub(r": (\d)\.", r": \1", green_analysis.render((2, 1, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), 2))
"""A judge's answer without the periods after its counts, which the released parser looks for."""
_Shown = tuple[pd.DataFrame, Contrast]
_Typed = Sequence[tuple[str, str]]  # entities with their types

AKLU_CLASSES = 46
"""Classes of the procedure task, by the main text; the appendix counts one less."""

_RULES: tuple[Literal["meant"], Literal["released"]] = ("meant", "released")
_MUTUAL = (
    [("Foley catheter", "ANATOMY"), ("in situ", "NON-ABNORMALITY")],
    [("Foley catheter", "ANATOMY"), ("not in place", "ABNORMALITY")],
    np.array([[1.0, 0.0], [0.0, 0.83]]),
)
_SHARED = (
    [("pneumonia", "DISEASE"), ("right base", "ANATOMY")],
    [("opacity", "ABNORMALITY"), ("infiltrate", "DISEASE")],
    np.array([[0.7, 0.9], [0.4, 0.3]]),
)


def _ratescore(
    reference: _Typed, candidate: _Typed, cosines: Any, weights: str = "long", /, **changes: str
) -> float:
    scorer = ratescore.Scorer(weights, ratescore.options("released", **changes))
    return scorer.score(reference, candidate, np.array(cosines, dtype=float)).score


def _scores(
    pairs: Mapping[str, tuple[_Typed, _Typed, Any]], option: str, rules: Mapping[str, str]
) -> pd.DataFrame:
    """Return RaTEScore of pairs of entities with either set of weights (rows), by how an option is set
    (columns)."""
    rows = {
        f"{name}, {weights}": {
            column: _ratescore(*pair, weights, **{option: rule}) for column, rule in rules.items()
        }
        for name, pair in pairs.items()
        for weights in ("long", "short")
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def mismatch_penalty() -> _Shown:
    """Return RaTEScore of single entity pairs if every mismatch of types is punished, and as the code has
    it."""
    pairs = {
        f"disease v {kind}": ([("pneumonia", "DISEASE")], [("consolidation", kind.upper())], [[0.8]])
        for kind in ("abnormality", "non-disease", "disease")
    }
    frame = _scores(pairs, "penalty", {"paper": "any_mismatch", "code": "cross_polarity"})
    return frame, contrast("mismatch_penalty", frame.loc["disease v abnormality, short"])


def empty_report() -> Contrast:
    """Return RaTEScore of a candidate without an entity beside a reference with one."""
    scores = [_ratescore([("pneumonia", "DISEASE")], [], [[]], empty=rule) for rule in ("zero", "half")]
    return contrast("empty_report", scores)


def _overlap(reference: list[str], candidate: list[str]) -> float:
    """Return the share of words in common, a score that needs no model."""
    left, right = (set(" ".join(lines).lower().split()) for lines in (reference, candidate))
    return 2 * len(left & right) / (len(left) + len(right))


def shifted_pairs() -> tuple[Contrast, Contrast]:
    """Return how many of five pairs are scored if one text keeps no sentence, and the mean score."""
    reports = ["Heart size is normal.", "Small left effusion.", "No acute process.", "Right basal opacity."]
    references = [[line] for line in [*reports, "Lines in place."]]
    candidates = [["OK"] if line == ["Small left effusion."] else line for line in references]
    meant = [_overlap(*pair) for pair in zip(references, candidates, strict=True)]
    shifted = [_overlap(*pair) for pair in demo.pair_as_released(references, candidates)]
    returned = contrast("shifted_pairs", (len(meant), len(shifted)))
    return returned, contrast("shifted_mean", (float(np.mean(meant)), float(np.mean(shifted))))


def orientation() -> _Shown:
    """Return RaTEScore by the reading of W, for matches that are mutual and matches that are not."""
    pairs = {"mutual matches (A.1)": _MUTUAL, "matches not mutual": _SHARED}
    readings = {"W[match, query]": "match_first", "W[query, match] (code)": "query_first"}
    frame = _scores(pairs, "orientation", readings)
    return frame, contrast("orientation", frame.loc["matches not mutual, short"])


def example_a1() -> Contrast:
    """Return the score of the worked example A.1 as printed, and as the code gives it by default."""
    values = printed("ratescore.example_a1").query("quantity == 'score'").set_index("direction")["value"]
    return contrast("example_a1", (values["both"], _ratescore(*_MUTUAL, "long")))


def irregular_answers() -> Contrast:
    """Return GREEN of :data:`IRREGULAR`."""
    parsed = green.parse(IRREGULAR)
    return contrast("irregular_answers", (green.green_score(2, 3), parsed.score or 0.0))


def cluster_search(rng: np.random.Generator, repeats: int) -> _Shown:
    """Return how often the released search finds the best number of clusters on simulated silhouettes with
    one noisy peak."""
    clusters = {}
    for sentences in (5, 8, 12, 20, 40):
        hits, ks = 0, np.arange(2, sentences)
        for _ in range(repeats):
            peak = rng.integers(2, sentences)
            heights = -np.abs(ks - peak) / sentences + rng.normal(0, 0.02, len(ks))
            silhouette = dict(zip(ks.tolist(), heights.tolist(), strict=True))
            hits += demo.search_clusters_released(silhouette, sentences) == ks[heights.argmax()]
        clusters[sentences] = hits / repeats
    frame = pd.DataFrame({"sentences": list(clusters), "search finds the best k": list(clusters.values())})
    return frame, contrast("cluster_search", (1.0, clusters[20]))


def aklu_bound() -> Contrast:
    """Return aKLU of the first model of Table 7, by the paper's formula and as printed; the code's has no
    bound."""
    table7, largest = wide(printed("rales.table7"), "model", "metric"), float(np.log(AKLU_CLASSES))
    first = table7.iloc[0]
    by_paper = largest - first["aPE"]
    return contrast("aklu_bound", (by_paper, first["aKLU"]), model=table7.index[0])


def weighted_gap() -> Contrast:
    """Return the maximum calibration error of the example in the code's documentation."""
    example = [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.4, 0.1, 0.5], [0.1, 0.3, 0.6]], [0, 1, 1, 2]
    measures = calibration.maximum_calibration_error, calibration.largest_weighted_gap
    return contrast("weighted_gap", (measure(*example) for measure in measures))


def lost_zero() -> Contrast:
    """Return the static calibration error if a probability of 0 is in the first bin, and if it is in none."""
    sharp = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [0, 1, 1, 1]
    kept = calibration.static_calibration_error(*sharp, zeros="first bin")
    return contrast("lost_zero", (kept, calibration.static_calibration_error(*sharp, zeros="dropped")))


def short_impressions() -> Contrast:
    """Return BLEU-4 of a text of three words against itself."""
    text = "No acute process."
    return contrast("short_impressions", (1.0, bleu.sentence_bleu([text], [text])[0]), text=text)


def procedure_texts() -> _Shown:
    """Return an indication and the procedure titles of two headers, as intended and as the released
    code extracts them."""
    report = (
        "HEAD CT WITHOUT CONTRAST. INDICATION: fall. COMPARISON: none. FINDINGS: acute subdural hematoma."
    )
    headers = ["CT HEAD W/O CONTRAST   CT CHEST W/CONTRAST", "CT HEAD W/O CONTRAST   CT 3D RECON"]
    rows = {"indication": {rule: demo.indication(report, rule) for rule in _RULES}}
    for header in headers:
        titles = {rule: "; ".join(demo.title_pieces(header, rule)) or "none" for rule in _RULES}
        rows[f"titles in “{header}”"] = titles
    lengths = map(len, rows["indication"].values())
    return pd.DataFrame(rows).T, contrast("procedure_texts", lengths)


def findings_after_impression() -> Contrast:
    """Return a contrast: the share of the impression's words that the findings section contains, as meant
    and as the released code cuts it, if the findings follow the impression."""
    names = ["preamble", "indication", "impression", "findings"]
    texts = ["ct head", "fall", "no acute hemorrhage", "the ventricles are normal in size"]
    findings_by_rule = {rule: demo.findings_section(names, texts, rule) for rule in _RULES}
    impression_words = set(texts[names.index("impression")].split())
    contained = (impression_words & set(text.split()) for text in findings_by_rule.values())
    return contrast("findings_after_impression", (len(words) / len(impression_words) for words in contained))


def levels_example() -> list[tuple[list[tuple[str, str]], list[tuple[int, str, int]]]]:
    """Return entities and relations of the example of MIMIC-RRS, A.2, and of one candidate for it."""
    words = ["mild", "fluid", "overload", "overt", "pulmonary", "edema"]
    labels = ["obs-dp", "obs-dp", "obs-dp", "obs-da", "anat-dp", "obs-da"]
    entities = list(zip(words, labels, strict=True))
    edges = [(0, "modify", 2), (2, "modify", 1), (5, "located_at", 4)]
    return [(entities, edges), ([("Mild", "obs-dp"), *entities[1:]], [*edges, (3, "modify", 5)])]


def radgraph_levels() -> Contrast:
    """Return F1-RadGraph of :func:`levels_example`, by the level of the paper and by *complete*."""
    reference, candidate = (radgraph.build_graph(*graph) for graph in levels_example())
    levels: tuple[radgraph.Level, ...] = ("partial", "complete")
    scores = [radgraph.compare(reference, candidate, level, "relations").f1 for level in levels]
    return contrast("radgraph_levels", scores)


def report_counts() -> Contrast:
    """Return reports of MIMIC-III by the paper and by its notebook."""
    stated = quoted("rrs.claim_size")["mimic_iii"].value
    counted = float(released("mimic_rrs_counts")["suitable"].sum())
    return contrast("report_counts", (stated, counted))
