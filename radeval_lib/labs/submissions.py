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
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from radeval_lib.errors import plain

NOTEBOOK = ".ipynb"
_SCRIPTS = (".py", ".md", ".rmd", ".qmd")
_RENAMED = re.compile(r"(\.txt|\.json|\.ipynb ?\(\d+\))?", re.IGNORECASE)
_IGNORED = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "node_modules"}
_WRITTEN_BY_LABS = {"leaderboard.csv", "leaderboard-check.csv"}  # beside the notebook that was run
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
_ZIP_ERRORS = (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, EOFError)
_BEGUN = re.compile(r"""Checks\(\s*["']([\w-]+)["']\s*,\s*["']([\w.+-]+)["']""")
_LEARNING_SYSTEM = re.compile(r"^(?P<who>[^_]+)_(?:LATE_)?\d+_\d+_")
_AGAIN = re.compile(r"(?:[-_ ]*\(\d+\)|[-_ ]+(?:v?\d+|final|copy|new|late))$", re.IGNORECASE)


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
    beside = defaultdict[tuple[str, ...], set[str]](set)
    for parts in own:
        beside[tuple(parts[:-1])].add(_stem(parts).lower())
    for one, parts in zip(found, own, strict=True):
        sender = _file_sender(_stem(parts), beside[tuple(parts[:-1])])
        one.sender = (parts[0] if len(parts) > 1 else "", sender)
    return found


def is_named_by_learning_system(name: str) -> bool:
    """Whether a learning system put the sender into a file's name, which students cannot choose there."""
    return bool(_LEARNING_SYSTEM.match(PurePosixPath(name).stem))


def _stem(parts: Sequence[str]) -> str:
    return PurePosixPath(parts[-1]).stem


def _file_sender(stem: str, beside: Collection[str]) -> str:
    """The student whom a file's name names, given the names beside it: ``ada-2``, ``ada (1)`` and
    ``ada_v2_final`` are ``ada`` where that is there, but ``student-1`` and ``student-2`` are two."""
    if match := _LEARNING_SYSTEM.match(stem):
        return match["who"].lower()
    found = stem = stem.lower()
    while (shorter := _AGAIN.sub("", stem)) and shorter != stem:
        stem = shorter
        found = stem if stem in beside else found
    return found


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
    notebooks = sum(entry.name.lower().endswith(NOTEBOOK) for entry in entries)
    own_folder = str(name) != "." and notebooks == 1
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
            if own_folder and not any(_is_handed_in(file) for file in _files(path)):
                others.append((own, path))
            elif not (path / "pyvenv.cfg").exists():
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
        elif path.suffix.lower() == NOTEBOOK or _is_script(path, entries) or _is_renamed(path):
            _add(found, own, path)
        else:
            others.append((own, path))
    if len(found) == before:
        _nothing(name, others, found, whole=str(name) != ".")
    elif str(name) == ".":
        for own, path in others:
            if path.name not in _WRITTEN_BY_LABS:
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
    """What Jupyter saved by itself counts only where the notebook itself was not handed in; under whatever
    name that was, the notebook is taken for the later of the two."""
    times = [path.stat().st_mtime for path in beside.glob(f"*{NOTEBOOK}") if path.is_file()]
    for path in sorted(folder.glob(f"*{NOTEBOOK}")):
        if not (beside / path.name.replace("-checkpoint", "")).exists() and not path.is_symlink():
            note = "an autosave, as the notebook itself was not handed in"
            one = _add(found, name / plain(path.name, 120), path, notes=[note])
            one.time = min([one.time, *(time - 1 for time in times)])


def _is_script(path: Path, beside: Sequence[os.DirEntry[str]]) -> bool:
    """Whether a text is a notebook of jupytext: it names an id, or no notebook lies beside it."""
    if path.suffix.lower() not in _SCRIPTS:
        return False
    with suppress(OSError):
        alone = not any(entry.name.lower().endswith(NOTEBOOK) for entry in beside)
        return _names_an_id(path) or (alone and path.suffix.lower() == ".py")
    return False


def _names_an_id(path: Path) -> bool:
    with path.open("rb") as file:
        return b"student_id" in file.read(_LARGEST)


def _is_renamed(path: Path) -> bool:
    """Whether a file of another name is a notebook, as browsers save one as ``lab.ipynb.txt``."""
    if not _RENAMED.fullmatch(path.suffix):
        return False
    with suppress(OSError, ValueError, RecursionError):
        text = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
        return text.lstrip().startswith(b"{") and "nbformat" in json.loads(text)
    return False


def _is_handed_in(path: Path) -> bool:
    """Whether a file is a submission wherever it lies."""
    kind = path.suffix.lower()
    return kind in (NOTEBOOK, ".zip") or (kind in _SCRIPTS and _names_an_id(path))


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder of a student's that may be read, without environments and hidden ones."""
    for above, folders, files in os.walk(folder):
        own = Path(above)
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _IGNORED)
        for path in (own / name for name in sorted(files) if not name.startswith(".")):
            if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
                yield path


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
    if begun.lstrip().startswith(b"{") and path.suffix.lower() == NOTEBOOK:
        return "a notebook that is cut off or damaged: ask for the .ipynb again"
    return f"not a notebook but {kind}: ask for the .ipynb"


def _accompany(own: Sequence[Submission], folder: Path, beside: Sequence[Path], scratch: Path) -> None:
    """Copy what lies beside a folder's only notebook, and below it, and leave it with that."""
    gradable = [one for one in own if one.path is not None and one.path.parent == folder]
    if len(gradable) != 1 or not beside:
        return
    (one,) = gradable
    files = [file for path in beside for file in (_files(path) if path.is_dir() else [path])]
    if sum(path.stat().st_size for path in files) > _ACCOMPANYING or len(files) > _MEMBERS:
        note = f"its files are larger than {_ACCOMPANYING // 10**6} MB together, or more than {_MEMBERS}"
        one.notes.append(f"{note}, and were left out")
        return
    one.files = scratch / f"files-{sum(1 for _ in scratch.glob('files-*'))}"
    one.files.mkdir()
    for path in files:
        target = one.files / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            shutil.copyfile(path, target)
            target.chmod(0o644)
    for above, *_ in os.walk(one.files):
        os.chmod(above, 0o755)


def _unpack(path: Path, target: Path) -> list[str]:
    """Unpack an archive into a new folder, whatever it holds, notebooks first; what was left out, and why."""
    target.mkdir(parents=True)
    notes: list[str] = []
    left_out: list[str] = []
    closed: list[str] = []
    too_large: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            left = _LARGEST
            members = sorted(archive.infolist(), key=_place_in_turn)
            if len(members) > _MEMBERS:
                notes.append(f"of the zip's {len(members)} files only {_MEMBERS} were looked at")
            for member in members[:_MEMBERS]:
                if (place := _place(member, target)) is None:
                    left_out.append(member.filename)
                    continue
                if member.file_size > left:
                    too_large.append(member.filename)
                    continue
                try:
                    left -= _unpack_member(archive, member, place)
                except (*_ZIP_ERRORS, KeyError) as error:
                    what = plain(str(error).replace(f"{target}/", ""), 80)
                    closed.append(f"{plain(member.filename, 60)} ({what})")
    except _ZIP_ERRORS as error:
        notes.append(f"a zip that cannot be opened ({plain(str(error), 80)}): ask for the .ipynb")
    if too_large:
        notes.append(f"a zip of more than {_LARGEST // 10**6} MB: left out of it {_first(too_large)}")
    if left_out:
        notes.append(f"left out of the zip, as they lead out of it: {_first(left_out)}")
    if closed:
        notes.append(f"in the zip cannot be opened: {_first(closed)}; ask for the .ipynb")
    return notes


def _first(names: Sequence[str]) -> str:
    """The first three of some names, and how many more there are."""
    more = f", and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(plain(name, 150) for name in names[:3]) + more


def _place_in_turn(member: zipfile.ZipInfo) -> bool:
    """What of an archive goes first: notebooks, and what tells an environment."""
    return not member.filename.lower().endswith((NOTEBOOK, "pyvenv.cfg"))


def _place(member: zipfile.ZipInfo, target: Path) -> Path | None:
    """Where a member of an archive belongs; None for a link, and for what would lie elsewhere."""
    name = PurePosixPath(member.filename.replace("\\", "/"))
    outside = not name.parts or name.is_absolute() or ".." in name.parts or ":" in name.parts[0]
    return None if outside or stat.S_ISLNK(member.external_attr >> 16) else target.joinpath(*name.parts)


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path) -> int:
    """Write a member of an archive; how many bytes it has, which are at most those that it states. Of two
    with one name the later is kept, as by other programs."""
    if member.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        return 0
    place.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, place.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    with suppress(OverflowError, ValueError, OSError):
        moment = datetime(*member.date_time).timestamp()
        os.utime(place, (moment, moment))
    return member.file_size


def read(path: Path) -> SubmittedNotebook:
    """The notebook of a file; a ValueError that says why where the file is not a notebook."""
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"larger than {_LARGEST // 10**6} MB")
    notes: list[str] = []
    data = path.read_bytes()
    if not data.strip():
        raise ValueError("not a notebook but an empty file: ask for the .ipynb")
    text = _text(data, notes)
    if path.suffix.lower() in _SCRIPTS:
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
