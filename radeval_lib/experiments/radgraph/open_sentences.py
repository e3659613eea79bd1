"""Ten sentences of Open-i with graphs, and what is wrong with those that a model finds in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from radeval_lib.data import openi
from radeval_lib.data.radgraph import Annotation, annotation
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ResultError
from radeval_lib.experiments.radgraph.drawing import lines
from radeval_lib.synthetic.markup import tokenize

_GRAPHS = Path(__file__).with_name("open_sentences.yml")


@dataclass(frozen=True)
class OpenSentence:
    """A sentence and its graph by hand.

    Attributes
    ----------
    uid : the report's number in Open-i.
    gold : the sentence and its graph, in RadGraph's form.
    """

    uid: str
    gold: Annotation

    @property
    def text(self) -> str:
        """The sentence's words, joined by blanks."""
        return str(self.gold["text"])


def read(path: Path | None) -> list[OpenSentence]:
    """The sentences, their words from Open-i's file; none where there is no file.

    Raises
    ------
    ResultError
        Where the file has no such report, or a shorter one.
    """
    if path is None:
        return []
    findings = {report.id: report.findings for report in openi.load(path)}
    found = []
    for row in yaml.safe_load(_GRAPHS.read_text(encoding="utf-8")):
        start, end = row["words"]
        words = tokenize(reveal(findings.get(row["uid"], "")))[start:end]
        if len(words) < end - start:
            raise ResultError(f"report {row['uid']} has other words than those annotated", path.name)
        graph = ([tuple(item) for item in row[name]] for name in ("entities", "relations"))
        found.append(OpenSentence(row["uid"], annotation(words, *graph)))
    return found


def told(sentences: Sequence[OpenSentence]) -> str:
    """What the page says before the table."""
    if not sentences:
        return (
            "With Open-i's reports in the data root, this section shows ten of their sentences, what "
            "the model finds in them, and what is wrong with it. The folder here does not hold them."
        )
    return (
        f"The table shows {len(sentences)} sentences of Open-i {{cite}}`demnerfushman2016openi`, drawn at "
        "random, with what the model finds wrongly in them and what it misses, judged against graphs that "
        "the authors of this book made by the scheme that the corpus follows. They are no radiologists', and "
        "ten sentences are an illustration, not a measurement."
    )


def judged(sentences: Sequence[OpenSentence], found: Sequence[Annotation]) -> pd.DataFrame:
    """One row a sentence: its words, how many entities and relations are right of how many, and the lines of
    either graph that the other lacks."""
    rows = []
    for sentence, graph in zip(sentences, found, strict=True):
        truth, guess = _entities(sentence.gold), _entities(graph)
        links, made = _relations(sentence.gold), _relations(graph)
        wanted, had = lines(sentence.gold), lines(graph)
        rows.append(
            {
                "sentence": sentence.text,
                "entities right": f"{len(truth & guess)} of {len(truth)}",
                "relations right": f"{len(links & made)} of {len(links)}",
                "found wrongly": "; ".join(line for line in had if line not in wanted) or "–",
                "missed": "; ".join(line for line in wanted if line not in had) or "–",
            }
        )
    return pd.DataFrame(rows)


def _entities(graph: Annotation) -> set[tuple[int, int, str]]:
    return {(one["start_ix"], one["end_ix"], one["label"]) for one in graph["entities"].values()}


def _relations(graph: Annotation) -> set[tuple[int, int, str]]:
    entities = graph["entities"]
    return {
        (one["start_ix"], entities[tail]["start_ix"], kind)
        for one in entities.values()
        for kind, tail in one["relations"]
    }
