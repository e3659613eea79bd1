"""The study: runs, cells, checks, recorded results, audit, scorecard, and what pages show of them.

Names are looked up when first used: a cell, which needs only runs, does not depend on what pages show.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "radeval_lib.papers.exhibits": "PAPERS exhibit ledger",
    "radeval_lib.papers.printed_numbers": "Printed by_name cell parse printed quoted wide",
    "radeval_lib.papers.rounding": "f1 rounding_range",
    "radeval_lib.stats.estimates": "Estimate",
    "radeval_lib.study.checks": "Check above check_bounds check_groups check_statement check_value",
    "radeval_lib.study.display": "not_attempted provenance quote show_checks",
    "radeval_lib.study.page_runs": "OpenExhibit PageRun begin",
    "radeval_lib.study.phrases": "glue phrase",
    "radeval_lib.study.results": "Result read_all record recorded",
    "radeval_lib.study.runs": "Run",
    "radeval_lib.study.scorecards": "audit scorecard totals",
    "radeval_lib.study.superiority": "Lead check_no_deficit check_superiority unknown_lead",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
