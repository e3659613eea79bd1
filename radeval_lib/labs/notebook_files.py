"""Reads notebooks that students hand in: of every version of the format, and as jupytext's texts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from radeval_lib.labs import PLACEHOLDER, known_id

NOTEBOOK = ".ipynb"
SCRIPTS = (".py", ".md", ".rmd", ".qmd")
LARGEST = 300_000_000
"""The most bytes of a file, and of an archive's files together."""
_BEGINNINGS = {
    b"%PDF": "a PDF",
    b"PK\x03\x04": "a zip or a document of an office program",
    b"<!": "a web page",
    b"<h": "a web page",
    b"\x89PNG": "a picture",
    b"\xff\xd8": "a picture",
    b"Rar!": "an archive that is not opened here",
    b"7z\xbc\xaf": "an archive that is not opened here",
    b"\x1f\x8b": "an archive that is not opened here",
}
# Checks("lab", "0.1.0-1a2b3c4d")
_BEGUN = re.compile(r"""Checks\(\s*["']([\w-]+)["']\s*,\s*["']([\w.+-]+)["']""")


@dataclass(frozen=True)
class SubmittedNotebook:
    """The sources of a notebook's code cells, and the lab and version that it names."""

    cells: list[str]
    lab: str
    version: str
    notes: list[str]


def read(path: Path) -> SubmittedNotebook:
    """The notebook of a file; a ValueError that says why where the file is not a notebook."""
    if path.stat().st_size > LARGEST:
        raise ValueError(f"larger than {LARGEST // 10**6} MB")
    notes: list[str] = []
    data = path.read_bytes()
    if not data.strip():
        raise ValueError("not a notebook but an empty file: ask for the .ipynb")
    text = _text(data, notes)
    if path.suffix.lower() in SCRIPTS:
        notebook = _by_jupytext(text, path.suffix.lower())
        notes.append("a text, read by jupytext")
    else:
        try:
            notebook = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(refusal(path)) from None
    return _sources(notebook, notes)


def written_id(cells: Sequence[str]) -> str:
    """The id that a notebook's code states as a text or number; empty where it states none or several."""
    ids = set[str]()
    for cell in cells:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            for node in ast.parse(cell).body:
                if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [
                    "student_id"
                ]:
                    ids.add(known_id(ast.literal_eval(node.value)))
    ids.discard(PLACEHOLDER)
    return ids.pop() if len(ids) == 1 else ""


def _text(data: bytes, notes: list[str]) -> str:
    """A file's bytes as a text; a note where it is not UTF-8."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        notes.append("not UTF-8: read as Windows-1252")
        return data.decode("cp1252", errors="replace")


def _by_jupytext(text: str, suffix: str) -> dict[str, object]:
    """A text as a notebook; a ValueError where jupytext, or what it calls for a format, cannot read it."""
    import jupytext

    try:
        return dict(jupytext.reads(text, fmt={"extension": suffix.replace(".rmd", ".Rmd")}))
    except Exception as error:  # of its parsers of YAML and Markdown, or of quarto, which may be missing
        why = f"a text that jupytext cannot read ({type(error).__name__}): ask for the .ipynb"
        raise ValueError(why) from None


def _sources(notebook: object, notes: list[str]) -> SubmittedNotebook:
    """Code cells of any version of the format, as far as they are what they should be."""
    if not isinstance(notebook, dict):
        raise ValueError("not a notebook, though JSON")
    sheets = notebook.get("worksheets", [])  # version 3
    if isinstance(sheets, list) and sheets:
        notes.append("of an old version of the format")
    every = [
        cell for sheet in (notebook, *(sheets if isinstance(sheets, list) else [])) for cell in _cells(sheet)
    ]
    if not every and not isinstance(notebook.get("cells"), list):
        raise ValueError("not a notebook, though JSON")
    parts = [cell.get("source", cell.get("input")) for cell in every if cell.get("cell_type") == "code"]
    cells = ["".join(map(str, part)) for part in parts if isinstance(part, str | list)]
    lab, version = _named(notebook.get("metadata"))
    for source in cells:
        if match := _BEGUN.search(source):
            lab, version = match[1], match[2]
            break
    return SubmittedNotebook(cells, lab, version, notes)


def _cells(sheet: object) -> Iterator[dict[str, object]]:
    cells = sheet.get("cells") if isinstance(sheet, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict):
            yield cell


def _named(metadata: object) -> tuple[str, str]:
    """The lab and version in a notebook's metadata; "before versions" where only the lab is there."""
    known = metadata if isinstance(metadata, dict) else {}
    own, old = known.get("radeval_lab"), known.get("otter")
    if isinstance(own, dict):
        return str(own.get("name", "")), str(own.get("version", ""))
    if isinstance(old, dict) and "assignment_name" in old:
        return str(old["assignment_name"]), "before versions"
    return "", ""


def refusal(path: Path) -> str:
    """What a file is that is no notebook, in a note to the person who grades."""
    start = b""
    with suppress(OSError), path.open("rb") as file:
        start = file.read(8)
    kinds = (kind for signature, kind in _BEGINNINGS.items() if start.startswith(signature))
    kind = next(kinds, "another kind of file")
    if start.lstrip().startswith(b"{") and path.suffix.lower() == NOTEBOOK:
        return "a notebook that is cut off or damaged: ask for the .ipynb again"
    return f"not a notebook but {kind}: ask for the .ipynb"
