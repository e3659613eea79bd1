"""The summarization sets of BioNLP-2023 RadSum: parallel text files with one report per line."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import DataError, FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark_restricted

NAME = "radsum23"


def load(findings: Path, impressions: Path, *, group: str, split: str) -> list[ReportPair]:
    """Return the report pairs of two parallel files; an id is ``<group>/<findings file>/<line>``.

    Reports with an empty impression are left out; the reference script keeps them.

    Raises
    ------
    FormatError
        If the numbers of lines differ, or a report has an impression but no findings.
    """
    findings_lines, impression_lines = reading.read_lines(findings), reading.read_lines(impressions)
    if len(findings_lines) != len(impression_lines):
        problem = f"{len(findings_lines)} lines, but {impressions.name} has {len(impression_lines)}"
        raise FormatError(problem, findings.name, reading.REPLACE_FILE)
    pairs = []
    for number, texts in enumerate(zip(findings_lines, impression_lines, strict=True), start=1):
        if not texts[1]:
            continue
        if not texts[0]:
            raise FormatError("findings are empty", f"{findings.name}, line {number}", reading.REPLACE_FILE)
        sections = mark_restricted(texts[0], NAME), mark_restricted(texts[1], NAME)
        pairs.append(ReportPair(f"{group}/{findings.name}/{number}", *sections, group=group, split=split))
    return pairs


def read(find: Find) -> list[ReportPair]:
    """Return the pairs of all groups and splits whose files are in the data root.

    Raises
    ------
    DataError
        If only one of two parallel files is there.
    """
    records: list[ReportPair] = []
    for file in load_manifest(NAME).files[::2]:  # The manifest lists findings and impressions alternately.
        findings, impressions = find(file.path), find(file.path.replace(".findings.", ".impression."))
        if findings and impressions:
            split = findings.name.split(".")[0].replace("validate", "dev")
            records += load(findings, impressions, group=findings.parent.name, split=split)
        elif findings or impressions:
            missing = "impressions" if findings else "findings"
            raise DataError(
                f"the file of {missing} is missing", file.path, "Run `radbook data add radsum23 FILE`."
            )
    return records
