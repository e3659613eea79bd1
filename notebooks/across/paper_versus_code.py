"""Small examples for which a paper and its released code differ, described in ``contrasts.yml``.

A *contrast* compares two values of one quantity: the *stated* value, which follows from the paper, and the
*released* value, which the released code gives. The functions reimplement the released code.
"""

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

# The kinds of contrasts, which contrasts.yml defines.
CONTRADICTS, SLIP, NUMBER, OPEN = "contradicts", "slip", "number", "open"
_DESCRIPTIONS = {
    name: (paper, description)
    for paper, contrasts in own_yaml.read(Path(__file__).with_name("contrasts.yml")).items()
    for name, description in contrasts.items()
}


@dataclass(frozen=True)
class Contrast:
    """A difference between a paper and its released code, with two values of one quantity.

    Attributes
    ----------
    name : the key in ``contrasts.yml``.
    paper : the paper whose code differs.
    difference : what differs, in a few words.
    quantity : what the two values measure.
    stated : the value that the paper, a formula or the documentation gives.
    released : the value that the code gives.
    basis : the source of ``stated``, or the condition under which it holds.
    kind : :data:`CONTRADICTS`, :data:`SLIP`, :data:`NUMBER` or :data:`OPEN`.
    """

    name: str
    paper: str
    difference: str
    quantity: str
    stated: float
    released: float
    basis: str
    kind: str

    def format(self, value: float) -> str:
        """Return a number as text: without decimals if both values of the contrast are integers, otherwise
        with three."""
        are_integers = float(self.stated).is_integer() and float(self.released).is_integer()
        return f"{value:,.{0 if are_integers else 3}f}"


def contrast(name: str, values: Iterable[float], **words: object) -> Contrast:
    """Combine the description of a contrast with its two values.

    Parameters
    ----------
    name : the key of the contrast in ``contrasts.yml``.
    values : the stated value, then the released one.
    words : a value for each name in braces in the description of the quantity.
    """
    paper, (difference, quantity, basis, kind) = _DESCRIPTIONS[name]
    stated, released_value = values
    return Contrast(name, paper, difference, quantity.format(**words), stated, released_value, basis, kind)


def tabulate_contrasts(contrasts: Iterable[Contrast], packages: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one row per contrast.

    Parameters
    ----------
    contrasts : the contrasts, in the order of the rows.
    packages : results of released packages, from ``released("packages")``.

    Returns
    -------
    DataFrame
        Columns of text: ``paper``, ``difference``, ``example`` (the quantity), ``stated``, ``code``,
        ``released package`` (its result, version and date, or – if it was not run) and ``kind``. The boolean
        column ``differs`` says whether the two values differ.
    """
    results = {row.difference: row for row in packages.itertuples()}
    return pd.DataFrame(
        [
            {
                "paper": item.paper,
                "difference": item.difference,
                "example": item.quantity,
                "stated": f"{item.format(item.stated)} ({item.basis})",
                "code": item.format(item.released),
                "released package": "–"
                if (row := results.get(item.name)) is None
                else f"{item.format(row.value)} ({row.package} {row.version}, {row.date})",
                "kind": item.kind,
                "differs": item.stated != item.released,
            }
            for item in contrasts
        ]
    )


IRREGULAR = re.sub(r": (\d)\.", r": \1", green_analysis.render((2, 1, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), 2))
"""A judge's answer in which the counts lack the periods that GREEN's released parser searches for."""
_TableAndContrast = tuple[pd.DataFrame, Contrast]
_Entities = Sequence[tuple[str, str]]  # The name and the type of each entity.

AKLU_CLASSES = 46
"""Number of classes of RaLEs' procedure task according to the main text; the appendix counts one fewer."""

# The code as its authors meant it, and as they released it.
_RULES_OF_CODE: tuple[Literal["meant"], Literal["released"]] = ("meant", "released")
# Reference entities, candidate entities and their cosine similarities.
_MUTUAL_MATCHES = (
    [("Foley catheter", "ANATOMY"), ("in situ", "NON-ABNORMALITY")],
    [("Foley catheter", "ANATOMY"), ("not in place", "ABNORMALITY")],
    np.array([[1.0, 0.0], [0.0, 0.83]]),
)
_ONE_SIDED_MATCHES = (
    [("pneumonia", "DISEASE"), ("right base", "ANATOMY")],
    [("opacity", "ABNORMALITY"), ("infiltrate", "DISEASE")],
    np.array([[0.7, 0.9], [0.4, 0.3]]),
)


def _score(
    reference: _Entities, candidate: _Entities, cosines: Any, weights: str = "long", /, **changes: str
) -> float:
    """Return the RaTEScore of two lists of entities, with the released options except for ``changes``."""
    scorer = ratescore.Scorer(weights, ratescore.options("released", **changes))
    return scorer.score(reference, candidate, np.array(cosines, dtype=float)).score


def _compare_settings(
    pairs: Mapping[str, tuple[_Entities, _Entities, Any]], option: str, rules: Mapping[str, str]
) -> pd.DataFrame:
    """Return the RaTEScore of pairs of entity lists under several settings of one option.

    The table has one row per pair and set of weights (``long`` or ``short``), and one column per setting.

    Parameters
    ----------
    pairs : a mapping from the name of a pair to its reference entities, candidate entities and their cosine
        similarities.
    option : name of the option; see :func:`radeval_lib.metrics.ratescore.options`.
    rules : a mapping from the name of a column to the setting of the option.
    """
    rows = {
        f"{name}, {weights}": {
            column: _score(*pair, weights, **{option: rule}) for column, rule in rules.items()
        }
        for name, pair in pairs.items()
        for weights in ("long", "short")
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def compare_penalties() -> _TableAndContrast:
    """Compare RaTEScore's penalties for mismatched types according to the paper and in the code.

    Return a table of scores of pairs of single entities, with the columns ``paper`` (every mismatch is
    penalized) and ``code``, and the contrast for a disease matched with an abnormality.
    """
    pairs = {
        f"disease v {kind}": ([("pneumonia", "DISEASE")], [("consolidation", kind.upper())], [[0.8]])
        for kind in ("abnormality", "non-disease", "disease")
    }
    frame = _compare_settings(pairs, "penalty", {"paper": "any_mismatch", "code": "cross_polarity"})
    return frame, contrast("mismatch_penalty", frame.loc["disease v abnormality, short"])


def compare_empty_report() -> Contrast:
    """Return the contrast in RaTEScore for a candidate without entities and a reference with one entity."""
    scores = [_score([("pneumonia", "DISEASE")], [], [[]], empty=rule) for rule in ("zero", "half")]
    return contrast("empty_report", scores)


def _compute_overlap(reference: list[str], candidate: list[str]) -> float:
    """Return the Dice coefficient of two texts' sets of words (0 to 1).

    Each text is a list of sentences. At least one text must have a word.
    """
    left, right = (set(" ".join(lines).lower().split()) for lines in (reference, candidate))
    return 2 * len(left & right) / (len(left) + len(right))


def compare_shifted_pairs() -> tuple[Contrast, Contrast]:
    """Return the contrasts in the number of scores and in their mean if the code drops one of five texts."""
    reports = ["Heart size is normal.", "Small left effusion.", "No acute process.", "Right basal opacity."]
    references = [[line] for line in [*reports, "Lines in place."]]
    candidates = [["OK"] if line == ["Small left effusion."] else line for line in references]
    meant_scores = [_compute_overlap(*pair) for pair in zip(references, candidates, strict=True)]
    scores = [_compute_overlap(*pair) for pair in demo.pair_sentences_as_released(references, candidates)]
    in_number = contrast("shifted_pairs", (len(meant_scores), len(scores)))
    return in_number, contrast("shifted_mean", (float(np.mean(meant_scores)), float(np.mean(scores))))


def compare_orientations() -> _TableAndContrast:
    """Return RaTEScore for both orders of the types in the weight matrix W, and the contrast between them.

    The table has rows for mutual matches and for matches that are not mutual; the contrast is for the latter.
    """
    pairs = {"mutual matches (A.1)": _MUTUAL_MATCHES, "matches not mutual": _ONE_SIDED_MATCHES}
    readings = {"W[match, query]": "match_first", "W[query, match] (code)": "query_first"}
    frame = _compare_settings(pairs, "orientation", readings)
    return frame, contrast("orientation", frame.loc["matches not mutual, short"])


def compare_example_a1() -> Contrast:
    """Return the contrast between the printed score of Example A.1 and the code's default score."""
    values = printed("ratescore.example_a1").query("quantity == 'score'").set_index("direction")["value"]
    return contrast("example_a1", (values["both"], _score(*_MUTUAL_MATCHES, "long")))


def compare_irregular_answers() -> Contrast:
    """Return the contrast in GREEN score between the meaning of :data:`IRREGULAR` and its released parse."""
    parsed = green.parse(IRREGULAR)
    return contrast("irregular_answers", (green.compute_green_score(2, 3), parsed.score or 0.0))


def compare_cluster_search(rng: np.random.Generator, repeats: int) -> _TableAndContrast:
    """Simulate how often the released search finds the number of clusters with the best silhouette.

    Return the share of ``repeats`` simulations in which it does, for each number of sentences, and the
    contrast for twenty sentences. Each simulated silhouette has one peak, with noise.
    """
    shares = {}
    for sentences in (5, 8, 12, 20, 40):
        hits, ks = 0, np.arange(2, sentences)
        for _ in range(repeats):
            peak = rng.integers(2, sentences)
            heights = -np.abs(ks - peak) / sentences + rng.normal(0, 0.02, len(ks))
            silhouette = dict(zip(ks.tolist(), heights.tolist(), strict=True))
            hits += demo.search_cluster_number(silhouette, sentences) == ks[heights.argmax()]
        shares[sentences] = hits / repeats
    frame = pd.DataFrame({"sentences": list(shares), "search finds the best k": list(shares.values())})
    return frame, contrast("cluster_search", (1.0, shares[20]))


def compare_aklu_bound() -> Contrast:
    """Return the contrast between RaLEs' formula and its Table 7 in the aKLU of the table's first model.

    The formula has the bound log K.
    """
    table7, bound = wide(printed("rales.table7"), "model", "metric"), float(np.log(AKLU_CLASSES))
    first = table7.iloc[0]
    return contrast("aklu_bound", (bound - first["aPE"], first["aKLU"]), model=table7.index[0])


def compare_weighted_gap() -> Contrast:
    """Return the contrast in maximum calibration error (MCE) if each gap is weighted by the size of its bin.

    The predictions are the example in the code's documentation.
    """
    example = [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.4, 0.1, 0.5], [0.1, 0.3, 0.6]], [0, 1, 1, 2]
    measures = calibration.maximum_calibration_error, calibration.largest_weighted_gap
    return contrast("weighted_gap", (measure(*example) for measure in measures))


def compare_lost_zero() -> Contrast:
    """Return the contrast in the static calibration error (SCE) between assigning probabilities of 0 to the
    first bin and leaving them out."""
    predictions = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [0, 1, 1, 1]
    sce = calibration.static_calibration_error(*predictions, zeros="first bin")
    return contrast("lost_zero", (sce, calibration.static_calibration_error(*predictions, zeros="dropped")))


def compare_short_impressions() -> Contrast:
    """Return the contrast between 1 and the BLEU-4 of a three-word text against itself, which should be 1."""
    text = "No acute process."
    return contrast("short_impressions", (1.0, bleu.sentence_bleu([text], [text])[0]), text=text)


def compare_procedure_texts() -> _TableAndContrast:
    """Compare the texts that the code means to extract for the procedure task with those that it extracts.

    Return a table of an indication and of the procedure titles in two headers (rows), as meant and as
    released (columns), and the contrast in the length of the indication, in characters.
    """
    report = (
        "HEAD CT WITHOUT CONTRAST. INDICATION: fall. COMPARISON: none. FINDINGS: acute subdural hematoma."
    )
    headers = ["CT HEAD W/O CONTRAST   CT CHEST W/CONTRAST", "CT HEAD W/O CONTRAST   CT 3D RECON"]
    rows = {"indication": {rule: demo.cut_reason(report, rule) for rule in _RULES_OF_CODE}}
    for header in headers:
        titles = {rule: "; ".join(demo.split_titles(header, rule)) or "none" for rule in _RULES_OF_CODE}
        rows[f"titles in “{header}”"] = titles
    lengths = map(len, rows["indication"].values())
    return pd.DataFrame(rows).T, contrast("procedure_texts", lengths)


def compare_findings_section() -> Contrast:
    """Return the contrast in the share of the impression's words that the extracted findings contain.

    The findings follow the impression. They are extracted once as intended and once as in the released code.
    """
    names = ["preamble", "indication", "impression", "findings"]
    texts = ["ct head", "fall", "no acute hemorrhage", "the ventricles are normal in size"]
    findings_by_rule = {rule: demo.cut_findings(names, texts, rule) for rule in _RULES_OF_CODE}
    impression_words = set(texts[names.index("impression")].split())
    overlaps = (impression_words & set(text.split()) for text in findings_by_rule.values())
    return contrast("findings_after_impression", (len(words) / len(impression_words) for words in overlaps))


def make_levels_example() -> list[tuple[list[tuple[str, str]], list[tuple[int, str, int]]]]:
    """Return two graphs: the reference in Appendix A.2 of MIMIC-RRS, and our own candidate.

    The candidate differs by a capital letter and one more relation. A graph is a list of (word, label) and a
    list of (entity number, relation, entity number).
    """
    words = ["mild", "fluid", "overload", "overt", "pulmonary", "edema"]
    labels = ["obs-dp", "obs-dp", "obs-dp", "obs-da", "anat-dp", "obs-da"]
    entities = list(zip(words, labels, strict=True))
    edges = [(0, "modify", 2), (2, "modify", 1), (5, "located_at", 4)]
    return [(entities, edges), ([("Mild", "obs-dp"), *entities[1:]], [*edges, (3, "modify", 5)])]


def compare_radgraph_levels() -> Contrast:
    """Return the contrast in F1-RadGraph between the paper's level of matching, *partial*, and the level
    *complete*, for the two graphs of :func:`make_levels_example`."""
    reference, candidate = (radgraph.build_graph(*graph) for graph in make_levels_example())
    levels: tuple[radgraph.Level, ...] = ("partial", "complete")
    scores = [radgraph.compare(reference, candidate, level, "relations").f1 for level in levels]
    return contrast("radgraph_levels", scores)


def compare_report_counts() -> Contrast:
    """Return the contrast between the number of reports from MIMIC-III in the paper and in its authors'
    notebook."""
    stated = quoted("rrs.claim_size")["mimic_iii"].value
    counted = float(released("mimic_rrs_counts")["suitable"].sum())
    return contrast("report_counts", (stated, counted))
