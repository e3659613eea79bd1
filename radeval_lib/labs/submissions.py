"""Finds what a class handed in, however it lies in its folder, and reads notebooks of every kind.

Nothing is changed in the folder: archives are opened elsewhere, and each submission gets copies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from radeval_lib.errors import plain

NOTEBOOK = ".ipynb"
_SCRIPTS = (".py", ".md", ".rmd", ".qmd")
_IGNORED = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "node_modules"}
_CHECKPOINTS = ".ipynb_checkpoints"
_LARGEST = 300_000_000  # bytes of a file, and of an archive's files together
_MEMBERS, _DEPTH = 5_000, 3
_ACCOMPANYING = 100_000_000
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
_BEGUN = re.compile(r"""Checks\(\s*["']([\w-]+)["']\s*,\s*["']([\w.+-]+)["']""")
_LEARNING_SYSTEM = re.compile(r"^(?P<who>[^_]+)_(?:LATE_)?\d+_\d+_")
_AGAIN = re.compile(r"[-_ ]*(?:\(\d+\)|[vV]?\d+|final|copy|new|late)$", re.IGNORECASE)


@dataclass
class Submission:
    """A file that was handed in, or a folder without one.

    Parameters
    ----------
    name : its path in the class's folder, archives being folders.
    sender : who handed it in, as far as folders and file names say.
    path : a file to read; None where there is nothing to grade, which ``notes`` explain.
    files : a folder with copies of what came with it.
    time : when it was last changed, in seconds of the epoch.
    """

    name: str
    sender: tuple[str, str]
    path: Path | None
    time: float
    files: Path | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SubmittedNotebook:
    """The sources of a notebook's code cells, and the lab and version that it names."""

    cells: list[str]
    lab: str
    version: str
    notes: list[str]


def collect(folder: Path, scratch: Path, leave_out: Sequence[Path] = ()) -> list[Submission]:
    """Every submission below a folder, with private copies in ``scratch``; some places are left out."""
    found: list[Submission] = []
    _walk(folder, PurePosixPath(), scratch, {path.resolve() for path in leave_out}, found, 0)
    own = [one.name.split("/") for one in found]
    while own and len({parts[0] for parts in own}) == 1 and all(len(parts) > 2 for parts in own):
        own = [parts[1:] for parts in own]
    for one, parts in zip(found, own, strict=True):
        one.sender = (parts[0] if len(parts) > 1 else "", _file_sender(PurePosixPath(parts[-1]).stem))
    return found


def _file_sender(stem: str) -> str:
    """The student whom a file's name names: ``ada``, ``ada-2``, ``ada (1)`` and ``ada_v2_final`` are one."""
    if match := _LEARNING_SYSTEM.match(stem):
        return match["who"].lower()
    while (shorter := _AGAIN.sub("", stem)) and shorter != stem:
        stem = shorter
    return stem.lower()


def _walk(
    folder: Path, name: PurePosixPath, scratch: Path, left_out: set[Path], found: list[Submission], depth: int
) -> None:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        _add(found, name, None, notes=["a folder that cannot be read"])
        return
    before = len(found)
    others = []
    for entry in entries:
        path, own = Path(entry.path), name / plain(entry.name, 120)
        if entry.name in _IGNORED or path.resolve() in left_out:
            continue
        if entry.is_symlink():
            _add(found, own, None, notes=["a link, which is not followed: ask for the file"])
        elif entry.name == _CHECKPOINTS:
            _autosaves(path, own, folder, found)
        elif entry.name.startswith("."):
            continue
        elif entry.is_dir():
            if not (path / "pyvenv.cfg").exists():
                _walk(path, own, scratch, left_out, found, depth + (str(name) != "."))
        elif not entry.is_file():
            _add(found, own, None, notes=["neither a file nor a folder"])
        elif path.suffix.lower() == ".zip" and depth < _DEPTH:
            target = scratch / f"archive-{sum(1 for _ in scratch.glob('archive-*'))}"
            notes = _unpack(path, target)
            count = len(found)
            _walk(target, own, scratch, left_out, found, depth + 1)
            if notes:
                for one in found[count:]:
                    one.notes = [*notes, *(one.notes if one.path else [])]
        elif path.suffix.lower() == NOTEBOOK or _is_script(path, entries):
            _add(found, own, path)
        else:
            others.append((own, path))
    if len(found) == before:
        _nothing(name, others, found, whole=str(name) != ".")
    elif str(name) == ".":
        for own, path in others:
            _add(found, own, None, notes=[_refusal(path)])
    else:
        _accompany(found[before:], folder, [path for _, path in others], scratch)


def _add(
    found: list[Submission], name: PurePosixPath, path: Path | None, *, notes: Sequence[str] = ()
) -> Submission:
    with suppress(OSError):
        time = path.stat().st_mtime if path else 0.0
        found.append(Submission(name.as_posix(), ("", ""), path, time, notes=list(notes)))
        return found[-1]
    found.append(Submission(name.as_posix(), ("", ""), None, 0.0, notes=["a file that cannot be read"]))
    return found[-1]


def _autosaves(folder: Path, name: PurePosixPath, beside: Path, found: list[Submission]) -> None:
    """What Jupyter saved by itself counts only where the notebook itself was not handed in."""
    for path in sorted(folder.glob(f"*{NOTEBOOK}")):
        if not (beside / path.name.replace("-checkpoint", "")).exists() and not path.is_symlink():
            note = "an autosave, as the notebook itself was not handed in"
            _add(found, name / plain(path.name, 120), path, notes=[note])


def _is_script(path: Path, beside: Sequence[os.DirEntry[str]]) -> bool:
    """Whether a text is a notebook of jupytext: it names an id, or no notebook lies beside it."""
    if path.suffix.lower() not in _SCRIPTS:
        return False
    with suppress(OSError):
        text = path.read_bytes()[:_LARGEST]
        alone = not any(entry.name.lower().endswith(NOTEBOOK) for entry in beside)
        return b"student_id" in text or (alone and path.suffix.lower() == ".py")
    return False


def _nothing(
    name: PurePosixPath, others: Sequence[tuple[PurePosixPath, Path]], found: list[Submission], *, whole: bool
) -> None:
    """A folder without a notebook is one submission; of the class's own folder each file is."""
    if not others and whole:
        _add(found, name, None, notes=["an empty folder: nothing was handed in"])
    for own, path in others[: 1 if whole else None]:
        _add(found, own, None, notes=[_refusal(path)])


def _refusal(path: Path) -> str:
    begun = b""
    with suppress(OSError), path.open("rb") as file:
        begun = file.read(8)
    kind = next(
        (kind for begin, kind in _BEGINNINGS.items() if begun.startswith(begin)), "another kind of file"
    )
    return f"not a notebook but {kind}: ask for the .ipynb"


def _accompany(own: Sequence[Submission], folder: Path, files: Sequence[Path], scratch: Path) -> None:
    """Copy what lies beside a folder's only notebook, and leave it with that."""
    gradable = [one for one in own if one.path is not None and one.path.parent == folder]
    if len(gradable) != 1 or not files:
        return
    (one,) = gradable
    if sum(path.stat().st_size for path in files) > _ACCOMPANYING:
        one.notes.append(f"its files are larger than {_ACCOMPANYING // 10**6} MB together, and were left out")
        return
    one.files = scratch / f"files-{sum(1 for _ in scratch.glob('files-*'))}"
    one.files.mkdir(mode=0o755)
    for path in files:
        with suppress(OSError):
            shutil.copyfile(path, one.files / path.name)
            (one.files / path.name).chmod(0o644)


def _unpack(path: Path, target: Path) -> list[str]:
    """Unpack an archive into a new folder, whatever it holds; what was left out, and why."""
    target.mkdir(parents=True)
    notes: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            left = _LARGEST
            members = archive.infolist()
            if len(members) > _MEMBERS:
                notes.append(f"only the first {_MEMBERS} files of the zip were looked at")
            for member in members[:_MEMBERS]:
                left -= _unpack_member(archive, member, target, left)
                if left < 0:
                    notes.append(f"a zip of more than {_LARGEST // 10**6} MB, of which the rest was left out")
                    break
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, EOFError) as error:
        notes.append(f"a zip that cannot be opened ({plain(str(error), 80)}): ask for the .ipynb")
    return notes


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Write a member of an archive, at most ``left`` bytes; how many it has. What would lie elsewhere, and
    links, are passed over."""
    name = PurePosixPath(member.filename.replace("\\", "/"))
    outside = name.is_absolute() or ".." in name.parts or ":" in name.parts[0] if name.parts else True
    if outside or stat.S_ISLNK(member.external_attr >> 16):
        return 0
    place = target.joinpath(*name.parts)
    if member.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        return 0
    place.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with archive.open(member) as source, place.open("xb") as file:
        while part := source.read(1 << 20):
            written += len(part)
            if written > left:
                break
            file.write(part)
    if written > left:
        place.unlink()
    else:
        with suppress(OverflowError, ValueError, OSError):
            from datetime import datetime

            moment = datetime(*member.date_time).timestamp()
            os.utime(place, (moment, moment))
    return written


def read(path: Path) -> SubmittedNotebook:
    """The notebook of a file; a ValueError that says why where the file is not a notebook."""
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"larger than {_LARGEST // 10**6} MB")
    notes: list[str] = []
    data = path.read_bytes()
    if not data.strip():
        raise ValueError("not a notebook but an empty file: ask for the .ipynb")
    text = _text(data, notes)
    if path.suffix.lower() != NOTEBOOK:
        notebook = _by_jupytext(text, path.suffix.lower())
        notes.append("a text, read by jupytext")
    else:
        try:
            notebook = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(_refusal(path)) from None
    return _sources(notebook, notes)


def _text(data: bytes, notes: list[str]) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        notes.append("not UTF-8: read as Windows-1252")
        return data.decode("cp1252", errors="replace")


def _by_jupytext(text: str, suffix: str) -> dict[str, object]:
    import jupytext

    return dict(jupytext.reads(text, fmt={"extension": suffix.replace(".rmd", ".Rmd")}))


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
