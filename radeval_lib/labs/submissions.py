"""Finds what a class handed in, however it lies in its folder.

Nothing is changed in the folder: archives are opened elsewhere, and each submission gets copies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from radeval_lib.errors import plain
from radeval_lib.labs.archives import MOST_FILES, unpack
from radeval_lib.labs.notebook_files import LARGEST, NOTEBOOK, SCRIPTS, refusal

_RENAMED = re.compile(r"(\.txt|\.json|\.ipynb ?\(\d+\))?", re.IGNORECASE)  # endings: .txt, .ipynb (1), none
_BEFORE_TEXT = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"  # blanks, and marks of UTF-8 and UTF-16
_IGNORED = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "node_modules"}
_WRITTEN_BY_LABS = {"leaderboard.csv", "leaderboard-check.csv"}  # beside the notebook that was run
_CHECKPOINTS = ".ipynb_checkpoints"
_DEPTH = 3
"""How many folders of students, and archives, an archive may lie in to be opened."""
_ACCOMPANYING = 100_000_000
"""The most bytes that may come with a notebook."""
_LEARNING_SYSTEM = re.compile(r"^(?P<who>[^_]+)_(?:LATE_)?\d+_\d+_")  # lovelaceada_LATE_12_345_lab-1
_AGAIN = re.compile(
    r"(?:[-_ ]*\(\d+\)|[-_ ]+(?:v?\d+|final|copy|new|late))$", re.IGNORECASE
)  # ada (1), ada_v2


class Sender(NamedTuple):
    """Who handed a submission in, as far as names say: the first folder that the class's files lie in, empty
    where it is the class's own, and the student's part of the file's name."""

    folder: str
    file: str


@dataclass
class Submission:
    """A file that was handed in, or a folder without one.

    Parameters
    ----------
    name : its path in the class's folder, archives being folders.
    sender : who handed it in.
    path : a file to read; None where there is nothing to grade, which ``notes`` explain.
    files : a folder with copies of what came with it.
    time : when it was last changed, in seconds of the epoch.
    """

    name: str
    sender: Sender
    path: Path | None
    time: float
    files: Path | None = None
    notes: list[str] = field(default_factory=list)


def collect(folder: Path, scratch: Path, leave_out: Sequence[Path]) -> list[Submission]:
    """Every submission below a folder, with private copies in ``scratch``; some places are left out."""
    collector = _Collector(scratch, {path.resolve() for path in leave_out})
    collector.folder(folder, PurePosixPath(), 0)
    collected = collector.found
    own = [submission.name.split("/") for submission in collected]
    while own and len({parts[0] for parts in own}) == 1 and all(len(parts) > 2 for parts in own):
        own = [parts[1:] for parts in own]
    beside = defaultdict[tuple[str, ...], set[str]](set)
    for parts in own:
        beside[tuple(parts[:-1])].add(_stem(parts).lower())
    for submission, parts in zip(collected, own, strict=True):
        sender = _file_sender(_stem(parts), beside[tuple(parts[:-1])])
        submission.sender = Sender(parts[0] if len(parts) > 1 else "", sender)
    return collected


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
    sender = stem = stem.lower()
    while (shorter := _AGAIN.sub("", stem)) and shorter != stem:
        stem = shorter
        sender = stem if stem in beside else sender
    return sender


class _Collector:
    """Goes through folders and archives, and collects the submissions that it finds.

    Attributes
    ----------
    found : the submissions, in the order of their names.
    """

    def __init__(self, scratch: Path, left_out: set[Path]) -> None:
        self.found: list[Submission] = []
        self._scratch, self._left_out = scratch, left_out

    def folder(self, folder: Path, name: PurePosixPath, depth: int) -> None:
        """Collect what a folder holds; ``name`` is its path in the class's folder, ``depth`` how many
        folders of students, and archives, it lies in."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self._add(name, None, "a folder that cannot be read")
            return
        before = len(self.found)
        inside = str(name) != "."  # else it is the class's own folder, which is no submission
        alone = inside and sum(entry.name.lower().endswith(NOTEBOOK) for entry in entries) == 1
        others = []
        for entry in entries:
            path, own = Path(entry.path), name / plain(entry.name, 120)
            if entry.name in _IGNORED or path.resolve() in self._left_out:
                continue
            if entry.is_symlink():
                self._add(own, None, "a link, which is not followed: ask for the file")
            elif entry.name == _CHECKPOINTS:
                self._autosaves(path, own, folder)
            elif entry.name.startswith("."):
                continue
            elif entry.is_dir():
                if alone and not any(_is_handed_in(file) for file in _files(path)):
                    others.append((own, path))
                elif not (path / "pyvenv.cfg").exists():
                    self.folder(path, own, depth + inside)
            elif not entry.is_file():
                self._add(own, None, "neither a file nor a folder")
            elif path.suffix.lower() == ".zip" and depth < _DEPTH:
                self._archive(path, own, depth + 1)
            elif path.suffix.lower() == NOTEBOOK or _is_script(path, entries) or _is_renamed(path):
                self._add(own, path)
            else:
                others.append((own, path))
        nothing = len(self.found) == before
        if not inside:
            for own, path in others:
                if nothing or path.name not in _WRITTEN_BY_LABS:
                    self._add(own, None, refusal(path))
        elif not nothing:
            _accompany(self.found[before:], folder, [path for _, path in others], self._scratch)
        elif others:  # a folder without a notebook is one submission
            self._add(others[0][0], None, refusal(others[0][1]))
        else:
            self._add(name, None, "an empty folder: nothing was handed in")

    def _archive(self, path: Path, name: PurePosixPath, depth: int) -> None:
        """Collect what an archive holds, with what there is to say of it on each submission."""
        target = self._scratch / f"archive-{sum(1 for _ in self._scratch.glob('archive-*'))}"
        notes, before = unpack(path, target), len(self.found)
        self.folder(target, name, depth)
        if notes:
            for submission in self.found[before:]:
                submission.notes = [*notes, *(submission.notes if submission.path else [])]

    def _autosaves(self, folder: Path, name: PurePosixPath, beside: Path) -> None:
        """What Jupyter saved by itself counts only where the notebook itself was not handed in; under
        whatever name that was, the notebook is taken for the later of the two."""
        times = [path.stat().st_mtime for path in beside.glob(f"*{NOTEBOOK}") if path.is_file()]
        for path in sorted(folder.glob(f"*{NOTEBOOK}")):
            if not (beside / path.name.replace("-checkpoint", "")).exists() and not path.is_symlink():
                note = "an autosave, as the notebook itself was not handed in"
                submission = self._add(name / plain(path.name, 120), path, note)
                submission.time = min([submission.time, *(time - 1 for time in times)])

    def _add(self, name: PurePosixPath, path: Path | None, *notes: str) -> Submission:
        """Add a submission: a file to read, or None and why there is nothing to grade."""
        time = 0.0
        try:
            time = path.stat().st_mtime if path else 0.0
        except OSError:
            path, notes = None, ("a file that cannot be read",)
        self.found.append(Submission(name.as_posix(), Sender("", ""), path, time, notes=list(notes)))
        return self.found[-1]


def _is_script(path: Path, beside: Sequence[os.DirEntry[str]]) -> bool:
    """Whether a text is a notebook of jupytext: it names an id, or no notebook lies beside it."""
    if path.suffix.lower() not in SCRIPTS:
        return False
    with suppress(OSError):
        alone = not any(entry.name.lower().endswith(NOTEBOOK) for entry in beside)
        return _names_an_id(path) or (alone and path.suffix.lower() == ".py")
    return False


def _names_an_id(path: Path) -> bool:
    with path.open("rb") as file:
        return b"student_id" in file.read(LARGEST)


def _is_renamed(path: Path) -> bool:
    """Whether a file of another name is a notebook, as browsers save one as ``lab.ipynb.txt``."""
    if not _RENAMED.fullmatch(path.suffix):
        return False
    with suppress(OSError, ValueError, RecursionError):
        text = path.read_bytes() if path.stat().st_size <= LARGEST else b""
        return text.lstrip(_BEFORE_TEXT).startswith(b"{") and "nbformat" in json.loads(text)
    return False


def _is_handed_in(path: Path) -> bool:
    """Whether a file is a submission wherever it lies."""
    kind = path.suffix.lower()
    return kind in (NOTEBOOK, ".zip") or (kind in SCRIPTS and _names_an_id(path))


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


def _accompany(own: Sequence[Submission], folder: Path, beside: Sequence[Path], scratch: Path) -> None:
    """Copy what lies beside a folder's only notebook, and below it, and leave it with that."""
    gradable = [one for one in own if one.path is not None and one.path.parent == folder]
    if len(gradable) != 1 or not beside:
        return
    (one,) = gradable
    files = [file for path in beside for file in (_files(path) if path.is_dir() else [path])]
    if sum(path.stat().st_size for path in files) > _ACCOMPANYING or len(files) > MOST_FILES:
        note = f"its files are larger than {_ACCOMPANYING // 10**6} MB together, or more than {MOST_FILES}"
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
