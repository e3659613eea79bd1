"""Compare what two editions say: ``python -m tests.compare_editions build/embedded build/open``.

Two sentences agree where their words are the same and their numbers near: a stored score may differ from
a new one in its last digits, and one by models that were trained again by more.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import nbformat

from radeval_lib.study.changes import findings

ON_OTHER_REPORTS = {
    "green/judge_models": "the radiologists' counts are in the public edition alone",
}
"""Pages whose bold sentence rests on reports that one edition has, with the reason; each says what it had."""
NEAR, NEAR_PERCENT = 0.03, 3.0
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?%?")
_GLUED = re.compile(r"\{glue:text\}`([^`:]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)


def bold_sentence(executed: Path) -> str:
    """Return the first bold sentence of a page, with the texts that its cells handed over; empty where there
    is none."""
    page = nbformat.read(executed, as_version=4)
    texts = {}
    for cell in page.cells:
        for output in cell.get("outputs", []):
            if name := output.get("metadata", {}).get("scrapbook", {}).get("name"):
                texts[name] = str(ast.literal_eval(next(iter(output["data"].values()))))
    for cell in page.cells:
        if cell.cell_type == "markdown" and (found := _BOLD.search(cell.source)):
            return " ".join(_GLUED.sub(lambda name: texts.get(name[1], ""), found[1]).split())
    return ""


def differ(one: str, other: str) -> str:
    """Return how two sentences differ, in words; empty where they agree."""
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return "other words"
    for first, second in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True):
        a, b = (float(number.rstrip("%").replace(",", "")) for number in (first, second))
        percent, exact = first.endswith("%"), "." not in first
        if abs(a - b) > (NEAR_PERCENT if percent else 0 if exact else NEAR) + 1e-9:
            return f"{first} and {second}"
    return ""


def differences(one: Path, other: Path) -> list[str]:
    """Return one line for each finding of both builds, and each page's bold sentence, that differ."""
    lines = []
    ours, theirs = findings(one), findings(other)
    for key in sorted(ours.keys() & theirs.keys()):
        if how := differ(ours[key], theirs[key]):
            lines.append(f"finding {key}: {how}")
    for path in sorted((one / "executed").glob("*/*.ipynb")):
        name = path.relative_to(one / "executed").with_suffix("").as_posix()
        twin = other / "executed" / f"{name}.ipynb"
        if not twin.is_file() or name in ON_OTHER_REPORTS:
            continue
        both = bold_sentence(path), bold_sentence(twin)
        if all(both) and (how := differ(*both)):
            lines.append(f"{name}: {how}\n  {both[0]}\n  {both[1]}")
    return lines


def main() -> None:
    lines = differences(*map(Path, sys.argv[1:3]))
    print("\n".join(lines) or "both editions say the same")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
