"""BioNLP-2023 RadSum's summarization sets: parallel line files, one report per line."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import DataError, FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark

NAME = "radsum23"


def load(findings: Path, impressions: Path, *, group: str, split: str) -> list[ReportPair]:
    """Return the report pairs of two parallel files. An id has the group, the file's name and the line.

    Reports with an empty impression are left out; the reference script keeps them.
    """
    first, second = reading.read_lines(findings), reading.read_lines(impressions)
    if len(first) != len(second):
        problem = f"{len(first)} findings but {len(second)} impressions in {impressions.name}"
        raise FormatError(problem, findings.name, reading.CUT_SHORT)
    pairs = []
    for line, lines in enumerate(zip(first, second, strict=True), start=1):
        if not lines[1]:
            continue
        if not lines[0]:
            raise FormatError("empty line", f"{findings.name}, line {line}", reading.CUT_SHORT)
        texts = mark(lines[0], NAME, True), mark(lines[1], NAME, True)
        pairs.append(ReportPair(f"{group}/{findings.name}/{line}", *texts, group=group, split=split))
    return pairs


def read(find: Find) -> list[ReportPair]:
    records: list[ReportPair] = []
    for file in load_manifest(NAME).files[::2]:  # pairs of files, the findings first
        findings, impressions = find(file.path), find(file.path.replace(".findings.", ".impression."))
        if findings and impressions:
            split = findings.name.split(".")[0].replace("validate", "dev")
            records += load(findings, impressions, group=findings.parent.name, split=split)
        elif findings or impressions:
            raise DataError(
                "one of the two files of a pair is missing", file.path, "List both in the manifest."
            )
    return records
