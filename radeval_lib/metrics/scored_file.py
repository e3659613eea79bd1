"""What is reported of a scored file as its blocks come: means, cautions, errors by kind, explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from radeval_lib.errors import plain
from radeval_lib.metrics import table_files
from radeval_lib.metrics.base import MetricError, Score
from radeval_lib.metrics.blocks import Block, ScoredBlock
from radeval_lib.metrics.cautions import Cautions
from radeval_lib.metrics.choosing import Chosen
from radeval_lib.metrics.error_profile import ErrorCounts
from radeval_lib.metrics.report import ScorePage

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 2_000
"""Of the intervals of the error profile."""


@dataclass
class ScoredFile:
    """What was scored, and what is reported about it.

    Attributes
    ----------
    chosen : the metrics that scored, and why others did not.
    rows : that were scored; ``kept`` of them had scores from an interrupted run, some of which may have been
        ``damaged`` and are new.
    means : of each column of scores, for ``all`` rows and for each ``group <name>``.
    cautions : what a reader should know, one line each.
    signatures : by metric.
    profile : errors by kind, see :func:`radeval_lib.metrics.error_profile.profile`; None where no metric
        counts any, or nothing was explained.
    coverage : mean share of the texts that the rules could read, from 0 to 1; None where nothing was
        explained.
    """

    chosen: Chosen
    rows: int = 0
    kept: int = 0
    damaged: bool = False
    means: dict[str, dict[str, float]] = field(default_factory=dict)
    cautions: list[str] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    profile: pd.DataFrame | None = None
    coverage: float | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _covered: int = 0

    def add(self, group: str | None, columns: Mapping[str, float]) -> None:
        """Add a row: its group if there are groups, its scores by column."""
        self.rows += 1
        for part in ("",) if group is None else ("", f"group {group}"):
            count = self._counts[part] = self._counts.get(part, 0) + 1
            means = self.means.setdefault(part or "all", {})
            for column, value in columns.items():
                means[column] = (old := means.get(column, 0.0)) + (value - old) / count

    def add_coverage(self, share: float | None) -> None:
        """Add the share of a pair that the rules could read."""
        if share is not None:
            self._covered += 1
            self.coverage = (old := self.coverage or 0.0) + (share - old) / self._covered


class Collector:
    """Passes the results of blocks on to explanations, the page, and all that is reported about the file.

    Parameters
    ----------
    scored : what is reported; it grows with each block.
    content : what the file holds.
    explained : whether results have explanations.
    lines : where explanations are written, if anywhere.
    page : the page about the scores, if there is one.
    """

    def __init__(
        self,
        scored: ScoredFile,
        content: table_files.FileContent,
        explained: bool,
        lines: Sequence[TextIO],
        page: ScorePage | None,
    ) -> None:
        self.scored, self.content, self.explained = scored, content, explained
        self.lines, self.page = lines, page
        self.metrics = scored.chosen.metrics
        self.cautions, self.errors = Cautions(self.metrics), ErrorCounts()
        rules = (name for name, one in self.metrics.items() if one.by_rules and one.reads_context())
        self.counting = next(rules, "")
        """The metric whose errors the profile counts; empty where there is none."""

    def rows(
        self, rows: Sequence[table_files.Row], block: Block, result: ScoredBlock
    ) -> Iterator[tuple[table_files.Row, dict[str, float]]]:
        """Each row of a block with its columns of scores."""
        candidates = self.content.candidates
        for at, row in enumerate(rows):
            columns: dict[str, float] = {}
            for place, column in enumerate(candidates, start=at * len(candidates)):
                scores = {name: result.scores[name][place] for name in self.metrics}
                values = {name: one.value for name, one in scores.items()}
                columns |= {table_files.score_column(name, column): one for name, one in values.items()}
                self._note(row, block.first + at, block.pairs[place], column, scores)
                if self.explained:
                    explanation, share = result.explained[place]
                    self._explain(block.pairs[place], column, values, explanation, share)
            yield row, columns
            self.scored.add(_group(row, self.content), columns)
        self.scored.kept += len(rows) if result.kept >= self.metrics.keys() else 0
        self.scored.damaged |= result.damaged

    def _note(
        self,
        row: table_files.Row,
        number: int,
        pair: tuple[str, str],
        column: str,
        scores: Mapping[str, Score],
    ) -> None:
        """Cautions, and the errors that the profile counts, by case where the row names one."""
        system = table_files.system_of(column)
        self.cautions.add(system, number, pair, {name: one.cautions for name, one in scores.items()})
        if self.explained and self.counting in self.metrics:
            named = next((name for name in table_files.CASES if name in self.content.columns), None)
            case = number if named is None else row.get(named)
            if case is None or not str(case).strip():
                remedy = "Name the case of every row, or leave the column out."
                raise MetricError("no case", f"row {number}", remedy)
            self.errors.add(system, str(case), scores[self.counting].errors)

    def _explain(
        self,
        pair: tuple[str, str],
        column: str,
        values: dict[str, float],
        explanation: str,
        share: float | None,
    ) -> None:
        self.scored.add_coverage(share)
        for stream in self.lines:
            stream.write(f"{explanation}\n")
        if self.page is not None:
            self.page.add(pair, column, values, explanation, self.metrics)

    def finish(self) -> None:
        """Report what was noted of all blocks."""
        self.scored.cautions = self.cautions.lines()
        if self.errors:
            self.scored.profile = self.errors.profile(resamples=RESAMPLES, seed=0)


def _group(row: table_files.Row, content: table_files.FileContent) -> str | None:
    if table_files.GROUP not in content.columns:
        return None
    value = row.get(table_files.GROUP)
    return "without a name" if value is None or not str(value).strip() else plain(str(value), 60)
