"""Compare the results of two builds: verdicts, outcomes of checks, numbers and intervals.

Pages and wording do not count. The script imports nothing of the library, so that it stays as it is while the
library changes.

    python tests/baseline/compare.py pack build/smoke/results tests/baseline/smoke.json.gz
    python tests/baseline/compare.py diff tests/baseline/smoke.json.gz build/smoke/results [--asked]

``renamings.json`` beside it translates old words (``values``) and old keys (``exhibits``, ``checks``), and
lists under ``asked`` the exhibits whose results are meant to change, each with the reason; without
``--asked`` they are left out.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from pathlib import Path
from typing import Any

RENAMINGS = Path(__file__).with_name("renamings.json")
NUMBERS = ("value", "low", "high")


def packed(folder: Path, words: dict[str, str]) -> dict[str, Any]:
    """Reduce a folder of results to what is compared, by exhibit and evidence."""
    results = {}
    for path in sorted(folder.rglob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        if "exhibit" not in result:
            continue
        checks: dict[str, Any] = {}
        for check in result["checks"]:
            parts = check["key"]
            key = " | ".join(str(parts[name]) for name in ("what", "row", "column"))
            while key in checks:
                key += " +"
            outcome = check["outcome"]
            checks[key] = {
                "outcome": words.get(outcome, outcome),
                **{name: check.get(name) for name in NUMBERS},
            }
        evidence, verdict = result["evidence"], result["verdict"]
        name = f"{result['exhibit']} {words.get(evidence, evidence)}"
        while name in results:
            name += " +"
        results[name] = {"verdict": words.get(verdict, verdict), "checks": checks}
    return results


def same(old: Any, new: Any) -> bool:
    """Return whether two numbers agree to nine digits, or two other values are equal."""
    if isinstance(old, int | float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(old) and math.isnan(new))
    return bool(old == new)


def differences(old: dict[str, Any], new: dict[str, Any], asked: dict[str, str]) -> list[str]:
    """List what differs, a line each, but for the exhibits that are meant to change."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        if name.split()[0] in asked:
            continue
        if name not in old or name not in new:
            lines.append(f"{name}: {'new' if name in new else 'gone'}")
            continue
        before, after = old[name], new[name]
        if before["verdict"] != after["verdict"]:
            lines.append(f"{name}: verdict {before['verdict']} -> {after['verdict']}")
        for key in sorted(before["checks"].keys() | after["checks"].keys()):
            was, now = before["checks"].get(key), after["checks"].get(key)
            if was is None or now is None:
                lines.append(f"{name}: check {'new' if was is None else 'gone'}: {key}")
                continue
            changed = [field for field in ("outcome", *NUMBERS) if not same(was[field], now[field])]
            lines += [f"{name}: {key}: {field} {was[field]} -> {now[field]}" for field in changed]
    return lines


def read(path: Path, renamings: dict[str, Any]) -> dict[str, Any]:
    """Read a folder of results, or a packed file, in today's words and keys."""
    if path.is_dir():
        return packed(path, renamings["values"])
    results: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    words, exhibits, keys = renamings["values"], renamings["exhibits"], renamings["checks"]
    renamed = {}
    for name, result in results.items():
        exhibit, evidence, *rest = name.split(" ")
        checks = {
            keys.get(f"{exhibit}: {key}", key): check
            | {"outcome": words.get(check["outcome"], check["outcome"])}
            for key, check in result["checks"].items()
        }
        key = " ".join([exhibits.get(exhibit, exhibit), words.get(evidence, evidence), *rest])
        renamed[key] = {"verdict": words.get(result["verdict"], result["verdict"]), "checks": checks}
    return renamed


def main(arguments: list[str]) -> int:
    """Run ``pack`` or ``diff``; return 1 where something differs."""
    renamings = json.loads(RENAMINGS.read_text(encoding="utf-8"))
    command, first, second = arguments[0], Path(arguments[1]), Path(arguments[2])
    if command == "pack":
        text = json.dumps(packed(first, {}), sort_keys=True)
        second.write_bytes(gzip.compress(text.encode(), mtime=0))
        return 0
    asked = {} if "--asked" in arguments else renamings["asked"]
    lines = differences(read(first, renamings), read(second, renamings), asked)
    print("\n".join(lines) or "no difference")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
