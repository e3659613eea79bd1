"""Counts lines of code by part and by package, and compares them with the budgets in ``pyproject.toml``.

A line counts if it has a token that is neither a comment nor part of a docstring. In notebooks, only code
cells count; labs do not count. The budgets are in ``[tool.size.parts]`` and ``[tool.size.packages]``. They
only go down; if code moves to another package, its share of the budget moves, too.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n)?(.*?)^```", re.DOTALL | re.MULTILINE)
NO_PYTHON = re.compile(r"\s*[%!]|:\w")
PARTS = {"notebooks": "notebooks", "tests": "tests"}


def count_code_lines(source: str) -> int:
    """Return the number of lines of Python source that contain code."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def extract_code(source: str) -> str:
    """Return the code cells of a MyST notebook, without magics and cell options."""
    lines = "".join(CELL.findall(source)).split("\n")
    return "\n".join(line for line in lines if not NO_PYTHON.match(line)) + "\n"


def find_part(path: Path) -> str:
    """Return the part of the project that a file belongs to."""
    if path.parts[0] == "radeval_lib":
        return "rules" if path.parts[1] == "rules" else "library"
    return PARTS.get(path.parts[0], "workflow")


def count_all() -> tuple[Counter[str], Counter[str]]:
    """Return two mappings to numbers of lines of code: from parts of the project and ``outside tests`` (their
    total without tests), and from the library's packages."""
    parts, packages = Counter[str](), Counter[str]()
    for path in sorted([*ROOT.rglob("*.py"), *(ROOT / "notebooks").rglob("*.md")]):
        relative = path.relative_to(ROOT)
        if relative.parts[0] in ("build", "data") or any(name.startswith(".") for name in relative.parts):
            continue
        if path.suffix == ".md" and "labs" in relative.parts:
            continue
        text = path.read_text(encoding="utf-8")
        count = count_code_lines(text if path.suffix == ".py" else extract_code(text))
        parts[find_part(relative)] += count
        if relative.parts[0] == "radeval_lib":
            packages[relative.parts[1] if len(relative.parts) > 2 else "*.py"] += count
    parts["outside tests"] = sum(count for name, count in parts.items() if name != "tests")
    return parts, packages


def main() -> int:
    """Print every count with its budget; return 1 if a budget is exceeded or missing, otherwise 0."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["size"]
    over = False
    for counted, budgets in zip(count_all(), (settings["parts"], settings["packages"]), strict=True):
        for name, count in counted.most_common():
            budget = budgets.get(name, 0)
            over |= count > budget
            print(f"{name:14s} {count:7,} of {budget:7,}{'  OVER' if count > budget else ''}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
