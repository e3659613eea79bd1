"""Refuse wording that an editor would not pass, in the library, notebooks, book and manifests.

    python workflow/check_words.py

Prints ``file:line: wording -> instead`` for each and exits with 1 if there is any. Identifiers are not prose:
a term counts only where letters, digits or underscores do not join it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = (
    "radeval_lib",
    "notebooks",
    "book",
    "data_manifests",
    "benchmarks",
    "workflow",
    "README.md",
    "CONTRIBUTING.md",
)
SUFFIXES = {".py", ".md", ".yml", ".yaml"}
INSTEAD = {
    r"anew": "again, resampled",
    r"at hand": "available",
    r"of ours": "our",
    r"hangs? on": "depends on",
    r"recogni[sz]ers?": "NER model",
    r"(?:is|are|was|were|be|been|not) told(?! apart by)": "is reported, is shown, is undecided",
    r"told apart(?! by)": "distinguished",
    r"one (?:line|row|column|panel|bar|dot) an?": "one line per",
    r"one (?:value|score|number|module|metric|word|sentence) an? (?:pair|row|case|column|line)": "one per",
    r"(?:operations|milliseconds|errors) an? (?:pair|report|candidate|page)": "per pair",
    r"speaks? of": "is about, mentions",
    r"says? nothing of(?! its own)": "says nothing about",
    r"tells? (?:of|little|nothing|something)": "says, shows, reveals",
    r"for want of": "for lack of",
    r"talks no sense": "sends malformed messages",
    r"reads? in other company": "batch composition",
    r"leaves? the house": "before publication",
    r"is no setting": "invalid setting",
    r"is no (?:age|data set|file of|folder|headline|metric|name|number|page|rate)": "is not a",
    r"is paid for once": "costs marks once",
    r"in disguise": "implies",
    r"dealt out": "chance",
}
_REFUSED = {
    re.compile(rf"(?<![\w`]){words}(?!\w)".replace(" ", r"\s+"), re.IGNORECASE): instead
    for words, instead in INSTEAD.items()
}


def found(text: str) -> list[tuple[int, str, str]]:
    """Return the line, the wording and what to write instead, of each refused wording, also across a line
    break."""
    joined = re.sub(r"\n[ \t]*(?:#|>)?[ \t]*", lambda gap: "\n" + " " * (len(gap[0]) - 1), text)
    spaced = joined.replace("\n", " ")
    hits = (
        (text.count("\n", 0, hit.start()) + 1, " ".join(hit[0].split()), instead)
        for words, instead in _REFUSED.items()
        for hit in words.finditer(spaced)
    )
    return sorted(hits)


def main() -> int:
    """Print every refused wording of the repository's files; 1 if there is any."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PLACES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    refused = 0
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix not in SUFFIXES or path == Path(__file__).resolve() or not path.is_file():
            continue
        for line, words, instead in found(path.read_text(encoding="utf-8")):
            print(f"{name}:{line}: {words!r}: write {instead}")
            refused += 1
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main())
