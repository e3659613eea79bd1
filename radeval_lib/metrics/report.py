"""An HTML page about the scores of a file: their distribution, and each pair with its errors and matches
marked.

The page is one file that loads no other, and its content security policy keeps text of the reports from
running as a script.
"""

from __future__ import annotations

import base64
import hashlib
import heapq
import json
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from radeval_lib.metrics.base import Metric, Pair
from radeval_lib.metrics.by_rules import SIDES, Highlight, Segment, choose_mark_kind, cut_segments
from radeval_lib.metrics.cautions import RELIABLE_SHARE
from radeval_lib.metrics.scoring import name_column
from radeval_lib.text_format import environment

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
#: The maximum number of pairs on a page, few enough for a phone; pairs with the worst scores are kept.
MAX_PAIRS = 1_000


class ScorePage:
    """Builder of the page, which collects pairs as they are scored.

    Parameters
    ----------
    metrics : a mapping from name to metric; the first metric decides which pairs are worst.
    texts : whether the page may show words of the texts.
    """

    def __init__(self, metrics: Mapping[str, Metric], *, texts: bool) -> None:
        """Prepare an empty page."""
        self._metrics, self._texts = metrics, texts
        self._scores: dict[str, array[float]] = {}
        self._total = 0
        self._worst: list[tuple[float, int, str, Pair]] = []  # a heap whose first entry has the best score

    def add(self, pair: Pair, record: Mapping[str, Any]) -> None:
        """Add a pair's scores, and keep the pair itself if it is among the worst so far.

        ``record`` is the pair's line in the file that ``radbook score --explain`` writes.
        """
        for name, value in record["scores"].items():
            self._scores.setdefault(name_column(name, record["candidate"]), array("d")).append(value)
        name, metric = next(iter(self._metrics.items()))
        loss = -metric.sign() * record["scores"][name]
        self._total += 1
        keep = heapq.heappush if len(self._worst) < MAX_PAIRS else heapq.heappushpop
        keep(self._worst, (loss, -self._total, json.dumps(record, default=str), pair))

    def write(self, path: Path, **variables: Any) -> None:
        """Write the page to a file, with the worst-scoring pairs first.

        ``variables`` are passed to the template: ``source``, the name of the scored file, and ``scored``, its
        :class:`~radeval_lib.metrics.file_scoring.ScoredFile`.
        """
        worst_first = sorted(self._worst, reverse=True)
        assets = (Path(__file__).with_name(f"report.{kind}") for kind in ("css", "js"))
        style, script = (asset.read_text(encoding="utf-8") for asset in assets)
        template = environment(Path(__file__).parent).get_template("report.html.j2")
        stream = template.stream(
            **variables,
            metrics=self._metrics,
            quantiles={
                column: [np.mean(values), *np.quantile(values, QUANTILES)]
                for column, values in self._scores.items()
            },
            shares=[f"{share:.0%}" for share in QUANTILES],
            pairs=(self._prepare_pair(json.loads(record), texts) for *_, record, texts in worst_first),
            shown=len(worst_first),
            total=self._total,
            texts=self._texts,
            reliable=RELIABLE_SHARE,
            style=style,
            script=script,
            policy=f"default-src 'none'; style-src {hash_content(style)}; "
            f"script-src {hash_content(script)}; base-uri 'none'; form-action 'none'",
        )
        stream.enable_buffering(50)
        with path.open("w", encoding="utf-8") as page:
            stream.dump(page)

    def _prepare_pair(self, record: dict[str, Any], texts: Pair) -> dict[str, Any]:
        """Return a pair's record, to which three keys for the template are added in place.

        ``texts`` is (reference, candidate), or None if the page may not show them; ``views`` has a dictionary
        of :meth:`_build_view` for each group of metrics with the same reasons; ``errors`` has the errors of
        the first view that has any.
        """
        record["texts"] = texts if self._texts else None
        groups: dict[str, tuple[list[str], list[dict[str, Any]]]] = {}
        for name in self._metrics:
            reasons = [reason for reason in record["reasons"] if reason["metric"] == name]
            key = json.dumps([{**reason, "metric": ""} for reason in reasons])
            groups.setdefault(key, ([], reasons))[0].append(name)
        views = [self._build_view(record, *group) for group in groups.values() if group[1]]
        record["views"] = views
        record["errors"] = next((view["errors"] for view in views if view["errors"]), [])
        return record

    def _build_view(
        self, record: dict[str, Any], names: list[str], reasons: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the template's data on the reasons for a pair's scores that the metrics in ``names`` share.

        Returns
        -------
        dict
            ``names``; ``errors``; ``matched`` and ``unmatched``, the reasons of that kind that have a
            finding; ``sides``, both texts with marks, or an empty list if no reason has a position or texts
            are not shown; ``counts``, the numbers of all matched and unmatched reasons, or an empty
            dictionary if no reason has a position.
        """
        errors, matched, unmatched = (
            [reason for reason in reasons if reason["kind"] == kind]
            for kind in ("error", "matched", "unmatched")
        )
        has_positions = any(reason[side] for reason in reasons for side in SIDES)
        return {
            "names": names,
            "errors": errors,
            "sides": self._mark_sides(record, reasons, errors) if has_positions and self._texts else [],
            "counts": {"matched": len(matched), "unmatched": len(unmatched)} if has_positions else {},
            "matched": [reason for reason in matched if reason["finding"]],
            "unmatched": [reason for reason in unmatched if reason["finding"]],
        }

    def _mark_sides(
        self, record: dict[str, Any], reasons: list[dict[str, Any]], errors: list[dict[str, Any]]
    ) -> list[tuple[str, list[Segment]]]:
        """Return (side, segments) for both texts, which are cut where a mark begins or ends."""
        number_of = {id(error): number for number, error in enumerate(errors, start=1)}
        sides = []
        for side, text in zip(SIDES, record["texts"], strict=True):
            marks = [
                Highlight(
                    reason[side]["start"],
                    reason[side]["end"],
                    choose_mark_kind(reason["kind"], reason["significant"]),
                    number_of.get(id(reason), 0),
                )
                for reason in reasons
                if reason[side] is not None
            ]
            marks += [Highlight(start, end, "unread") for start, end in record["unread"][side] if errors]
            sides.append((side, list(cut_segments(text, marks))))
        return sides


def hash_content(content: str) -> str:
    """Return the SHA-256 of a style sheet or script in the notation of content security policies."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
