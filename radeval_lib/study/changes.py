"""What changed between two editions: verdicts, checks and findings, and the page that says so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from radeval_lib.errors import ResultError, plain
from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.paths import display_path
from radeval_lib.study.headlines import headlines

_INTERVAL = re.compile(r"\[[^\]]*\]|p [=<] [\d.e-]+")
_NAME = re.compile(r"[\w-]+\.\w+\.[a-z]+\.json")
Results = dict[str, dict[str, Any]]
Checks = list[dict[str, Any]]


def _files(edition: Path, pattern: str) -> dict[str, Path]:
    """Return files of results by their names: of a build's folder, or of a rendered book, which has them in
    one."""
    folder = edition / "results"
    return {path.name: path for path in sorted([*folder.glob(pattern), *folder.glob(f"*/*/{pattern}")])}


def recorded(edition: Path) -> Results:
    """Return every recorded result of an edition by its file name, without provenance and digest.

    Parameters
    ----------
    edition : the folder of a build, as ``build/open``, or of a rendered book, as ``book.zip`` has it.
    """
    found = {}
    for name, path in _files(edition, "*.*.*.json").items():
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict) and _NAME.fullmatch(name):  # a rendered book has printed numbers, too
            found[name] = {
                key: value for key, value in content.items() if key not in ("provenance", "sha256", "format")
            }
    return found


def findings(edition: Path) -> dict[str, str]:
    """Return the front page's findings that an edition bears out, by id."""
    files, found = _files(edition, "headline_*.json"), {}
    for key, entry in headlines().items():
        path = files.get(f"headline_{key}.json")
        content = json.loads(path.read_text(encoding="utf-8")) if path else {}
        if content.get("holds") and content["evidence"] in entry.needs:
            try:
                found[key] = entry.text.format(**content["texts"])
            except KeyError:  # of an edition whose sentence had other numbers
                found[key] = f"in other words, with {', '.join(content['texts'].values())}"
    return found


def named(check: dict[str, Any]) -> str:
    """Return a check's key in words; results before format 5 hold the words alone."""
    return ", ".join(filter(None, check["key"].values())) if "key" in check else str(check["name"])


def _loose(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the ends of its intervals, its p values and its rebuilt table, which has
    both."""
    checks = [
        {**check, "computed": _INTERVAL.sub("[]", check["computed"]), "low": None, "high": None}
        for check in result["checks"]
    ]
    return {**result, "checks": checks, "table": []}


def differences(old: Path, new: Path, *, intervals: bool = False) -> list[str]:
    """Return one line for each result that is missing, new or different.

    ``intervals``: let ends of intervals and p values move, and rebuilt tables, which hold them.
    """
    before, after = recorded(old), recorded(new)
    lines = [f"missing: {name}" for name in before.keys() - after.keys()]
    lines += [f"new: {name}" for name in after.keys() - before.keys()]
    for name in before.keys() & after.keys():
        lines += [f"{name}: {line}" for line in _result_differences(before[name], after[name], intervals)]
    return sorted(lines)


def _result_differences(old: dict[str, Any], new: dict[str, Any], intervals: bool) -> Iterator[str]:
    """Yield a line for each difference of a result: its verdict, checks, and other fields."""
    if old["verdict"] != new["verdict"]:
        yield f"verdict {old['verdict']} -> {new['verdict']}"
    if intervals:
        old, new = _loose(old), _loose(new)
    for key in dict.fromkeys([*old, *new]):
        if key == "checks":
            yield from _check_differences(old[key], new[key])
        elif key != "verdict" and old.get(key) != new.get(key):
            yield f"{key}: {str(old.get(key))[:150]} -> {str(new.get(key))[:150]}"


def _check_differences(old: Checks, new: Checks) -> Iterator[str]:
    """Yield a line for each check that differs, is new, or is gone."""
    before, after = ({named(check): check for check in checks} for checks in (old, new))
    for name, check in after.items():
        if before.get(name) != check:
            yield f"{name}: {before.get(name, {}).get('computed')!r} -> {check['computed']!r}"
    for name in before.keys() - after.keys():
        yield f"no check {name}"


def page(old: Path, new: Path) -> str:
    """Return what changed from an old edition to a new one, in Markdown: verdicts, outcomes of checks,
    findings, and results that are new or gone.

    Raises
    ------
    ResultError
        If one of the folders has no results.
    """
    before, after = recorded(old), recorded(new)
    for folder, found in ((old, before), (new, after)):
        if not found:
            remedy = "Give the folder of a build, or of a rendered book."
            raise ResultError("no recorded results", display_path(folder), remedy)
    both = [name for name in after if name in before]
    verdicts = [
        (_exhibit(after[name]), after[name]["evidence"], before[name]["verdict"], after[name]["verdict"])
        for name in both
        if before[name]["verdict"] != after[name]["verdict"]
    ]
    checks = [row for name in both for row in _changed_outcomes(before[name], after[name])]
    headlines_changed = _changed_findings(old, new)
    fresh, gone = _only_in(after, before), _only_in(before, after)
    return "\n".join(
        [
            "# What changed since the last edition",
            "",
            f"- results that both editions have: {len(both)}",
            f"- of these, with another verdict: {len(verdicts)}",
            f"- checks of these with another outcome: {len(checks)}",
            f"- findings of the front page that read otherwise: {len(headlines_changed)}",
            f"- new results: {len(fresh)}; results that are gone: {len(gone)}",
            "",
            *_table("Verdicts", ("exhibit", "evidence", "before", "now"), verdicts),
            *_table("Findings of the front page", ("before", "now"), headlines_changed),
            *_table("Checks with another outcome", ("exhibit", "check", "before", "now"), checks),
            *_table("New results", ("exhibit", "evidence", "verdict"), fresh),
            *_table("Results that are gone", ("exhibit", "evidence", "verdict"), gone),
        ]
    )


def _changed_outcomes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield exhibit, check, and its outcome before and now, of each check of a result that has another
    outcome."""
    before = {named(check): check for check in old["checks"]}
    for check in new["checks"]:
        earlier = before.get(named(check))
        if earlier is not None and earlier["outcome"] != check["outcome"]:
            outcomes = [f"{side['outcome']} ({side['computed']})" for side in (earlier, check)]
            yield (_exhibit(new), named(check), *outcomes)


def _changed_findings(old: Path, new: Path) -> list[tuple[str, ...]]:
    """Return the sentence before and now of each finding of the front page that reads otherwise."""
    before, after = findings(old), findings(new)
    return [
        (before.get(key) or _silent(old, key), after.get(key) or _silent(new, key))
        for key in headlines()
        if before.get(key) != after.get(key)
    ]


def _only_in(results: Results, others: Results) -> list[tuple[str, ...]]:
    """Return exhibit, evidence and verdict of the results that others lack, sorted."""
    missing = (results[name] for name in results.keys() - others)
    return sorted((_exhibit(result), str(result["evidence"]), str(result["verdict"])) for result in missing)


def _silent(edition: Path, headline: str) -> str:
    """Return why a finding is not among those of an edition."""
    known = _files(edition, f"headline_{headline}.json")
    return "not borne out" if known else "not computed"


def _exhibit(result: dict[str, Any]) -> str:
    """Return an exhibit in words; by its id where the ledger has it no more."""
    entry = ledger().get(result["exhibit"])
    return f"{PAPERS[entry.paper]}: {entry.label}" if entry else str(result["exhibit"])


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a section with a table; nothing where there are no rows."""
    cells = [[" ".join(plain(str(cell), 2_000).replace("|", "\\|").split()) for cell in row] for row in rows]
    if not cells:
        return []
    head_lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return [f"## {title}", "", *head_lines, *(f"| {' | '.join(row)} |" for row in cells), ""]
