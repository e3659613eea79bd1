"""Hostile archives: bombs of every make, and names that a terminal or a file system would choke on.

A try holds if the archive is refused with one line of at most 300 characters that prints, and nothing of it
stays. Every member of a bomb alone would be let through.
"""

from __future__ import annotations

import io
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from radeval_lib.data import fetch
from radeval_lib.data.errors import FetchError

LONGEST = 300
SLOWEST = 20  # seconds
MEMBERS, EACH = 40, 1 << 21  # zeros, 80 MiB in all
NAMES = (
    "a\x1b[2J\x1b[31mb", "a\x1b]0;title\x07", "a\rb", "a\nb", "a\tb", "a\x7fb", "a\u202eb", "a\u200bb",
    "a\u2028b", "a\x9b31m", "x" * 256, "é" * 128, f"{'d/' * 600}x", f"a/{'x' * 300}/b", "x" * 5000,
)  # fmt: skip


def zipped(files: dict[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", way) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, way)
    return stream.getvalue()


def taped(files: dict[str, bytes], way: str = "gz", pax: dict[str, str] | None = None) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=f"w:{way}") as bundle:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.pax_headers = len(content), pax or {}
            bundle.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def _sparse() -> bytes:
    """A tar archive that states a file of 1 TiB, all of it a hole."""
    return taped({"holes": b"1\n1099511627776\n0\n".ljust(512, b"\0")}, "", {
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "1099511627776",
    })  # fmt: skip


def bombs() -> Iterator[tuple[str, bytes]]:
    """(kind, archive of at most 90 kB that unpacks to 80 MiB and more)."""
    zeros = {f"d/{number}.csv": bytes(EACH) for number in range(MEMBERS)}
    yield "zip", zipped(zeros)
    yield "zip, bzip2", zipped(zeros, zipfile.ZIP_BZIP2)
    for way in ("gz", "bz2", "xz"):
        yield f"tar.{way}", taped(zeros, way)
    yield "tar.gz, a header", taped({"a": b"x"}, "gz", {"comment": "x" * (MEMBERS * EACH)})
    yield "tar, a file of holes", _sparse()


def fault(archive: Path, content: bytes) -> str:
    """What is wrong with how ``content`` is refused as ``archive``; empty if nothing."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(content)
    begin = time.monotonic()
    try:
        fetch.extract(archive, archive.with_name("unpacked"))
    except FetchError as error:
        message = str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error!r:.100}"
    else:
        return "unpacked"
    left = [path.name for path in archive.parent.iterdir() if path != archive]
    if left:
        return f"{len(left)} things stay"
    if len(message) > LONGEST or not message.isprintable():
        return f"message of {len(message)} characters: {message!r:.200}"
    return "slow" if time.monotonic() - begin > SLOWEST else ""


def tries(folder: Path) -> Iterator[tuple[str, str]]:
    """(kind, what was wrong) of every bomb and every hostile name in every kind of archive."""
    for number, (_, content) in enumerate(bombs()):
        yield "bombs", fault(folder / f"bomb-{number}" / "a", content)
    for number, name in enumerate(NAMES):
        for pack in (zipped, taped):
            content = pack({"good.csv": b"x", name: b"x"})
            yield "names of members", fault(folder / f"name-{number}-{pack.__name__}" / "a", content)
    for number, files in enumerate(({"a": b"x", "a/b": b"x"}, {"a/b": b"x", "a": b"x"})):
        for pack in (zipped, taped):
            yield (
                "a file and a folder of one name",
                fault(folder / f"both-{number}-{pack.__name__}" / "a", pack(files)),
            )
