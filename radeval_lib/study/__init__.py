"""The study: runs, jobs, checks, stored results, audit, scorecard, and displays on pages.

Names are imported on first use, so that a job, which needs only runs, does not depend on what pages show.
"""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.papers.exhibits": "PAPERS exhibit ledger",
    "radeval_lib.papers.printed_numbers": "Printed index_cells cells_in cell parse printed quotations quoted"
    " released rounding_range texts wide",
    "radeval_lib.stats.base": "Estimate f1",
    "radeval_lib.study.checks": "Check Key above below by_reading check_bounds check_groups check_one_sided"
    " check_setting check_statement check_value",
    "radeval_lib.study.page_runs": "OpenExhibit PageRun begin glue metric_label only_with_data phrase"
    " provenance show_attempts show_quotes",
    "radeval_lib.study.results": "Result Sample read_all record all_results",
    "radeval_lib.study.runs": "Run begin_job",
    "radeval_lib.study.scorecards": "audit disagreeing_checks scorecard",
    "radeval_lib.study.superiority": "Lead check_no_deficit check_superiority unknown_leads",
    "radeval_lib.study.verdicts": "CHECK_OUTCOMES",
}
__getattr__ = import_on_use(__name__, _HOMES)
