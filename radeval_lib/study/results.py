"""Results that pages write as JSON files: exhibits with their verdicts, and findings for the front page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite, isnan
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter

from radeval_lib import atomic, checksums, own_yaml
from radeval_lib.errors import RadevalError, ResultError, to_line
from radeval_lib.papers.exhibits import exhibit, find_file, find_level, ledger, load_paper
from radeval_lib.papers.printed_numbers import list_legible_cells
from radeval_lib.paths import MANIFESTS, display_path
from radeval_lib.study import verdicts
from radeval_lib.study.checks import Check, Key
from radeval_lib.study.runs import Run
from radeval_lib.study.sources import ALL
from radeval_lib.study.verdicts import FAILS, HOLDS, INCONCLUSIVE, Coverage, Evidence, Implementation, Verdict

OPEN_CONVENTION = "convention"
DISCREPANCY_KINDS = ("paper", "text", OPEN_CONVENTION, "rounding")
SEVERITIES = ("conclusion", "number", "slip")
"""The severities of a discrepancy, gravest first: a conclusion of the paper does not follow; a printed number
cannot be right; a citation or a word is wrong."""
_HARMLESS_KINDS = (OPEN_CONVENTION, "text")
_REMEDY = "Remove the folder of this file, and run its page again, or `radbook build` with its profile."
_FORMAT = 10
OWN_SUFFIX = "-own"
"""The suffix of the names of results with our implementation."""


@dataclass(frozen=True)
class Discrepancy:
    """The explanation of one or more failed checks, from ``discrepancies`` in ``paper.yml``.

    Attributes
    ----------
    kind : one of :data:`DISCREPANCY_KINDS`.
    explanation : why the checks fail, in one or two sentences.
    severity : the severity, one of :data:`SEVERITIES`.
    reply : the authors' answer.
    """

    kind: Annotated[str, verdicts.require_one_of(DISCREPANCY_KINDS)]
    explanation: str
    severity: Annotated[str, verdicts.require_one_of(SEVERITIES)]
    reply: str = "not asked"


@dataclass(frozen=True)
class Sample:
    """The independent cases on which a result's intervals and leads rest.

    Attributes
    ----------
    n : the number of cases.
    cases : the name of the cases, in the plural: ``report pairs``, ``patients``, ``models``.
    trainings : the number of training runs of each compared model, each with a different seed; 0 if no model
        is trained.
    draws : the number of draws of each model's training data; 0 if they are not drawn.
    resamples : the number of bootstrap resamples of the cases; 0 if there is no bootstrap.
    """

    n: int
    cases: str
    trainings: int = 0
    draws: int = 0
    resamples: int = 0

    @property
    def words(self) -> str:
        """The sample in words, as in ``n = 200 report pairs, taken as independent``."""
        parts = [f"n = {self.n:,} {self.cases}" + (", taken as independent" if self.n > 1 else "")]
        counted = ((self.trainings, "training run", "each model"), (self.draws, "draw", "its training data"))
        parts += [f"{count} {noun}{'s' if count > 1 else ''} of {of}" for count, noun, of in counted if count]
        if self.resamples:
            parts.append(f"{self.resamples:,} resamples")
        return "; ".join(parts)


@dataclass(frozen=True)
class Result:
    """A notebook's result for one exhibit, on one kind of evidence, with one implementation.

    Attributes
    ----------
    exhibit, notebook : the exhibit's id in the ledger, and the page's path below ``notebooks/`` without the
        extension.
    evidence, implementation, verdict : one each of ``EVIDENCE``, ``IMPLEMENTATIONS`` and ``VERDICTS`` in
        :mod:`radeval_lib.study.verdicts`.
    coverage : how much of the exhibit is decided; None without checks.
    checks : the checks that count for the verdict.
    remaining : the part of the exhibit that was not checked, in words.
    discrepancies : a mapping from name to each discrepancy that explains a check.
    table : the rows of the rebuilt table, each a mapping from column to value; empty without a table. An
        infinite number is the string ``Infinity`` or ``-Infinity``.
    provenance : the provenance, from :meth:`radeval_lib.study.runs.Run.provenance`.
    substitutes : a description of what replaces the paper's data or models.
    samples : the cases on which intervals and leads rest.
    """

    exhibit: str
    notebook: str
    evidence: Evidence
    implementation: Implementation
    verdict: Verdict
    coverage: Coverage | None
    checks: tuple[Check, ...]
    remaining: str
    discrepancies: dict[str, Discrepancy]
    table: list[dict[str, Any]]
    provenance: dict[str, Any]
    substitutes: str = ""
    samples: tuple[Sample, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the result, one of :data:`radeval_lib.study.verdicts.KINDS`."""
        return verdicts.kind(self.evidence, self.substitutes, self.implementation)

    @property
    def outcome(self) -> str:
        """The outcome that the verdict states: one of :data:`~radeval_lib.study.verdicts.OUTCOMES`."""
        return verdicts.outcome_of(self.verdict)

    @property
    def name(self) -> str:
        """The name of the result's file, without the extension."""
        suffix = OWN_SUFFIX if self.implementation == verdicts.OURS else ""
        return f"{self.exhibit}.{self.evidence}{suffix}"

    @property
    def severity(self) -> str:
        """The gravest severity (:data:`SEVERITIES`) of the failing checks; empty if no check fails. A check
        that fails without a known discrepancy counts as ``number``."""
        severities = {
            self.discrepancies[check.discrepancy].severity if check.discrepancy else "number"
            for check in self.with_outcome(FAILS)
        }
        return min(severities, key=SEVERITIES.index, default="")

    def with_outcome(self, outcome: str) -> list[Check]:
        """Return the checks that have this outcome."""
        return [check for check in self.checks if check.outcome == outcome]


# A bound of an interval can be infinite. JSON has no infinity, so the string "Infinity" is stored.
_CONFIG = ConfigDict(extra="forbid", hide_input_in_errors=True, ser_json_inf_nan="strings")
Result.__pydantic_config__ = _CONFIG  # type: ignore[attr-defined]
_RESULT_ADAPTER = TypeAdapter(Result)


def judge(
    kind: str,
    checks: Sequence[Check],
    discrepancies: Mapping[str, Discrepancy],
    *,
    is_supported: bool = True,
    matches_source: bool = True,
) -> str:
    """Return the verdict on a result, one of :data:`radeval_lib.study.verdicts.VERDICTS`, from its checks.

    The verdict is failure if a statement fails. Otherwise it is inconclusive if a statement that the exhibit
    needs is inconclusive, if no statement holds, or if ``is_supported`` is False. Otherwise the result holds.
    A statement with several readings has the outcome that they share (:func:`statement_outcome`). Statements
    that are inconclusive only because of readings or open conventions get a separate verdict, and so do
    edited cells.

    Parameters
    ----------
    kind : the kind of result, one of :data:`radeval_lib.study.verdicts.KINDS`.
    checks : the checks, no two with the same key and reading.
    discrepancies : the discrepancies by the name that checks cite.
    is_supported : False if the checks decide none of the exhibit's own cells or statements, or if the
        exhibit is a figure that nobody inspected.
    matches_source : whether the executed cells are those of the notebook's source.

    Raises
    ------
    ResultError
        If there is no check, or if two checks have the same key and reading.
    """
    if kind in (verdicts.EXPERIMENT, verdicts.IMPLEMENTED):
        return kind
    if not checks:
        raise ResultError("the result has no checks", remedy="Add a check, or do not record the exhibit.")
    counts = Counter((check.key, check.reading) for check in checks)
    if shared := sorted(str(key) for (key, _), count in counts.items() if count > 1):
        raise ResultError(f"two checks share key {shared[0]!r} and reading", "", "Change one key or reading.")
    if not matches_source:
        return verdicts.EDITED
    unresolved = [readings for readings in group_by_key(checks) if _is_open(readings)]
    conclusive = set(map(statement_outcome, group_by_key(checks))) - {INCONCLUSIVE}
    outcome = verdicts.outcome([*conclusive, *([INCONCLUSIVE] if unresolved else [])])

    def depends_on_reading(readings: Sequence[Check]) -> bool:
        """Return whether a statement is inconclusive because of its readings or an open convention."""
        kinds = {discrepancies[check.discrepancy].kind for check in readings if check.discrepancy}
        outcomes = {check.outcome for check in readings}
        return {HOLDS, FAILS} <= outcomes or (
            OPEN_CONVENTION in kinds and (len(readings) == 1 or HOLDS in outcomes)
        )

    if outcome != FAILS and unresolved and all(map(depends_on_reading, unresolved)):
        return verdicts.DEPENDS_ON_READING
    return verdicts.verdict(kind, INCONCLUSIVE if outcome == HOLDS and not is_supported else outcome)


def group_by_key(checks: Sequence[Check]) -> list[list[Check]]:
    """Return the checks grouped by key, in order; each group has the readings of one statement."""
    groups: dict[Key, list[Check]] = {}
    for check in checks:
        groups.setdefault(check.key, []).append(check)
    return list(groups.values())


def statement_outcome(readings: Sequence[Check]) -> str:
    """Return the outcome that all readings of a statement share, or inconclusive if they differ.

    If one reading holds, the outcomes of readings that are not needed are ignored: their tests can only
    contradict the statement.
    """
    outcomes = {check.outcome for check in readings}
    if HOLDS in outcomes:
        outcomes -= {check.outcome for check in readings if not check.needed}
    return outcomes.pop() if len(outcomes) == 1 else INCONCLUSIVE


def _is_open(readings: Sequence[Check]) -> bool:
    """Return whether a statement, given by its readings, is inconclusive although the exhibit needs it."""
    return any(check.needed for check in readings) and statement_outcome(readings) == INCONCLUSIVE


def explains(entry: Mapping[str, Any], exhibit_id: str, evidence: str, check: Check) -> bool:
    """Return whether a discrepancy explains a check of an exhibit on this evidence.

    ``entry`` is the discrepancy in ``paper.yml``. Each item of its ``checks`` names an exhibit, the level of
    evidence (by default, ``printed``) and, for fields of a key, the explained values; a field that is not
    named may have any value.
    """
    return any(
        entry_check["exhibit"] == exhibit_id
        and entry_check.get("evidence", "printed") == find_level(evidence)
        and all(
            getattr(check.key, field) in entry_check[field]
            for field in ("what", "row", "column")
            if field in entry_check
        )
        for entry_check in entry["checks"]
    )


def with_discrepancies(
    exhibit_id: str, evidence: str, checks: Sequence[Check]
) -> tuple[tuple[Check, ...], dict[str, Discrepancy]]:
    """Return the checks, each failed one with its known discrepancy, and a mapping from name to discrepancy.

    Discrepancies come from ``paper.yml``. If the discrepancy is an open convention of the paper, or an error
    in our copy of the paper, the check becomes inconclusive, because it does not contradict the paper.
    Raises ResultError if two discrepancies explain one check, and LedgerError if there is no such paper.
    """
    paper = exhibit_id.partition(".")[0]
    entries, explained = load_paper(paper).get("discrepancies", {}), []
    for check in checks:
        names = [name for name, entry in entries.items() if explains(entry, exhibit_id, evidence, check)]
        if len(names) > 1:
            problem = f"{check.name!r} matches the discrepancies {' and '.join(names)}"
            remedy = "List this check under `checks` of only one of them."
            raise ResultError(problem, display_path(find_file(paper)), remedy)
        if names and check.outcome == FAILS:
            outcome = INCONCLUSIVE if entries[names[0]]["kind"] in _HARMLESS_KINDS else FAILS
            check = replace(check, discrepancy=names[0], outcome=outcome)
        explained.append(check)
    discrepancies = {}
    for name in dict.fromkeys(check.discrepancy for check in explained if check.discrepancy):
        fields = {key: " ".join(text.split()) for key, text in entries[name].items() if key != "checks"}
        discrepancies[name] = Discrepancy(**fields)
    return tuple(explained), discrepancies


def coverage(exhibit_id: str, evidence: str, checks: Sequence[Check]) -> Coverage | None:
    """Return how much of an exhibit the checks decide; None if there are no checks.

    The units are the legible cells of a transcribed table or figure, otherwise settings (for a guideline) or
    statements. A cell is decided if a statement about it, or the check of a number computed for this cell
    alone, holds or fails. A statement or setting is decided if one of its checks holds or fails and none that
    it needs is inconclusive; the readings of a statement must agree. The total includes statements that the
    ledger lists as ``unchecked``. Raises LedgerError if the ledger has no such exhibit, and PrintedError if
    its transcription is malformed.
    """
    if not checks:
        return None
    entry = exhibit(exhibit_id)
    n_leads = sum(not check.needed and check.aspect == "lead" and check.holds is None for check in checks)
    conclusive = [group for group in group_by_key(checks) if statement_outcome(group) != INCONCLUSIVE]
    if cells := set(list_legible_cells(exhibit_id) if entry.kind in ("table", "figure") else ()):
        cells_by_check = [
            {cell for cell in cells if group[0].compares(cell)} if group[0].decides_cells else set[Any]()
            for group in conclusive
        ]
        n_others = sum(not cells_of_check for cells_of_check in cells_by_check)
        return Coverage(len(set[Any]().union(*cells_by_check)), len(cells), "cells", n_leads, n_others)
    statements = {check.printed for check in checks}
    open_statements = {group[0].printed for group in group_by_key(checks) if _is_open(group)}
    decided = {group[0].printed for group in conclusive} - open_statements
    total = len(statements) + entry.unchecked_on(evidence)
    return Coverage(len(decided), total, "settings" if entry.kind == "guideline" else "statements", n_leads)


def record(
    run: Run,
    exhibit_id: str,
    *,
    evidence: str,
    checks: Sequence[Check],
    remaining: str = "",
    substitutes: str = "",
    rests_on: Iterable[str] | None = None,
    implementation: str = verdicts.PAPERS_OWN,
    table: pd.DataFrame | None = None,
    samples: Sequence[Sample] = (),
) -> Result:
    """Return the result of an exhibit with its verdict, after writing it to the run's results.

    Parameters
    ----------
    exhibit_id : the id of an exhibit that the ledger assigns to this page.
    evidence : one of :data:`radeval_lib.study.verdicts.EVIDENCE`.
    checks : the checks, no two with the same key and reading; empty if the exhibit is implemented or our
        experiment.
    remaining : the part of the exhibit that was not checked, in words.
    substitutes : a description of what replaces the paper's data or models.
    rests_on : the names of the inputs on which the result rests (:meth:`radeval_lib.provenance.Inputs.of`);
        by default, all that the run has read.
    implementation : one of :data:`radeval_lib.study.verdicts.IMPLEMENTATIONS`.
    table : the rebuilt table, which is stored with its index; column names must be unique.
    samples : the cases on which intervals and leads rest.

    Raises
    ------
    ResultError
        If :func:`judge` or :func:`with_discrepancies` raises it, ``evidence`` has another value, or the run
        has not read an input.
    LedgerError
        If the ledger has no such exhibit.
    PrintedError
        If the transcription of the exhibit's table is malformed.
    """
    provenance = run.provenance(rests_on)
    explained, discrepancies = with_discrepancies(exhibit_id, evidence, checks)
    entry, extent = exhibit(exhibit_id), coverage(exhibit_id, evidence, explained)
    was_seen = entry.kind != "figure" or entry.legible == "full"
    result = Result(
        exhibit=exhibit_id,
        notebook=run.notebook,
        evidence=evidence,
        implementation=implementation,
        verdict=judge(
            verdicts.kind(evidence, substitutes, implementation),
            explained,
            discrepancies,
            is_supported=was_seen and extent is not None and extent.checked > 0,
            matches_source=provenance["notebook"]["matches_source"] is not False,
        ),
        coverage=extent,
        checks=explained,
        remaining=" ".join(remaining.split()),
        substitutes=" ".join(substitutes.split()),
        discrepancies=discrepancies,
        table=[] if table is None else _to_json_rows(table.reset_index()),
        provenance=provenance,
        samples=tuple(samples),
    )
    content = json.loads(_RESULT_ADAPTER.dump_json(result))
    stored = {"format": _FORMAT, "sha256": _hash_content(content), **content}
    write_json(run.results_dir / f"{result.name}.json", stored)
    return result


def _to_json_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as mappings from column to JSON value; floats have ten significant digits.

    Missing values are None; infinite ones are the strings ``Infinity`` and ``-Infinity``. Pandas itself would
    write ten decimals, which are all 0 for a p of 5e-15, and would write infinite numbers as missing.
    """
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records"))
    for row, values in zip(rows, table.itertuples(index=False, name=None), strict=True):
        for name, value in zip(row, values, strict=True):
            if isinstance(value, float) and not isnan(value):
                row[name] = float(f"{value:.10g}") if isfinite(value) else json.dumps(value)
    return rows


def _hash_content(content: dict[str, Any]) -> str:
    """Return the SHA-256 of a result's content, by which :func:`read` detects changes."""
    return checksums.of_text(json.dumps(content, sort_keys=True, ensure_ascii=False))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write ``content`` as JSON atomically; raise ValueError for NaN and infinite numbers."""
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    atomic.write_text(path, text + "\n")


def read(path: Path) -> Result:
    """Return the result in a file that :func:`record` wrote.

    Raises ResultError if the file is incomplete, has changed or has another format, or if the ledger lacks
    the exhibit or assigns it to another page.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version, digest = content.pop("format"), content.pop("sha256")
        if version != _FORMAT:
            raise ResultError(f"this results file has format {version!r}, but this version reads {_FORMAT}")
        if digest != _hash_content(content):
            raise ResultError("this results file has changed since it was written")
        result = _RESULT_ADAPTER.validate_python(content)
        if (owner := exhibit(result.exhibit).notebook) != result.notebook:
            problem = f"{result.exhibit} belongs to notebook {owner}, but this file is from {result.notebook}"
            raise ResultError(problem)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        problem = f"this file is not valid ({type(error).__name__}: {to_line(str(error), 200)})"
        raise ResultError(problem, display_path(path), _REMEDY) from None
    except RadevalError as error:
        raise ResultError(error.what, display_path(path), _REMEDY) from None
    return result


def read_all(output_dir: Path) -> list[Result]:
    """Return all results below a profile's output folder, in the order of the ledger and of the kinds of
    evidence; raise ResultError if :func:`read` does."""
    results = [read(path) for path in sorted((output_dir / "results").glob("*/*/*.*.*.json"))]
    order = {exhibit_id: number for number, exhibit_id in enumerate(ledger())}
    results.sort(key=lambda result: (order[result.exhibit], verdicts.EVIDENCE.index(result.evidence)))
    return results


def all_results(run: Run) -> list[Result]:
    """Return the results of all pages; raise NotebookError unless the page declares ``results: [all]``, and
    ResultError if :func:`read` does."""
    run.require_declared("results", ALL)
    return read_all(run.output_dir)


OneLine = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]


class Headline(BaseModel, extra="forbid", frozen=True):
    """A finding on the front page, whose sentences are written by hand in ``headlines.yml``.

    Attributes
    ----------
    id : the finding's key in ``headlines.yml``.
    notebook, anchor : the page that computes the finding, and the finding's label there.
    text : one or two sentences of Markdown, with ``{names}`` in place of the page's numbers.
    needs : the kinds of evidence on which the finding may be shown.
    line : the finding in one line for the README; empty if the README does not show it.
    """

    id: str
    notebook: str
    anchor: str
    text: OneLine
    needs: tuple[Evidence, ...]
    line: OneLine = ""


class HeadlineNumbers(BaseModel, extra="forbid"):
    """A page's numbers for a finding on the front page.

    Attributes
    ----------
    evidence : the kind of data behind the numbers.
    holds : whether the numbers support the finding; None if they are inconclusive.
    texts : the formatted number or words for each name in the finding's ``text`` and ``line``; further names
        are not shown.
    provenance : the provenance of the numbers.
    """

    evidence: Evidence
    holds: bool | None
    texts: dict[str, str]
    provenance: dict[str, Any]


@cache
def headlines() -> dict[str, Headline]:
    """Return a mapping from id to each finding that the front page can show, as ordered in ``headlines.yml``.

    :func:`supported_headlines` picks those that are shown.
    """
    entries = own_yaml.read(MANIFESTS / "headlines.yml").items()
    return {key: Headline.model_validate({"id": key, **entry}) for key, entry in entries}


def supported_headlines(run: Run) -> list[tuple[Headline, str]]:
    """Return (headline, its sentence) for each headline that this build supports with evidence of an accepted
    kind; raise NotebookError unless the page declares ``results: [all]``."""
    run.require_declared("results", ALL)
    supported = []
    for headline in headlines().values():
        path = run.output_dir / "results" / headline.notebook / f"headline_{headline.id}.json"
        numbers = HeadlineNumbers.model_validate_json(path.read_bytes()) if path.is_file() else None
        if numbers and numbers.holds and numbers.evidence in headline.needs:
            supported.append((headline, headline.text.format(**numbers.texts)))
    return supported
