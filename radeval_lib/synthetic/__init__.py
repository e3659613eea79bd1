"""Synthetic radiology reports with complete gold truth, controlled errors, rewrites and simulated raters.

A report is drawn as a meaning (findings with place, side, severity, size, certainty and change; denials;
normal statements) and then said in words, so that every annotation is exact by construction and an error can
be made in the meaning alone. See ``lexicon/README.md`` for what the generator knows, and :mod:`.grammar` for
the rules of annotation.

>>> from radeval_lib import synthetic
>>> report = next(synthetic.generate(1, seed=0, modality_anatomy=("X-Ray", "CHEST")))
>>> pair = synthetic.inject(report, {("a", True): 1})
>>> [error.category for error in pair.errors]
['a']
"""

from radeval_lib.data.categories import RATE_TYPES
from radeval_lib.lexicon.entries import CHEXPERT
from radeval_lib.lexicon.markup import tokenize
from radeval_lib.synthetic.answers import green_answer, matched_words
from radeval_lib.synthetic.difference import CATEGORIES, GoldError, ReportDifference, compare
from radeval_lib.synthetic.export import (
    iob,
    json_line,
    radgraph_json,
    report_json,
    span_document,
    write_jsonl,
)
from radeval_lib.synthetic.generator import (
    MIMIC_RRS_PAIRS,
    MIMIC_RRS_TRAINED,
    generate,
    modality_anatomies,
    report_at,
)
from radeval_lib.synthetic.pairings import HEURISTICS, SyntheticPair, green_pairs
from radeval_lib.synthetic.planted_errors import ErrorPair, error_pairs, feasible, inject
from radeval_lib.synthetic.raters import PERFECT, Rater, SimulatedRating, panel, rate, rate_all
from radeval_lib.synthetic.records import (
    RADGRAPH_LABELS,
    RADGRAPH_RELATIONS,
    STYLES,
    AnnotatedText,
    Denial,
    Normal,
    PlannedFinding,
    RadGraphEntity,
    RateEntity,
    Remark,
    Sentence,
    SpatialRelation,
    Statement,
    SyntheticError,
    SyntheticReport,
)
from radeval_lib.synthetic.rewrites import RewrittenReport, opposite, rewrite, triad

__all__ = [
    "CATEGORIES",
    "CHEXPERT",
    "HEURISTICS",
    "MIMIC_RRS_PAIRS",
    "MIMIC_RRS_TRAINED",
    "PERFECT",
    "RADGRAPH_LABELS",
    "RADGRAPH_RELATIONS",
    "RATE_TYPES",
    "STYLES",
    "AnnotatedText",
    "Denial",
    "ErrorPair",
    "GoldError",
    "Normal",
    "PlannedFinding",
    "RadGraphEntity",
    "RateEntity",
    "Rater",
    "Remark",
    "ReportDifference",
    "RewrittenReport",
    "Sentence",
    "SimulatedRating",
    "SpatialRelation",
    "Statement",
    "SyntheticError",
    "SyntheticPair",
    "SyntheticReport",
    "compare",
    "error_pairs",
    "feasible",
    "generate",
    "green_answer",
    "green_pairs",
    "inject",
    "iob",
    "json_line",
    "matched_words",
    "modality_anatomies",
    "opposite",
    "panel",
    "radgraph_json",
    "rate",
    "rate_all",
    "report_at",
    "report_json",
    "rewrite",
    "span_document",
    "tokenize",
    "triad",
    "write_jsonl",
]
