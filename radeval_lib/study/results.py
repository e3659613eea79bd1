"""Recorded results: what a notebook found out about an exhibit, written atomically as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from radeval_lib import atomic, checksums
from radeval_lib.errors import RadevalError, ResultError
from radeval_lib.papers.exhibits import exhibit, file_of, ledger
from radeval_lib.paths import display_path
from radeval_lib.study import verdicts
from radeval_lib.study.checks import Check, Key
from radeval_lib.study.judging import (
    DISCREPANCY_KINDS,
    WEIGHTS,
    Discrepancy,
    coverage,
    judge,
    with_discrepancies,
)
from radeval_lib.study.runs import Run
from radeval_lib.study.sources import ALL
from radeval_lib.study.verdicts import Coverage

_FORMAT = 8


@dataclass(frozen=True)
class Sample:
    """Cases on which intervals and leads of a result rest; they are taken as independent.

    Attributes
    ----------
    n : how many independent cases there are.
    of : what a case is, in the plural: ``report pairs``, ``patients``, ``models``.
    trainings : of each model that is compared, with seeds of their own; 0 where nothing is trained.
    draws : of the data that each model is trained on; 0 where nothing is drawn.
    resamples : of the cases, from which intervals are; 0 where none is.
    """

    n: int
    of: str
    trainings: int = 0
    draws: int = 0
    resamples: int = 0

    def __post_init__(self) -> None:
        if self.n < 1 or min(self.trainings, self.draws, self.resamples) < 0 or not self.of:
            raise ResultError(f"{self.n} {self.of or 'cases'} are no sample")

    @property
    def words(self) -> str:
        """``n = 200 report pairs, taken as independent; 2 trainings of each model``."""
        parts = [f"n = {self.n:,} {self.of}" + (", taken as independent" if self.n > 1 else "")]
        for count, what, of in (
            (self.trainings, "training", "each model"),
            (self.draws, "draw", "its training data"),
        ):
            if count:
                parts.append(f"{count} {what}{'s' if count > 1 else ''} of {of}")
        if self.resamples:
            parts.append(f"{self.resamples:,} resamples")
        return "; ".join(parts)


@dataclass(frozen=True)
class Result:
    """What one notebook found out about one exhibit on one kind of evidence, with one instrument."""

    exhibit: str
    notebook: str
    evidence: str
    instrument: str
    verdict: str
    coverage: Coverage | None
    checks: tuple[Check, ...]
    remaining: str
    discrepancies: dict[str, Discrepancy]
    table: list[dict[str, Any]]
    provenance: dict[str, Any]
    stand_in: str = ""
    samples: tuple[Sample, ...] = ()

    @property
    def kind(self) -> str:
        """One of :data:`radeval_lib.study.verdicts.KINDS`."""
        return verdicts.kind(self.evidence, self.stand_in, self.instrument)

    @property
    def outcome(self) -> str:
        """What the checks come to: one of :data:`~radeval_lib.study.verdicts.OUTCOMES`."""
        return verdicts.outcome_of(self.verdict)

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        own = "-own" if self.instrument == verdicts.OURS else ""
        return f"{self.exhibit}.{self.evidence}{own}"

    @property
    def weight(self) -> str:
        """The gravest of :data:`~radeval_lib.study.judging.WEIGHTS` among the reasons why checks fail, a
        number where none is known; empty where no check fails."""
        found = {
            self.discrepancies[check.discrepancy].weight if check.discrepancy else "number"
            for check in self.with_outcome(verdicts.FAILS)
        }
        return min(found, key=WEIGHTS.index, default="")

    def with_outcome(self, outcome: str) -> list[Check]:
        """Return the checks with one of :data:`~radeval_lib.study.verdicts.CHECK_OUTCOMES`."""
        return [check for check in self.checks if check.outcome == outcome]


def check_owner(run: Run, exhibit_id: str) -> None:
    """Refuse an exhibit that the ledger gives to another page than the run's."""
    entry = exhibit(exhibit_id)
    if entry.notebook != run.notebook:
        raise ResultError(
            f"{exhibit_id} belongs to notebook {entry.notebook!r}, not to {run.notebook!r}",
            display_path(file_of(entry.paper)),
            "Record it there, or name this page under `notebook`.",
        )


def record(
    run: Run,
    exhibit_id: str,
    *,
    evidence: str,
    checks: Sequence[Check],
    remaining: str = "",
    stand_in: str = "",
    rests_on: Iterable[str] | None = None,
    instrument: str = verdicts.PAPERS_OWN,
    table: pd.DataFrame | None = None,
    samples: Sequence[Sample] = (),
) -> Result:
    """Judge an exhibit and write the result with its provenance, whole or not at all.

    Parameters
    ----------
    exhibit_id : of the ledger, which gives it to this page.
    evidence : one of :data:`radeval_lib.study.verdicts.EVIDENCE`.
    checks : each with a key of its own; none where the exhibit is implemented or an our experiment.
    remaining : what of the exhibit is left out, in words.
    stand_in : what stands in for the paper's own data or models, in words.
    rests_on : names of what it rests on (:meth:`radeval_lib.provenance.Reading.of`); default: all that the
        run has read.
    instrument : one of :data:`radeval_lib.study.verdicts.INSTRUMENTS`.
    table : rebuilt, with its index; columns have names of their own.
    samples : the cases on which intervals and leads rest.

    Raises
    ------
    ResultError
        Where the exhibit is another page's, or there are no checks, too many, or two with one key.
    LedgerError
        Where the ledger has no such exhibit.
    """
    check_owner(run, exhibit_id)
    provenance = run.provenance(rests_on)
    named, discrepancies = with_discrepancies(exhibit_id, evidence, checks)
    entry, covered = exhibit(exhibit_id), coverage(exhibit_id, evidence, named)
    seen = entry.kind != "figure" or entry.legible == "full"
    result = Result(
        exhibit=exhibit_id,
        notebook=run.notebook,
        evidence=evidence,
        instrument=instrument,
        verdict=judge(
            verdicts.kind(evidence, stand_in, instrument),
            named,
            discrepancies,
            supports=seen and covered is not None and covered.checked > 0,
            as_source=provenance["notebook"]["as_source"] is not False,
        ),
        coverage=covered,
        checks=named,
        remaining=" ".join(remaining.split()),
        stand_in=" ".join(stand_in.split()),
        discrepancies=discrepancies,
        table=[] if table is None else _records(table.reset_index()),
        provenance=provenance,
        samples=tuple(samples),
    )
    _write(run.results_dir / f"{result.name}.json", result)
    return result


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON holds them, numbers with ten significant digits: pandas would write
    ten decimals, which are none of a p-value of 5e-15."""
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records"))
    for row, values in zip(rows, table.itertuples(index=False, name=None), strict=True):
        for name, value in zip(row, values, strict=True):
            if isinstance(value, float) and isfinite(value):
                row[name] = float(f"{value:.10g}")
    return rows


def _digest(content: dict[str, Any]) -> str:
    return checksums.of_text(json.dumps(content, sort_keys=True, ensure_ascii=False))


def _write(path: Path, result: Result) -> None:
    content = json.loads(json.dumps(asdict(result)))
    whole = {"format": _FORMAT, "sha256": _digest(content), **content}
    atomic.write_text(path, json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def read(path: Path) -> Result:
    """Return a recorded result; a ResultError of any file that this version did not write, or would write
    elsewhere."""
    remedy = "Run `radbook build`: it makes the page and its results again."
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        form, digest = content.pop("format"), content.pop("sha256")
        if form != _FORMAT:
            raise ResultError(f"results format {form!r}, where {_FORMAT} is wanted")
        if digest != _digest(content):
            raise ResultError("this results file was changed after it was written")
        content["checks"] = tuple(map(_check, content["checks"]))
        content["discrepancies"] = {
            name: Discrepancy(**discrepancy) for name, discrepancy in content["discrepancies"].items()
        }
        content["coverage"] = Coverage(**content["coverage"]) if content["coverage"] else None
        content["samples"] = tuple(Sample(**one) for one in content["samples"])
        result = Result(**content)
        _require_known_words(result)
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ResultError(
            "this results file is cut short or of another version", display_path(path), remedy
        ) from None
    except RadevalError as error:
        raise ResultError(error.what, display_path(path), remedy) from None
    return result


def _check(content: dict[str, Any]) -> Check:
    cells = tuple(tuple(cell) for cell in content["cells"])
    return Check(**{**content, "key": Key(**content["key"]), "cells": cells})


def _require_known_words(result: Result) -> None:
    """Refuse a result in words that this version does not use, or of an exhibit that it does not have."""
    checked = [
        ("verdict", result.verdict, verdicts.VERDICTS),
        ("evidence", result.evidence, verdicts.EVIDENCE),
        ("instrument", result.instrument, verdicts.INSTRUMENTS),
    ]
    checked += [("outcome of a check", check.outcome, verdicts.CHECK_OUTCOMES) for check in result.checks]
    checked += [
        ("discrepancy", discrepancy.kind, DISCREPANCY_KINDS) for discrepancy in result.discrepancies.values()
    ]
    for what, word, known in checked:
        if word not in known:
            raise ResultError(f"{word!r} is no {what} of this version")
    if exhibit(result.exhibit).notebook != result.notebook:
        raise ResultError(f"the ledger gives {result.exhibit} to another page than {result.notebook}")


def of_page(folder: Path) -> list[Result]:
    """Return the results in a page's folder ``<group>/<page>``, by the names of their files."""
    found = [(path, read(path)) for path in sorted(folder.glob("*.*.*.json"))]
    for path, result in found:
        if Path(result.notebook).parts != folder.parts[-2:]:
            raise ResultError(
                f"these are results of {result.notebook}, not of this page", display_path(path), "Delete it."
            )
    return [result for _, result in found]


def read_all(output_dir: Path) -> list[Result]:
    """Return every recorded result of a profile, in the ledger's order."""
    folders = sorted((output_dir / "results").glob("*/*"))
    results = [result for folder in folders for result in of_page(folder)]
    order = {exhibit_id: place for place, exhibit_id in enumerate(ledger())}
    return sorted(
        results, key=lambda result: (order[result.exhibit], verdicts.EVIDENCE.index(result.evidence))
    )


def recorded(run: Run) -> list[Result]:
    """Return what every page recorded, for a page that declares ``results: [all]``."""
    run.require_declared("results", ALL)
    return read_all(run.output_dir)
