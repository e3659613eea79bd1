"""Headlines: findings on the front page, in sentences of ``data_manifests/headlines.yml``.

A person writes the sentence; the page that finds a thing out hands over its numbers, and says whether they
still support the sentence. One whose numbers do not is not shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from radeval_lib import atomic, own_yaml
from radeval_lib.errors import ResultError
from radeval_lib.paths import MANIFESTS, display_path
from radeval_lib.study import verdicts
from radeval_lib.study.runs import Run
from radeval_lib.study.sources import ALL

_FILE = MANIFESTS / "headlines.yml"
_AGAIN = "Run `radbook build`: it makes the page and its results again."


@dataclass(frozen=True)
class Headline:
    """A finding of the front page.

    Attributes
    ----------
    id : its key in ``headlines.yml``.
    notebook, anchor : the page that computes it, and the place there.
    text : one or two sentences of Markdown, with ``{names}`` for the texts that the page hands over.
    needs : the kinds of evidence on which it may be shown.
    line : the finding in one line, if the README shows it.
    """

    id: str
    notebook: str
    anchor: str
    text: str
    needs: tuple[str, ...]
    line: str = ""


@lru_cache(maxsize=1)
def headlines() -> dict[str, Headline]:
    """Return all of them by their id, in the order of the front page."""
    return {
        key: Headline(
            key,
            entry["notebook"],
            entry["anchor"],
            " ".join(entry["text"].split()),
            tuple(entry["needs"]),
            " ".join(entry.get("line", "").split()),
        )
        for key, entry in own_yaml.read(_FILE).items()
    }


def hand_over(
    run: Run,
    headline: str,
    *,
    evidence: str,
    holds: bool | None,
    texts: Mapping[str, str],
    sample: str,
    instrument: str,
    rests_on: Sequence[str],
) -> None:
    """Record the numbers of a headline for the front page.

    Parameters
    ----------
    headline : its id.
    evidence : what the data of the numbers are, one of :data:`~radeval_lib.study.verdicts.EVIDENCE`.
    holds : whether they support the sentence; None where they are inconclusive.
    texts : a text for each name in the sentence and its line; others are kept, and not shown.
    sample, instrument : on how many of what the numbers rest, and what computed them, in words.
    rests_on : what they rest on, by name (:meth:`radeval_lib.provenance.Reading.of`).

    Raises
    ------
    ResultError
        If this page has no such headline, the evidence is of no known kind, a text is missing, or
        something named was not read.
    """
    verdicts.kind(evidence)  # refuses what is none
    entry = headlines().get(headline)
    if entry is None or entry.notebook != run.notebook:
        raise ResultError(
            f"headline {headline!r} is none of {run.notebook!r}",
            _FILE.name,
            "Name the page under `notebook`.",
        )
    try:
        f"{entry.text} {entry.line}".format(**texts)
    except KeyError as error:
        raise ResultError(
            f"headline {headline!r} asks for {error}", _FILE.name, "Hand a text of that name over."
        ) from None
    content = {
        "evidence": evidence,
        "holds": holds,
        "texts": dict(texts),
        "sample": sample,
        "instrument": instrument,
        "provenance": run.provenance(rests_on),
    }
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    atomic.write_text(run.results_dir / f"headline_{headline}.json", text + "\n")


def borne_out(run: Run) -> tuple[list[tuple[Headline, str]], list[Headline]]:
    """Return the headlines that this build supports, each with its sentence, and those that it cannot judge,
    because their page or the evidence that they need is missing."""
    run.require_declared("results", ALL)
    shown, waiting = [], []
    for entry in headlines().values():
        path = run.output_dir / "results" / entry.notebook / f"headline_{entry.id}.json"
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        if found is None or found["evidence"] not in entry.needs:
            waiting.append(entry)
        elif found["holds"]:
            shown.append((entry, entry.text.format(**found["texts"])))
    return shown, waiting


def check(folder: Path) -> None:
    """Check the headlines that a page recorded in its folder of results.

    Raises
    ------
    ResultError
        If this version has no such headline, or its file lacks what this version needs.
    """
    known = {f"headline_{key}.json": entry for key, entry in headlines().items()}
    for path in sorted(folder.glob("headline_*.json")):
        if path.name not in known:
            raise ResultError(f"{path.stem!r} is not a headline of this version", display_path(path), _AGAIN)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            _ = content["evidence"], content["holds"]
            f"{known[path.name].text} {known[path.name].line}".format(**content["texts"])
        except (ValueError, KeyError, TypeError):
            raise ResultError(
                f"{path.stem!r} is not what this version hands over", display_path(path), _AGAIN
            ) from None
