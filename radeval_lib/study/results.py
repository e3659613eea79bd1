"""Recorded results: what a notebook found out about an exhibit, written atomically as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from radeval_lib import atomic, checksums
from radeval_lib.errors import RadevalError, ResultError
from radeval_lib.origin import RECORDED_SCORES, RELEASED
from radeval_lib.papers.exhibits import exhibit
from radeval_lib.papers.printed_numbers import paper
from radeval_lib.paths import display_path
from radeval_lib.study import verdicts
from radeval_lib.study.checks import Check
from radeval_lib.study.declarations import ALL
from radeval_lib.study.runs import Run

OPEN_CONVENTION = "definition"
CAUSES = ("paper", "text", OPEN_CONVENTION, "rounding")
_FORMAT = 4


@dataclass(frozen=True)
class Result:
    """What one notebook found out about one exhibit on one kind of evidence."""

    exhibit: str
    notebook: str
    evidence: str
    verdict: str
    checks: tuple[Check, ...]
    remaining: str
    causes: dict[str, tuple[str, str]]
    table: list[dict[str, Any]]
    provenance: dict[str, Any]
    stand_in: str = ""

    @property
    def kind(self) -> str:
        """One of :data:`radeval_lib.study.verdicts.KINDS`."""
        return verdicts.kind(self.evidence, self.stand_in)

    @property
    def outcome(self) -> str:
        """Whether what was checked holds: one of :data:`~radeval_lib.study.verdicts.OUTCOMES`."""
        return verdicts.outcome_of(self.verdict)

    def with_outcome(self, outcome: str) -> list[Check]:
        """The checks with one of :data:`~radeval_lib.study.verdicts.CHECK_OUTCOMES`."""
        return [check for check in self.checks if check.outcome == outcome]


def judge(
    evidence: str,
    checks: Sequence[Check],
    *,
    remaining: str = "",
    stand_in: str = "",
    causes: Mapping[str, tuple[str, str]] | None = None,
    as_source: bool = True,
) -> str:
    """The verdict that checks earn on what they rest on (CONTRIBUTING.md, The words).

    A check that fails by a convention that the paper leaves open contradicts nothing: for the verdict it
    cannot tell.
    """
    if verdicts.kind(evidence, stand_in) == verdicts.EXPERIMENT:
        if checks:
            raise ResultError("an experiment of our own checks nothing that a paper states")
        return verdicts.EXPERIMENT
    if not checks:
        raise ResultError(
            "a result without a check earns no verdict", remedy="Leave the exhibit unrecorded instead."
        )
    called = [check.name for check in checks]
    if doubled := sorted({name for name in called if called.count(name) > 1}):
        raise ResultError(
            f"two checks are called {doubled[0]!r}", remedy="Give each check a name of its own."
        )
    if not as_source:  # whatever its cells checked, it is not what the source checks
        return verdicts.EDITED
    found = verdicts.outcome(counted_outcomes(checks, causes or {}), remaining)
    return verdicts.verdict(evidence, stand_in, found)


def counted_outcomes(checks: Sequence[Check], causes: Mapping[str, tuple[str, str]]) -> list[str]:
    """Outcomes as they count towards a verdict: one that fails by an open convention cannot tell."""
    return [
        verdicts.CANNOT_TELL if causes.get(check.name, ("", ""))[0] == OPEN_CONVENTION else check.outcome
        for check in checks
    ]


def causes_of(exhibit_id: str, evidence: str, checks: Sequence[Check]) -> dict[str, tuple[str, str]]:
    """The known cause of each failing check, by the check's name: of ``discrepancies`` in the paper's
    ``paper.yml``, where an entry holds on one kind of evidence, ``print`` unless it names another."""
    known = [
        entry
        for entry in paper(exhibit_id.partition(".")[0]).get("discrepancies") or []
        if entry["exhibit"] == exhibit_id and entry.get("evidence", "print") == evidence
    ]
    found = {}
    for check in checks:
        entry = next((e for e in known if any(fnmatchcase(check.name, glob) for glob in e["checks"])), None)
        if entry and check.outcome == verdicts.FAILS:
            found[check.name] = (entry["cause"], " ".join(entry["explanation"].split()))
    return found


def check_owner(run: Run, exhibit_id: str) -> None:
    """Refuse an exhibit that the ledger gives to another page than the run's."""
    entry = exhibit(exhibit_id)
    if entry.notebook != run.notebook:
        raise ResultError(f"{exhibit_id} belongs to notebook {entry.notebook!r}, not to {run.notebook!r}")


def record(
    run: Run,
    exhibit_id: str,
    *,
    evidence: str,
    checks: Sequence[Check],
    remaining: str = "",
    stand_in: str = "",
    roles: Sequence[str] | None = None,
    table: pd.DataFrame | None = None,
) -> Result:
    """Judge an exhibit and write the result with its provenance, whole or not at all.

    Parameters
    ----------
    roles : of data and models that it rests on; default: all that the run has read.
    """
    check_owner(run, exhibit_id)
    provenance = run.provenance(*_read_for(run, exhibit_id, evidence, roles))
    causes = causes_of(exhibit_id, evidence, checks)
    result = Result(
        exhibit=exhibit_id,
        notebook=run.notebook,
        evidence=evidence,
        verdict=judge(
            evidence,
            checks,
            remaining=remaining,
            stand_in=stand_in,
            causes=causes,
            as_source=provenance["notebook"]["as_source"] is not False,
        ),
        checks=tuple(checks),
        remaining=" ".join(remaining.split()),
        stand_in=" ".join(stand_in.split()),
        causes=causes,
        table=[] if table is None else json.loads(table.reset_index().to_json(orient="records")),
        provenance=provenance,
    )
    _write(run.results_dir / f"{exhibit_id}.{evidence}.json", result)
    return result


def _read_for(
    run: Run, exhibit_id: str, evidence: str, roles: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The sources of data and the roles of models that an exhibit rests on: what is computed on printed or
    released numbers reads no data and no model, whatever its page has read."""
    own = (f"papers/{exhibit_id.partition('.')[0]}",)
    if evidence == "print":
        return own, ()
    if evidence == "released":
        return (*own, RELEASED), ()
    if roles is None:
        return None, None
    made = tuple(source for source in run.reading.files if source.startswith("cells/"))
    return (*own, RELEASED, RECORDED_SCORES, *roles, *made), None


def _digest(content: dict[str, Any]) -> str:
    return checksums.of_text(json.dumps(content, sort_keys=True, ensure_ascii=False))


def _write(path: Path, result: Result) -> None:
    content = json.loads(json.dumps(asdict(result)))
    whole = {"format": _FORMAT, "sha256": _digest(content), **content}
    atomic.write_text(path, json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def read(path: Path) -> Result:
    """A recorded result; a ResultError of any file that this version did not write, or would write
    elsewhere."""
    remedy = "Run `radbook build`: it makes the page and its results again."
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        form, digest = content.pop("format"), content.pop("sha256")
        if form != _FORMAT:
            raise ResultError(f"results format {form!r}, where {_FORMAT} is wanted")
        if digest != _digest(content):
            raise ResultError("this results file was changed after it was written")
        content["checks"] = tuple(Check(**check) for check in content["checks"])
        content["causes"] = {name: (cause, why) for name, (cause, why) in content["causes"].items()}
        result = Result(**content)
        _require_known_words(result)
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ResultError(
            "this results file is cut short or of another version", display_path(path), remedy
        ) from None
    except RadevalError as error:
        raise ResultError(error.what, display_path(path), remedy) from None
    return result


def _require_known_words(result: Result) -> None:
    """Refuse a result in words that this version does not use, or of an exhibit that it does not have."""
    checked = [
        ("verdict", result.verdict, verdicts.VERDICTS),
        ("evidence", result.evidence, verdicts.EVIDENCE),
    ]
    checked += [("outcome of a check", check.outcome, verdicts.CHECK_OUTCOMES) for check in result.checks]
    checked += [("cause", cause, CAUSES) for cause, _ in result.causes.values()]
    for what, word, known in checked:
        if word not in known:
            raise ResultError(f"{word!r} is no {what} of this version")
    if exhibit(result.exhibit).notebook != result.notebook:
        raise ResultError(f"the ledger gives {result.exhibit} to another page than {result.notebook}")


def of_page(folder: Path) -> list[Result]:
    """The results in a page's folder ``<group>/<page>``, by the names of their files."""
    found = [(path, read(path)) for path in sorted(folder.glob("*.*.*.json"))]
    for path, result in found:
        if Path(result.notebook).parts != folder.parts[-2:]:
            raise ResultError(
                f"these are results of {result.notebook}, not of this page", display_path(path), "Delete it."
            )
    return [result for _, result in found]


def read_all(output_dir: Path) -> list[Result]:
    """Every recorded result of a profile, in the ledger's order."""
    from radeval_lib.papers.exhibits import ledger

    folders = sorted((output_dir / "results").glob("*/*"))
    results = [result for folder in folders for result in of_page(folder)]
    order = {exhibit_id: place for place, exhibit_id in enumerate(ledger())}
    return sorted(
        results, key=lambda result: (order[result.exhibit], verdicts.EVIDENCE.index(result.evidence))
    )


def recorded(run: Run) -> list[Result]:
    """What every page recorded, for a page that declares ``results: [all]``."""
    run.require_declared("results", ALL)
    return read_all(run.output_dir)
