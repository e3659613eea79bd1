"""Links from pages to the glossary: the first use of each of its words in a page's running text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from radeval_lib.paths import BOOK

EVERYDAY = {
    "candidate",
    "case",
    "check",
    "coverage",
    "credentialed",
    "exhibit",
    "fold",
    "not legible",
    "profile",
    "provenance",
    "reference",
    "released",
    "span",
    "verdict",
}
"""Words of the glossary that prose uses in their everyday sense too; pages link these by hand."""

# What is not running text: code, roles, links, formulas, tags, headings, places, options of directives.
_NOT_PROSE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[ \t]*$"
    r"|^:{3,}[^\n]*$|^#+ [^\n]*$|^\([\w-]+\)=$|^:[\w-]+:[^\n]*$|^%[^\n]*$|^<[^\n]*$"
    r"|\{[\w:-]+\}`[^`]*`|``[^\n]*?``|`[^`]*`"
    r"|!?\[[^\]]*\]\([^)]*\)|\$\$.*?\$\$|\$[^$\n]+\$|<!--.*?-->|<[^>\n]+>|https?://\S+",
    re.MULTILINE | re.DOTALL,
)


@cache
def entries() -> tuple[tuple[str, ...], ...]:
    """The glossary's entries, each as the words that it explains; none where the book has no glossary."""
    path = BOOK / "glossary.md"
    page = path.read_text(encoding="utf-8") if path.is_file() else ""
    listed = page.partition("```{glossary}\n")[2].partition("\n```")[0]
    return tuple(tuple(terms.splitlines()) for terms in re.findall(r"(?:^\S.*\n)+", listed, re.MULTILINE))


class Linker:
    """Links words to the glossary, each entry once; one linker a page.

    Where a page is cut into cells, :meth:`linked` is called for each in turn.
    """

    def __init__(self) -> None:
        self._left = [entry for entry in entries() if entry[0] not in EVERYDAY]

    def linked(self, source: str) -> str:
        """Markdown with the first use of each entry in running text as a ``{term}`` role."""
        return "".join(self._link(part) if prose else part for prose, part in _parts(source))

    def _link(self, prose: str) -> str:
        """Running text with the first use of each entry that is left as a role."""
        starts: list[tuple[int, int]] = []
        for entry in list(self._left):
            words = "|".join(re.escape(word) for word in sorted(entry, key=len, reverse=True))
            match = re.search(rf"(?<![\w-])(?:{words})(?![\w-])", prose)
            # A word that stands within another entry's waits for a use of its own.
            if match and not any(match.start() < end and start < match.end() for start, end in starts):
                starts.append(match.span())
                self._left.remove(entry)
        for start, end in sorted(starts, reverse=True):
            prose = f"{prose[:start]}{{term}}`{prose[start:end]}`{prose[end:]}"
        return prose


def _parts(source: str) -> Iterator[tuple[bool, str]]:
    """Stretches of a page, with whether each is running text."""
    start = 0
    for match in _NOT_PROSE.finditer(source):
        yield True, source[start : match.start()]
        yield False, match.group()
        start = match.end()
    yield True, source[start:]
