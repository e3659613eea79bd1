"""The guard on restricted text: after a build, nothing of it may stand on a page or in a result.

Records carry the mark of :class:`~radeval_lib.data.restricted.RestrictedText`, which refuses to be shown.
This module is the second line: it looks for word sequences of every restricted corpus that a run used in the
rendered pages and the recorded results. It indexes the pages by hashes of their word sequences and streams
the corpora past them, so that no corpus is stored and its size does not matter.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from radeval_lib.data.errors import DataError
from radeval_lib.data.restricted import Text, reveal

WORDS = 8  # length of the word sequences
FEWEST_WORDS = 5  # shorter texts are phrases that anyone may write; from here to WORDS a text counts whole
SCANNED = (".html", ".json", ".ipynb", ".txt", ".md", ".csv", ".svg", ".xml")
SEARCH_INDEX = "searchindex.js"  # Sphinx's; other scripts are libraries
_WORD = re.compile(r"[a-z0-9]+")
_TAG = re.compile(r"<[^>]*>")


class LeakError(DataError):
    """Text of a restricted corpus stands in what a build made."""

    longest = (1000, 80, 300)


def words(text: str) -> list[str]:
    """Letters and digits in lower case: what stays of a text under other punctuation, case or line breaks."""
    return _WORD.findall(html.unescape(text).lower())


def _sequences(found: list[str], length: int) -> Iterator[int]:
    # Python's hash of text is salted anew in each process; 64 bits make a chance hit negligible.
    return (hash(tuple(found[start : start + length])) for start in range(len(found) - length + 1))


def _sequences_of_text(text: str) -> Iterator[int]:
    """The sequences by which a corpus text is known: of ``WORDS`` words, or of all of a shorter text."""
    found = words(text)
    return _sequences(found, min(WORDS, len(found))) if len(found) >= FEWEST_WORDS else iter(())


def _markup_readings(content: str) -> Iterator[str]:
    """Content without its tags; what stands in tags and comments is read from the content itself."""
    yield _TAG.sub("", content)  # inline markup splits no words,
    yield _TAG.sub(" ", content)  # and block markup does


def _json_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _json_strings(inner)
    elif isinstance(value, list):
        # A list of strings may be a text cut into words or lines.
        yield " ".join(inner for inner in value if isinstance(inner, str))
        for inner in value:
            yield from _json_strings(inner)


def _readings(path: Path) -> Iterator[str]:
    """The texts of a file as one who opens it may read them."""
    content = path.read_text(encoding="utf-8", errors="replace")
    yield content
    if path.suffix in (".html", ".svg", ".xml"):
        yield from _markup_readings(content)
    elif path.suffix in (".json", ".ipynb"):
        try:
            strings = list(_json_strings(json.loads(content)))
        except ValueError:
            return
        for text in strings:
            yield text
            if "<" in text:
                yield from _markup_readings(text)


@dataclass(frozen=True)
class Leak:
    """A file that holds text of a restricted corpus: how many of its word sequences, never the text."""

    page: str
    corpus: str
    sequences: int


@dataclass
class Pages:
    """Hashed word sequences of rendered pages and results, with the files that hold each.

    ``holders`` has a bit for each file, by its place in ``files``: small for the millions of sequences of
    a book.
    """

    files: list[str] = field(default_factory=list)
    holders: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Pages:
        """Everything readable below ``folder``."""
        pages = cls()
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or not (path.suffix in SCANNED or path.name == SEARCH_INDEX):
                continue
            bit = 1 << len(pages.files)
            pages.files.append(path.relative_to(folder).as_posix())
            for text in _readings(path):
                found = words(text)
                for length in range(FEWEST_WORDS, WORDS + 1):
                    for sequence in _sequences(found, length):
                        pages.holders[sequence] = pages.holders.get(sequence, 0) | bit
        return pages

    def allow(self, public: Iterable[str]) -> None:
        """Forget sequences of public text: phrases that restricted and public reports share are no leak."""
        for text in public:
            found = words(text)
            for length in range(FEWEST_WORDS, WORDS + 1):
                for sequence in _sequences(found, length):
                    self.holders.pop(sequence, None)

    def leaks(self, corpus: str, texts: Iterable[Text]) -> list[Leak]:
        """Files that hold a sequence of the corpus, in order of path."""
        held: set[int] = set()
        for text in texts:
            held.update(self.holders.keys() & set(_sequences_of_text(reveal(text))))
        counts = {
            file: sum(self.holders[sequence] >> place & 1 for sequence in held)
            for place, file in enumerate(self.files)
        }
        return [Leak(file, corpus, count) for file, count in counts.items() if count]


def scan(folder: Path, corpora: Mapping[str, Iterable[Text]], public: Iterable[str] = ()) -> list[Leak]:
    """Files below ``folder`` that hold a word sequence of a corpus (see :func:`scan_build`)."""
    pages = Pages.of(folder)
    pages.allow(public)
    return [leak for name, texts in corpora.items() for leak in pages.leaks(name, texts)]


def scan_build(folder: Path, corpora: Mapping[str, Iterable[Text]], public: Iterable[str] = ()) -> None:
    """Fail where a page or result of a build holds text of a restricted corpus that the run used.

    Parameters
    ----------
    folder : folder of rendered pages, or of recorded results; everything below it is scanned.
    corpora : texts of each restricted data set by name; they may be streamed
        (:func:`radeval_lib.data.catalog.restricted_texts`).
    public : texts whose word sequences are no leak wherever else they stand
        (:func:`radeval_lib.data.catalog.public_texts`).

    Raises
    ------
    LeakError
        Naming every page and corpus; the text itself is not shown.
    """
    if leaks := scan(folder, corpora, public):
        pages = "; ".join(f"{leak.page} ({leak.sequences} word sequences of {leak.corpus})" for leak in leaks)
        raise LeakError(
            f"restricted text in {pages}",
            remedy="Do not publish this build. Show numbers computed from the text, and build again.",
        )
