"""Lints and formats the code of notebooks: ``python workflow/notebook_style.py [--fix]``.

Ruff reads notebooks but not MyST sources, so their code cells are copied to temporary notebooks and back. The
script also finds lines of prose, in notebooks and in ``book/``, that Markdown would mistake for list items.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from radeval_lib.paths import LABS, NOTEBOOKS, ROOT
from radeval_lib.study.sources import code_cells, read_source

LAB_WIDTH = 79
"""Maximum number of characters in a line of a lab's code; the book would wrap longer lines."""
_NOTEBOOK_POSITION = re.compile(r"(?P<path>[^\s:]+\.ipynb):cell (?P<cell>\d+):(?P<line>\d+):(?P<column>\d+)")


def main(fix: bool) -> int:
    """Check all notebooks and, if ``fix``, correct them; return the exit status, 0 if no fault is left."""
    with tempfile.TemporaryDirectory() as folder:
        sources = {
            path: path.read_text(encoding="utf-8").split("\n") for path in sorted(NOTEBOOKS.glob("*/*.md"))
        }
        copies = {path: Path(folder) / path.relative_to(NOTEBOOKS).with_suffix(".ipynb") for path in sources}
        for path, lines in sources.items():
            read_source(path)  # raises an error for a caption that is not valid YAML
            copies[path].parent.mkdir(exist_ok=True)
            cells = [nbformat.v4.new_code_cell("\n".join(lines[cell])) for cell in code_cells(lines)]
            metadata = {"language_info": {"name": "python"}}
            nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), copies[path])
        settings = f"extend = '{ROOT / 'pyproject.toml'}'\nsrc = ['{ROOT}']\n"
        (Path(folder) / "ruff.toml").write_text(settings, encoding="utf-8")
        narrow = Path(folder) / LABS.name / "ruff.toml"
        narrow.write_text(f"extend = '../ruff.toml'\nline-length = {LAB_WIDTH}\n", encoding="utf-8")
        fix_option = ["--fix"] if fix else []
        check = _ruff("check", "--output-format", "concise", *fix_option, "--no-cache", folder)
        form = _ruff("format", *([] if fix else ["--check"]), "--no-cache", folder)
        if fix:
            for path, lines in sources.items():
                cells, fixed = nbformat.read(copies[path], as_version=4).cells, list(lines)
                for cell, new in reversed(list(zip(code_cells(lines), cells, strict=True))):
                    fixed[cell] = new.source.split("\n")
                path.write_text("\n".join(fixed), encoding="utf-8")
        output = "" if fix and not check.returncode else check.stdout
        output += form.stdout + form.stderr if form.returncode else ""
        print(_restore_positions(output, sources, folder), end="")
    pages = sorted([*NOTEBOOKS.rglob("*.md"), *(ROOT / "book").rglob("*.md")])
    messages = [line for path in pages for line in find_accidental_lists(path.read_text("utf-8"), path)]
    print("".join(f"{line}\n" for line in messages), end="")
    return check.returncode or form.returncode or bool(messages)


def find_accidental_lists(text: str, path: Path) -> list[str]:
    """Return a message for each line in a paragraph that Markdown would mistake for the first item of a
    list."""
    messages, fence, paragraph = [], "", False
    for number, line in enumerate(text.split("\n"), start=1):
        fence_start = re.match(r"\s*(`{3,}|:{3,}|\$\$(?=$))", line) or (
            number == 1 and re.match("(---)", line)
        )
        if fence:
            fence = "" if line.lstrip().startswith(fence) else fence
        elif fence_start:
            fence, paragraph = fence_start[1], False
        else:
            item = re.match(r"\s*([-+*]|\d+[.)])\s", line) is not None
            if item and paragraph:
                position = f"{path.relative_to(ROOT).as_posix()}:{number}"
                messages.append(f"{position}: a paragraph would turn into a list here; rewrap it")
            paragraph = bool(line.strip()) and not item and (paragraph or not line.startswith((" ", "#")))
    return messages


def _ruff(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Ruff in the repository, and return its result with the output."""
    command = [sys.executable, "-m", "ruff", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _restore_positions(output: str, sources: dict[Path, list[str]], folder: str) -> str:
    """Return Ruff's output with positions in the temporary notebooks replaced by those in the sources."""

    def find_in_source(match: re.Match[str]) -> str:
        path = NOTEBOOKS / Path(match["path"]).resolve().relative_to(Path(folder).resolve()).with_suffix(
            ".md"
        )
        cell = list(code_cells(sources[path]))[int(match["cell"]) - 1]
        return f"{path.relative_to(ROOT).as_posix()}:{cell.start + int(match['line'])}:{match['column']}"

    return (
        _NOTEBOOK_POSITION.sub(find_in_source, output).replace(folder, "notebooks").replace(".ipynb", ".md")
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Lint and format the code of notebooks.")
    parser.add_argument("--fix", action="store_true")
    sys.exit(main(parser.parse_args().fix))
