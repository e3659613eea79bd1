"""Unpacks the zips that students hand in, whatever they hold."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath

from radeval_lib.errors import plain
from radeval_lib.labs.notebook_files import LARGEST, NOTEBOOK

MOST_FILES = 5_000
"""Of an archive, or of what comes with a notebook: more are not looked at."""
_ZIP_ERRORS = (OSError, ValueError, RuntimeError, EOFError, LookupError, OverflowError, zipfile.BadZipFile,
               zlib.error, lzma.LZMAError)  # fmt: skip


def unpack(path: Path, target: Path) -> list[str]:
    """Unpack an archive into a new folder, whatever it holds, notebooks first.

    Returns
    -------
    a note on each kind of what was left out: beyond MOST_FILES files or LARGEST bytes, links and names that
    lead out of the folder, and what cannot be opened, as with a password. A damaged member leaves no file,
    and its bytes count nonetheless.
    """
    target.mkdir(parents=True)
    notes: list[str] = []
    left_out: list[str] = []
    closed: list[str] = []
    too_large: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            left = LARGEST
            members = sorted(archive.infolist(), key=_goes_last)
            if len(members) > MOST_FILES:
                notes.append(f"of the zip's {len(members)} files only {MOST_FILES} were looked at")
            for member in members[:MOST_FILES]:
                if (place := _place(member, target)) is None:
                    left_out.append(member.filename)
                    continue
                if member.file_size > left:
                    too_large.append(member.filename)
                    continue
                left -= member.file_size
                try:
                    _unpack_member(archive, member, place)
                except _ZIP_ERRORS as error:
                    what = plain(str(error).replace(f"{target}/", ""), 80)
                    closed.append(f"{plain(member.filename, 60)} ({what})")
    except _ZIP_ERRORS as error:
        notes.append(f"a zip that cannot be opened ({plain(str(error), 80)}): ask for the .ipynb")
    if too_large:
        notes.append(f"a zip of more than {LARGEST // 10**6} MB: left out of it {_first(too_large)}")
    if left_out:
        notes.append(f"left out of the zip, as they lead out of it: {_first(left_out)}")
    if closed:
        notes.append(f"in the zip cannot be opened: {_first(closed)}; ask for the .ipynb")
    return notes


def _first(names: Sequence[str]) -> str:
    """The first three of some names, and how many more there are."""
    more = f", and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(plain(name, 150) for name in names[:3]) + more


def _goes_last(member: zipfile.ZipInfo) -> bool:
    """The key by which notebooks, and what marks an environment, are unpacked before anything else."""
    return not member.filename.lower().endswith((NOTEBOOK, "pyvenv.cfg"))


def _place(member: zipfile.ZipInfo, target: Path) -> Path | None:
    """Where a member of an archive belongs; None for a link, and for what would lie elsewhere."""
    name = PurePosixPath(member.filename.replace("\\", "/"))
    outside = not name.parts or name.is_absolute() or ".." in name.parts or ":" in name.parts[0]
    return None if outside or stat.S_ISLNK(member.external_attr >> 16) else target.joinpath(*name.parts)


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path) -> None:
    """Write a member of an archive, at most as many bytes as it states, or nothing where they are damaged. Of
    two with one name the later is kept, as by other programs."""
    if member.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, place.open("wb") as file:
        try:
            shutil.copyfileobj(source, file, 1 << 20)
        except BaseException:
            place.unlink()
            raise
    with suppress(OverflowError, ValueError, OSError):
        moment = datetime(*member.date_time).timestamp()
        os.utime(place, (moment, moment))
