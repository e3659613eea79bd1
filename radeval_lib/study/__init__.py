"""The study: exhibits, printed numbers, checks, recorded results, provenance, audit and scorecard."""

from radeval_lib.papers.exhibits import PAPERS, exhibit, ledger
from radeval_lib.papers.printed_numbers import Printed, by_name, cell, parse, printed, quoted, wide
from radeval_lib.papers.rounding import Estimate, f1, rounding_range
from radeval_lib.study.checks import Check, check_groups, check_statement, check_value
from radeval_lib.study.display import not_attempted, provenance, quote, show_checks
from radeval_lib.study.results import Result, read_all, record
from radeval_lib.study.runs import Run, begin
from radeval_lib.study.scorecards import audit, scorecard, totals
from radeval_lib.study.superiority import Lead, check_no_deficit, check_superiority

__all__ = [
    "PAPERS",
    "Check",
    "Estimate",
    "Lead",
    "Printed",
    "Result",
    "Run",
    "audit",
    "begin",
    "by_name",
    "cell",
    "check_groups",
    "check_no_deficit",
    "check_statement",
    "check_superiority",
    "check_value",
    "exhibit",
    "f1",
    "ledger",
    "not_attempted",
    "parse",
    "printed",
    "provenance",
    "quote",
    "quoted",
    "read_all",
    "record",
    "rounding_range",
    "scorecard",
    "show_checks",
    "totals",
    "wide",
]
