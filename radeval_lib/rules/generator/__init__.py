"""Generates radiology reports with complete gold annotations, planted errors and rewrites.

A report is first drawn as a meaning (findings with place, side, severity, size, certainty and change;
denials; normal statements) and then worded, so that every annotation is exact by construction, and an error
can be planted in the meaning alone. ``lexicon/README.md`` describes the generator's vocabulary, and
:mod:`.grammar` the rules of annotation.

>>> from radeval_lib.rules import generator
>>> report = next(generator.generate(1, seed=0, modality_anatomy=("X-Ray", "CHEST")))
>>> pair = generator.inject(report, [("a", True)])
>>> [error.category for error in pair.errors]
['a']
"""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.rules.generator.difference": "CATEGORIES GoldError ReportDifference compare green_answer",
    "radeval_lib.rules.generator.generator": (
        "MIMIC_RRS_PAIRS MIMIC_RRS_TRAINED generate opposite report_at rewrite triad"
    ),
    "radeval_lib.rules.generator.pairings": "HEURISTICS green_pairs",
    "radeval_lib.rules.generator.planted_errors": "ErrorPair error_pairs inject",
    "radeval_lib.rules.generator.records": (
        "STYLES AnnotatedText Denial Normal PlannedFinding Remark Statement SyntheticError SyntheticReport"
    ),
    "radeval_lib.rules.lexicon.entries": "CHEXPERT tokenize",
}
__getattr__ = import_on_use(__name__, _HOMES)
