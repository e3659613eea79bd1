"""Summarization sets as parallel line files, one report a line (MIMIC-RRS and BioNLP-2023 RadSum)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark


def load(
    findings: Path,
    impressions: Path,
    *,
    source: str,
    group: str = "",
    split: str = "",
    skip_empty: bool = False,
) -> list[ReportPair]:
    """Report pairs of two files whose lines belong together; ids are the files' name and the line.

    Parameters
    ----------
    findings, impressions : e.g. ``train.findings.tok`` and ``train.impression.tok``.
    source : manifest name, for the mark of restricted text.
    group : modality-anatomy pair.
    split : kept in the records.
    skip_empty : leave out reports whose impression is empty, which the reference script does not filter; else
        they are an error.
    """
    first, second = _lines(findings), _lines(impressions)
    if len(first) != len(second):
        raise FormatError(
            f"{len(second)} impressions but {len(first)} findings", impressions.name, reading.CUT_SHORT
        )
    return reading.unique(
        _pairs(
            findings, impressions, list(zip(first, second, strict=True)), source, group, split, skip_empty
        ),
        lambda pair: pair.id,
    )


def _lines(path: Path) -> list[str]:
    return reading.read_text(path).removesuffix("\n").split("\n")


def _pairs(
    findings_path: Path,
    impressions_path: Path,
    lines: Sequence[tuple[str, str]],
    source: str,
    group: str,
    split: str,
    skip_empty: bool,
) -> Iterator[tuple[str, ReportPair]]:
    for line, (findings, impression) in enumerate(lines, start=1):
        if not impression.strip() and skip_empty:
            continue
        for path, text in ((findings_path, findings), (impressions_path, impression)):
            if not text.strip():
                raise FormatError("empty line", f"{path.name}, line {line}")
        yield (
            f"{findings_path.name}, line {line}",
            ReportPair(
                id=f"{group}/{findings_path.name}/{line}".lstrip("/"),
                findings=mark(findings.strip(), source, True),
                impression=mark(impression.strip(), source, True),
                group=group,
                split=split,
            ),
        )


def counts(pairs: Sequence[ReportPair]) -> dict[str, int]:
    """Reports by group and split, by group, and in all, named as in the manifests' printed counts."""
    result = {"reports": len(pairs)}
    for pair in pairs:
        modality, _, anatomy = pair.group.partition("_")
        group = f"{modality} {anatomy.capitalize()}"
        for name in (f"{group}, {pair.split}", f"{group}, total"):
            result[name] = result.get(name, 0) + 1
    return result
