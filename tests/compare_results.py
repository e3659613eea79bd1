"""Compare what two builds recorded: `python -m tests.compare_results OLD NEW`, two folders as build/smoke.

Provenance, versions and paths may differ; verdicts, checks, numbers, tables and stand-ins may not. With
`--intervals`, ends of intervals may move, and only what else changed is listed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

_INTERVAL = re.compile(r"\[[^\]]*\]|p = [\d.e-]+")


def recorded(build: Path) -> dict[str, dict[str, Any]]:
    """Every recorded result by its file name, without provenance and digest."""
    found = {}
    for path in sorted((build / "results").glob("*/*/*.*.*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        found[path.name] = {
            key: value for key, value in content.items() if key not in ("provenance", "sha256", "format")
        }
    return found


def _name(check: dict[str, Any]) -> str:
    """A check's key in words; results before format 5 hold the words alone."""
    return ", ".join(filter(None, check["key"].values())) if "key" in check else str(check["name"])


def _loose(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the ends of its intervals."""
    checks = [
        {**check, "computed": _INTERVAL.sub("[]", check["computed"]), "low": None, "high": None}
        for check in result["checks"]
    ]
    return {**result, "checks": checks, "table": []}


def differences(old: Path, new: Path, *, intervals: bool = False) -> list[str]:
    """One line for each result that is missing, new or different."""
    before, after = recorded(old), recorded(new)
    lines = [f"missing: {name}" for name in before.keys() - after.keys()]
    lines += [f"new: {name}" for name in after.keys() - before.keys()]
    for name in before.keys() & after.keys():
        first, second = before[name], after[name]
        if first["verdict"] != second["verdict"]:
            lines.append(f"{name}: verdict {first['verdict']} -> {second['verdict']}")
        if intervals:
            first, second = _loose(first), _loose(second)
        changed = sorted(key for key in first if first[key] != second.get(key))
        for key in changed:
            if key == "checks":
                pairs = {_name(check): check for check in first["checks"]}
                for check in second["checks"]:
                    called = _name(check)
                    if pairs.get(called) != check:
                        told = (pairs.get(called) or {}).get("computed")
                        lines.append(f"{name}: {called}: {told!r} -> {check['computed']!r}")
                lines += [
                    f"{name}: no check {gone}" for gone in pairs.keys() - {_name(c) for c in second["checks"]}
                ]
            elif key != "verdict":
                lines.append(f"{name}: {key}: {str(first[key])[:150]} -> {str(second.get(key))[:150]}")
    return sorted(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--intervals", action="store_true", help="let the ends of intervals move")
    given = parser.parse_args()
    lines = differences(given.old, given.new, intervals=given.intervals)
    print("\n".join(lines) or f"no difference in {len(recorded(given.new))} results")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
