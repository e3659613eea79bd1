"""The cell of the in-domain encoder: the texts that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib.data.restricted import reveal


def training_texts(reports: Sequence[Any], most: int) -> list[str]:
    """Findings and impressions, as far as they are written, of the first reports, of the training split where
    any report has a ``split``."""
    in_splits = any(getattr(report, "split", "") for report in reports)
    chosen = [report for report in reports if not in_splits or report.split == "train"][:most]
    return [reveal(text) for report in chosen for text in (report.findings, report.impression) if text]
