"""Records of pages, as JSON files: results of exhibits with their verdicts, and the front page's findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter

from radeval_lib import atomic, checksums, own_yaml
from radeval_lib.errors import RadevalError, ResultError
from radeval_lib.papers.exhibits import description, exhibit, file_of, ledger, level_of
from radeval_lib.papers.printed_numbers import cells_of
from radeval_lib.paths import MANIFESTS, display_path
from radeval_lib.study import verdicts
from radeval_lib.study.checks import Check, Key
from radeval_lib.study.runs import Run
from radeval_lib.study.sources import ALL
from radeval_lib.study.verdicts import FAILS, HOLDS, INCONCLUSIVE, Coverage, Evidence, Implementation, Verdict

OPEN_CONVENTION = "convention"
DISCREPANCY_KINDS = ("paper", "text", OPEN_CONVENTION, "rounding")
WEIGHTS = ("conclusion", "number", "slip")
"""How much a discrepancy weighs, the gravest first: a conclusion of the paper falls; what is printed cannot
follow; a citation or a word is wrong."""
_CONTRADICTS_NOTHING = (OPEN_CONVENTION, "text")
_REMEDY = "Remove its folder and run `radbook build`: it makes the page and its results again."
_FORMAT = 9
OWN_ENDING = "-own"
"""The end of the names of results with our implementation."""


@dataclass(frozen=True)
class Discrepancy:
    """The reason why checks fail, from ``discrepancies`` in ``paper.yml``.

    Attributes
    ----------
    kind : one of :data:`DISCREPANCY_KINDS`.
    explanation : the reason in a sentence or two.
    weight : one of :data:`WEIGHTS`.
    reply : what the authors answered.
    """

    kind: Annotated[str, verdicts.among(DISCREPANCY_KINDS)]
    explanation: str
    weight: Annotated[str, verdicts.among(WEIGHTS)]
    reply: str = "not asked"


@dataclass(frozen=True)
class Sample:
    """The cases behind a result's intervals and leads, taken as independent.

    Attributes
    ----------
    n : how many independent cases there are.
    of : what a case is, in the plural: ``report pairs``, ``patients``, ``models``.
    trainings : of each model that is compared, with seeds of their own; 0 if nothing is trained.
    draws : of the data that each model is trained on; 0 if nothing is drawn.
    resamples : of the cases, from which intervals are; 0 if there is none.
    """

    n: int
    of: str
    trainings: int = 0
    draws: int = 0
    resamples: int = 0

    @property
    def words(self) -> str:
        """``n = 200 report pairs, taken as independent; 2 trainings of each model``."""
        parts = [f"n = {self.n:,} {self.of}" + (", taken as independent" if self.n > 1 else "")]
        counted = ((self.trainings, "training", "each model"), (self.draws, "draw", "its training data"))
        parts += [f"{count} {noun}{'s' if count > 1 else ''} of {of}" for count, noun, of in counted if count]
        if self.resamples:
            parts.append(f"{self.resamples:,} resamples")
        return "; ".join(parts)


@dataclass(frozen=True)
class Result:
    """One notebook's result for one exhibit, on one kind of evidence, with one implementation."""

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
        """One of :data:`radeval_lib.study.verdicts.KINDS`."""
        return verdicts.kind(self.evidence, self.substitutes, self.implementation)

    @property
    def outcome(self) -> str:
        """The summary of the checks: one of :data:`~radeval_lib.study.verdicts.OUTCOMES`."""
        return verdicts.outcome_of(self.verdict)

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        ending = OWN_ENDING if self.implementation == verdicts.OURS else ""
        return f"{self.exhibit}.{self.evidence}{ending}"

    @property
    def weight(self) -> str:
        """The gravest of :data:`WEIGHTS` among the reasons why checks fail; a number if none is known, empty
        if no check fails."""
        weights = {
            self.discrepancies[check.discrepancy].weight if check.discrepancy else "number"
            for check in self.with_outcome(FAILS)
        }
        return min(weights, key=WEIGHTS.index, default="")

    def with_outcome(self, outcome: str) -> list[Check]:
        """Return the checks with one of :data:`~radeval_lib.study.verdicts.CHECK_OUTCOMES`."""
        return [check for check in self.checks if check.outcome == outcome]


# JSON has no infinity, which an end of an interval can be: it is the text "Infinity" there.
_CONFIG = ConfigDict(extra="forbid", hide_input_in_errors=True, ser_json_inf_nan="strings")
Result.__pydantic_config__ = _CONFIG  # type: ignore[attr-defined]
_RESULT = TypeAdapter(Result)


def judge(
    kind: str,
    checks: Sequence[Check],
    discrepancies: Mapping[str, Discrepancy],
    *,
    supports: bool = True,
    as_source: bool = True,
) -> str:
    """Return the verdict that the checks give (CONTRIBUTING.md, Terms).

    It fails if a check fails; it is inconclusive if a needed check is, or if nothing that holds supports the
    exhibit; otherwise it holds. A statement under several readings has the outcome that they share.

    Parameters
    ----------
    kind : of the result, one of :data:`radeval_lib.study.verdicts.KINDS`.
    discrepancies : those of the checks, by name.
    supports : whether the checks can support the exhibit: not if they decide none of its own cells or
        statements, or if it is a figure that was not seen.
    as_source : whether the notebook's cells are those of its source.

    Raises
    ------
    ResultError
        If there is no check, or two have one key.
    """
    if kind in (verdicts.EXPERIMENT, verdicts.IMPLEMENTED):
        return kind
    if not checks:
        raise ResultError("a result without a check earns no verdict", remedy="Add one, or do not record it.")
    counts = Counter((check.key, check.reading) for check in checks)
    if doubled := sorted(str(key) for (key, _), count in counts.items() if count > 1):
        raise ResultError(f"two checks are called {doubled[0]!r}", remedy="Give each check a key of its own.")
    if not as_source:  # whatever its cells checked, it is not what the source checks
        return verdicts.EDITED
    still_open = [rows for rows in group_by_key(checks) if _is_open(rows)]
    decided = {statement_outcome(rows) for rows in group_by_key(checks)} - {INCONCLUSIVE}
    outcome = verdicts.outcome([*decided, *([INCONCLUSIVE] if still_open else [])])

    def is_by_reading(rows: Sequence[Check]) -> bool:
        kinds = {discrepancies[row.discrepancy].kind for row in rows if row.discrepancy}
        outcomes = {row.outcome for row in rows}  # of several readings, none of which holds, none decides
        return {HOLDS, FAILS} <= outcomes or (
            OPEN_CONVENTION in kinds and (len(rows) == 1 or HOLDS in outcomes)
        )

    if outcome != FAILS and still_open and all(map(is_by_reading, still_open)):
        return verdicts.BY_READING
    return verdicts.verdict(kind, INCONCLUSIVE if outcome == HOLDS and not supports else outcome)


def group_by_key(checks: Sequence[Check]) -> list[list[Check]]:
    """Return the rows of each key: one row, or one per reading of a statement."""
    rows: dict[Key, list[Check]] = {}
    for check in checks:
        rows.setdefault(check.key, []).append(check)
    return list(rows.values())


def statement_outcome(rows: Sequence[Check]) -> str:
    """Return the outcome shared by all readings of a statement, or inconclusive if they differ.

    A reading whose test can only contradict, and does not, is no support, and nothing against it.
    """
    outcomes = {row.outcome for row in rows}
    if HOLDS in outcomes:
        outcomes -= {row.outcome for row in rows if not row.needed}
    return outcomes.pop() if len(outcomes) == 1 else INCONCLUSIVE


def _is_open(rows: Sequence[Check]) -> bool:
    """Return whether a statement that the exhibit needs is inconclusive."""
    return any(row.needed for row in rows) and statement_outcome(rows) == INCONCLUSIVE


def explains(entry: Mapping[str, Any], exhibit_id: str, evidence: str, check: Check) -> bool:
    """Return whether a discrepancy of ``paper.yml`` explains a check. Each of its places names an exhibit,
    the level of evidence (``printed`` unless stated), and the keys meant, field by field."""
    return any(
        entry_check["exhibit"] == exhibit_id
        and entry_check.get("evidence", "printed") == level_of(evidence)
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
    """Return the checks, with the known discrepancy of each that fails, and these discrepancies by name, from
    the paper's ``paper.yml``. Raises ResultError if two of them explain one check.

    What fails by a convention that the paper leaves open, or by noise in our copy of it, contradicts nothing:
    it is inconclusive.
    """
    key = exhibit_id.partition(".")[0]
    entries, named = description(key).get("discrepancies", {}), []
    for check in checks:
        names = [name for name, entry in entries.items() if explains(entry, exhibit_id, evidence, check)]
        if len(names) > 1:
            problem = f"{check.name!r} matches the discrepancies {' and '.join(names)}"
            remedy = "Let only one of them name the check."
            raise ResultError(problem, display_path(file_of(key)), remedy)
        if names and check.outcome == FAILS:
            outcome = INCONCLUSIVE if entries[names[0]]["kind"] in _CONTRADICTS_NOTHING else FAILS
            check = replace(check, discrepancy=names[0], outcome=outcome)
        named.append(check)
    discrepancies = {}
    for name in dict.fromkeys(check.discrepancy for check in named if check.discrepancy):
        fields = {key: " ".join(text.split()) for key, text in entries[name].items() if key != "checks"}
        discrepancies[name] = Discrepancy(**fields)
    return tuple(named), discrepancies


def coverage(exhibit_id: str, evidence: str, checks: Sequence[Check]) -> Coverage | None:
    """Return how much of an exhibit the checks decide: the legible cells of a transcribed table, otherwise
    the statements or settings in the paper's words or digits. None if there are no checks.

    A statement is decided if its order, its lead and all its readings are, as far as it needs them. The total
    includes the statements that the ledger lists as ``unchecked``.
    """
    if not checks:
        return None
    entry = exhibit(exhibit_id)
    leads = sum(not check.needed and check.aspect == "lead" and check.holds is None for check in checks)
    decided = [rows for rows in group_by_key(checks) if statement_outcome(rows) != INCONCLUSIVE]
    if cells := set(cells_of(exhibit_id) if entry.kind in ("table", "figure") else ()):
        compared = [
            {cell for cell in cells if rows[0].compares(cell)} if rows[0].decides_cells else set[Any]()
            for rows in decided
        ]
        beside = sum(not of_check for of_check in compared)
        return Coverage(len(set[Any]().union(*compared)), len(cells), "cells", leads, beside)
    stated = {check.printed for check in checks}
    open_ones = {rows[0].printed for rows in group_by_key(checks) if _is_open(rows)}
    settled = {rows[0].printed for rows in decided} - open_ones
    total = len(stated) + entry.unchecked_on(evidence)
    return Coverage(len(settled), total, "settings" if entry.kind == "guideline" else "statements", leads)


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
    """Judge an exhibit and write the result with its provenance.

    Parameters
    ----------
    exhibit_id : of the ledger, which gives it to this page.
    evidence : one of :data:`radeval_lib.study.verdicts.EVIDENCE`.
    checks : each with a key of its own; none if the exhibit is implemented or our experiment.
    remaining : what of the exhibit is left out, in words.
    substitutes : what is used in place of the paper's own data or models, in words.
    rests_on : names of what it rests on (:meth:`radeval_lib.provenance.Reading.of`); default: all that the
        run has read.
    implementation : one of :data:`radeval_lib.study.verdicts.IMPLEMENTATIONS`.
    table : rebuilt, with its index; columns have names of their own.
    samples : the cases on which intervals and leads rest.

    Raises
    ------
    ResultError
        If there are no checks, or two with one key.
    LedgerError
        If the ledger has no such exhibit.
    """
    provenance = run.provenance(rests_on)
    named, discrepancies = with_discrepancies(exhibit_id, evidence, checks)
    entry, covered = exhibit(exhibit_id), coverage(exhibit_id, evidence, named)
    was_seen = entry.kind != "figure" or entry.legible == "full"
    result = Result(
        exhibit=exhibit_id,
        notebook=run.notebook,
        evidence=evidence,
        implementation=implementation,
        verdict=judge(
            verdicts.kind(evidence, substitutes, implementation),
            named,
            discrepancies,
            supports=was_seen and covered is not None and covered.checked > 0,
            as_source=provenance["notebook"]["as_source"] is not False,
        ),
        coverage=covered,
        checks=named,
        remaining=" ".join(remaining.split()),
        substitutes=" ".join(substitutes.split()),
        discrepancies=discrepancies,
        table=[] if table is None else _rows(table.reset_index()),
        provenance=provenance,
        samples=tuple(samples),
    )
    content = json.loads(_RESULT.dump_json(result))
    described = {"format": _FORMAT, "sha256": _digest(content), **content}
    write_json(run.results_dir / f"{result.name}.json", described)
    return result


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table's rows as JSON has them, with ten significant digits of each number.

    Pandas writes ten decimals, which are all zeros in a p-value of 5e-15.
    """
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records"))
    for row, values in zip(rows, table.itertuples(index=False, name=None), strict=True):
        for name, value in zip(row, values, strict=True):
            if isinstance(value, float) and isfinite(value):
                row[name] = float(f"{value:.10g}")
    return rows


def _digest(content: dict[str, Any]) -> str:
    return checksums.of_text(json.dumps(content, sort_keys=True, ensure_ascii=False))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a file of results, whole or not at all."""
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    atomic.write_text(path, text + "\n")


def read(path: Path) -> Result:
    """Return a stored result; raises ResultError for a file that this version did not write, or would write
    elsewhere."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version, digest = content.pop("format"), content.pop("sha256")
        if version != _FORMAT:
            raise ResultError(f"this results file has format {version!r} where this version reads {_FORMAT}")
        if digest != _digest(content):
            raise ResultError("this results file was changed after it was written")
        result = _RESULT.validate_python(content)
        if (owner := exhibit(result.exhibit).notebook) != result.notebook:
            problem = f"{result.exhibit} belongs to notebook {owner}, but this file is from {result.notebook}"
            raise ResultError(problem)
    except (ValueError, KeyError, AttributeError, TypeError):
        problem = "this results file is cut short or of another version"
        raise ResultError(problem, display_path(path), _REMEDY) from None
    except RadevalError as error:
        raise ResultError(error.what, display_path(path), _REMEDY) from None
    return result


def read_all(output_dir: Path) -> list[Result]:
    """Return every result of a profile, in the ledger's order."""
    results = [read(path) for path in sorted((output_dir / "results").glob("*/*/*.*.*.json"))]
    order = {exhibit_id: number for number, exhibit_id in enumerate(ledger())}
    results.sort(key=lambda result: (order[result.exhibit], verdicts.EVIDENCE.index(result.evidence)))
    return results


def all_results(run: Run) -> list[Result]:
    """Return the results of every page, for a page that declares ``results: [all]``."""
    run.require_declared("results", ALL)
    return read_all(run.output_dir)


OneLine = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]


class Headline(BaseModel, extra="forbid", frozen=True):
    """A finding of the front page; a person writes the sentence.

    Attributes
    ----------
    id : its key in ``headlines.yml``.
    notebook, anchor : the page that computes it, and its label there.
    text : one or two sentences of Markdown, with ``{names}`` for the texts that the page hands over.
    needs : the kinds of evidence on which it may be shown.
    line : the finding in one line, if the README shows it.
    """

    id: str
    notebook: str
    anchor: str
    text: OneLine
    needs: tuple[Evidence, ...]
    line: OneLine = ""


class HeadlineNumbers(BaseModel, extra="forbid"):
    """A page's numbers for a headline.

    Attributes
    ----------
    evidence : what the data of the numbers are.
    holds : whether they support the sentence; None if they are inconclusive.
    texts : a text for each name in the sentence and its line; others are kept, and not shown.
    """

    evidence: Evidence
    holds: bool | None
    texts: dict[str, str]
    provenance: dict[str, Any]


@cache
def headlines() -> dict[str, Headline]:
    """Return all headlines by id, in the order of the front page."""
    entries = own_yaml.read(MANIFESTS / "headlines.yml").items()
    return {key: Headline.model_validate({"id": key, **entry}) for key, entry in entries}


def supported_headlines(run: Run) -> list[tuple[Headline, str]]:
    """Return the headlines that this build supports on the required evidence, each with its sentence."""
    run.require_declared("results", ALL)
    shown = []
    for entry in headlines().values():
        path = run.output_dir / "results" / entry.notebook / f"headline_{entry.id}.json"
        made = HeadlineNumbers.model_validate_json(path.read_bytes()) if path.is_file() else None
        if made and made.holds and made.evidence in entry.needs:
            shown.append((entry, entry.text.format(**made.texts)))
    return shown
