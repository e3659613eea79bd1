"""Runs of pages: what a run can do, and exhibits as objects that take checks, show and record themselves.

Cells, which show nothing, begin at :func:`radeval_lib.study.runs.begin_cell` and depend on none of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

import pandas as pd
from IPython.display import HTML, display

from radeval_lib.papers.exhibits import exhibit
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study import checks, headlines, results, runs, superiority, verdicts
from radeval_lib.study.cells import Value
from radeval_lib.study.checks import Check
from radeval_lib.study.display import exhibit_html
from radeval_lib.study.results import Result


class PageRun(runs.Run):
    """One run of one page: a run that rebuilds exhibits."""

    def exhibit(
        self,
        exhibit_id: str,
        evidence: str,
        stand_in: str = "",
        *,
        remaining: str | None = None,
    ) -> OpenExhibit:
        """An exhibit of this page, to be used in a ``with`` block that makes its checks.

        At the end of the block the exhibit shows its verdict and its checks, and is recorded; where the block
        fails, nothing is.

        Parameters
        ----------
        exhibit_id : of the ledger, e.g. ``rales.table3``.
        evidence : what the computed side rests on, one of :data:`~radeval_lib.study.verdicts.EVIDENCE`. On
            ``synthetic`` the block is an experiment of our own: checks are made, for errors show there too,
            but neither shown nor recorded.
        stand_in : what stands in for the paper's own data or models; both as :meth:`Run.basis` has them.
        remaining : what of the exhibit is not checked, where the build decides it; default: what the ledger
            says under ``remaining``.

        Raises
        ------
        LedgerError, ResultError
            Where the ledger has no such exhibit, or gives it to another page.
        """
        return OpenExhibit(self, exhibit_id, evidence, stand_in, remaining)

    def experiment(self, exhibit_id: str, used: str, table: pd.DataFrame | None = None) -> None:
        """Record an exhibit that this study can only rebuild as an experiment of its own.

        Parameters
        ----------
        exhibit_id : as in :meth:`exhibit`.
        used : what stands in for the paper's data and models.
        table : the rebuilt table, for readers of the file.
        """
        with self.exhibit(exhibit_id, "synthetic", used) as rebuilt:
            rebuilt.rebuilt = table

    def headline(self, name: str, *, evidence: str, holds: bool | None, **texts: str) -> None:
        """Hand the numbers of a finding to the front page: :func:`radeval_lib.study.headlines.hand_over`."""
        headlines.hand_over(self, name, evidence=evidence, holds=holds, texts=texts)


class OpenExhibit:
    """An exhibit while a page rebuilds it; made by :meth:`PageRun.exhibit`."""

    def __init__(
        self,
        run: PageRun,
        exhibit_id: str,
        evidence: str,
        stand_in: str = "",
        remaining: str | None = None,
    ) -> None:
        results.check_owner(run, exhibit_id)
        self.run, self.id, self.evidence = run, exhibit_id, evidence
        self.stand_in = stand_in
        self.remaining = exhibit(exhibit_id).remaining_on(evidence) if remaining is None else remaining
        self.checks: list[Check] = []
        self.rebuilt: pd.DataFrame | None = None
        self.result: Result | None = None

    def __enter__(self) -> OpenExhibit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            judged = verdicts.kind(self.evidence, self.stand_in) != verdicts.EXPERIMENT
            if not judged and self.rebuilt is None and self.checks:
                found = [(check.name, check.computed) for check in self.checks]
                self.rebuilt = pd.DataFrame(found, columns=["what", "found"])
            self.result = results.record(
                self.run,
                self.id,
                evidence=self.evidence,
                checks=self.checks if judged else (),
                remaining=self.remaining if judged else "",
                stand_in=self.stand_in,
                table=self.rebuilt,
            )
            display(HTML(exhibit_html(self.result)))

    def add(self, made: Check | Iterable[Check]) -> list[Check]:
        """Take checks that a function of the library made."""
        new = [made] if isinstance(made, Check) else list(made)
        self.checks += new
        return new

    def value(
        self,
        name: str,
        printed: Printed | str,
        computed: Estimate | float,
        decimals: int | None = None,
        *,
        possible: tuple[float, float] | None = None,
    ) -> Check:
        """Check a printed number: :func:`radeval_lib.study.checks.check_value`."""
        return self.add(checks.check_value(name, printed, computed, decimals, possible=possible))[0]

    def states(self, name: str, claim: str, finding: str, holds: bool | None) -> Check:
        """Check a claim in words: :func:`radeval_lib.study.checks.check_statement`."""
        return self.add(checks.check_statement(name, claim, finding, holds))[0]

    def leads(
        self, name: str, claim: str, values: Mapping[str, Printed | float], **settings: Any
    ) -> list[Check]:
        """Check a claim of superiority: :func:`radeval_lib.study.superiority.check_superiority`."""
        return self.add(superiority.check_superiority(name, claim, values, **settings))

    def groups(self, frame: pd.DataFrame, **settings: Any) -> list[Check]:
        """Check one printed cell a group: :func:`radeval_lib.study.checks.check_groups`."""
        return self.add(checks.check_groups(frame, **settings))

    def table(self, rebuilt: pd.DataFrame) -> None:
        """Keep the rebuilt table with the result, for readers of the file."""
        self.rebuilt = rebuilt


def begin(
    notebook: str,
    *,
    profile: str,
    seed: int,
    output_dir: str = "",
    data_root: str = "",
    **parameters: Value,
) -> PageRun:
    """Start the run of a page: :func:`radeval_lib.study.runs.begin_cell`, of a run that rebuilds exhibits."""
    return runs.begin_cell(
        notebook,
        profile=profile,
        seed=seed,
        output_dir=output_dir,
        data_root=data_root,
        kind=PageRun,
        **parameters,
    )
