"""How much of a summary is copied from its source: ROUGE precision, and fragments copied word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.data import mtsamples
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.papers.printed_numbers import Printed, quotations
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import share_interval
from radeval_lib.stats.tokens import words
from radeval_lib.study.checks import Check, above, check_statement, check_value
from radeval_lib.study.runs import Run
from radeval_lib.wording import joined, with_interval


def fragments(source: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Lengths, in words, of the longest runs of ``source`` that make up ``summary`` from left to right.

    The greedy rule of Grusky, Naaman and Artzi 2018, section 3.1; words that the source lacks are in no run.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(source):
        places.setdefault(word, []).append(place)
    found, at = [], 0
    while at < len(summary):
        longest = 0
        for start in places.get(summary[at], ()):
            length = 1
            while (
                at + length < len(summary)
                and start + length < len(source)
                and summary[at + length] == source[start + length]
            ):
                length += 1
            longest = max(longest, length)
        if longest:
            found.append(longest)
        at += max(1, longest)
    return found


def in_one_run(source: str, summary: str) -> bool:
    """Whether all words of a summary stand in its source in one run."""
    said = words(summary)
    return fragments(words(source), said) == [len(said)]


def in_runs(source: str, summary: str) -> float:
    """Share of a summary's words in runs of at least three words of its source; 0 if it has no words."""
    said = words(summary)
    return sum(run for run in fragments(words(source), said) if run >= 3) / max(1, len(said))


def mean_run(source: str, summary: str) -> float:
    """Mean length of the run of its source in which a word of a summary stands."""
    said = words(summary)
    return sum(run**2 for run in fragments(words(source), said)) / len(said)


def rouge_precision(sources: Sequence[str], summaries: Sequence[str], *, stem: bool) -> pd.DataFrame:
    """ROUGE-1 and ROUGE-L precision of each summary against its source.

    Columns ``rouge_1`` and ``rouge_l``, 0 to 1; one row per summary.
    """
    found = {name: create(name, stem=stem).score(sources, summaries) for name in ("rouge_1", "rouge_l")}
    return pd.DataFrame({name: [one["precision"] for one in of.details] for name, of in found.items()})


@dataclass(frozen=True)
class BuildDocuments:
    """The documents of this build: MTSamples (``whole`` or a part), or generated ones where not ``real``."""

    documents: list[Document]
    real: bool
    whole: bool

    @property
    def kept(self) -> list[Document]:
        """The documents with a text whose description has the paper's least number of words."""
        return [one for one in mtsamples.with_long_descriptions(self.documents) if reveal(one.text)]

    @property
    def stand_in(self) -> str:
        """What stands in for MTSamples, where something does and is compared."""
        if not self.real or self.whole:
            return ""
        part = f"the first {len(self.documents)} of MTSamples' transcriptions, not all of them"
        return f"{part}; of those compared, {self.mostly}"

    @property
    def mostly(self) -> str:
        """How many of the compared documents are of the two largest specialties."""
        largest = Counter(one.group for one in self.kept).most_common(2)
        count = sum(number for _, number in largest)
        return f"{count} of {len(self.kept)} are of {joined([name for name, _ in largest])}"

    @property
    def source(self) -> str:
        """Where the documents are from, as the page says it."""
        part = "MTSamples" if self.whole else "a part of MTSamples"
        return part if self.real else "the generator, not MTSamples"


def load(run: Run) -> BuildDocuments:
    """MTSamples, or the part of it that the data root holds, or the generator's reports."""
    whole, part = run.find("mtsamples"), run.find("mtsamples", "mtsamples_part.csv")
    if whole is not None:
        return BuildDocuments(mtsamples.load(whole), real=True, whole=True)
    if part is not None:
        return BuildDocuments(mtsamples.load(part, partial=True), real=True, whole=False)
    return BuildDocuments(run.load("descriptions"), real=False, whole=False)


def printed_report() -> tuple[str, str]:
    """The report that Figure 1 prints, and its description."""
    parts = dict(words.split(": ", 1) for _, words in quotations("facts.fig1"))
    description = parts.pop("DESCRIPTION")
    return " ".join(parts.values()), description


def size_checks(said: Mapping[str, float]) -> list[Check]:
    """What the printed sizes must fulfil, whatever the reports are.

    ``said``: the printed numbers of ``facts.claim_dataset`` by name.
    """
    train, development, test = (said[name] for name in ("train", "development", "test"))
    kept, specialties = train + development + test, said["specialties"]
    short, odd = 0.8 * kept - train, test - development
    return [
        check_value("reports kept = train + development + test", f"{said['kept']:.0f}", kept),
        check_statement(
            "the training part is 80% of each specialty, rounded down",
            "80%, separately for each medical specialty",
            f"{short:.1f} reports short of 80%, where {specialties:.0f} specialties allow from 0 to "
            f"{0.8 * specialties:.0f}",
            0 <= short <= 0.8 * specialties,
        ),
        check_statement(
            "the rest of each specialty is halved, an odd report tests",
            "10% and 10%, separately for each medical specialty",
            f"{odd:.0f} more test than development reports, where {specialties:.0f} specialties allow from 0 "
            f"to {specialties:.0f}",
            0 <= odd <= specialties,
        ),
    ]


def file_checks(found: BuildDocuments, said: Mapping[str, Printed]) -> list[Check]:
    """The printed counts and lengths against the whole file; none where it is not there."""
    if not found.whole:
        return []
    counted, texts = mtsamples.counts(found.documents), found.documents
    exact = {
        "specialties": "specialties",
        "reports of the smallest specialty": "smallest_specialty",
        "reports of the largest specialty": "largest_specialty",
        "reports kept": "kept",
        "training": "train",
        "development": "development",
        "test": "test",
    }
    lengths = {
        "body_words": ("mean words of a report", [one.text for one in texts]),
        "description_words": ("mean words of a description", [one.summary for one in texts]),
    }
    return [
        *(check_value(name, said[quoted], counted[name]) for name, quoted in exact.items()),
        check_statement(
            "reports",
            said["reports"].text,
            f"{counted['reports']:,}",
            round(counted["reports"], -2) == said["reports"].value,
        ),
        *(
            check_value(name, said[quoted], float(np.mean([len(reveal(one).split()) for one in sides])))
            for quoted, (name, sides) in lengths.items()
        ),
    ]


def repeated(found: BuildDocuments, rng: np.random.Generator) -> tuple[int, int, int]:
    """How many different texts the reports kept are, how many of them test in a split of this build, and how
    many of these are in the training part too."""
    parted = mtsamples.split(found.kept, rng)
    train = {reveal(one.text) for one in parted if one.split == "train"}
    test = [reveal(one.text) for one in parted if one.split == "test"]
    return len({reveal(one.text) for one in parted}), len(test), sum(text in train for text in test)


def copying(found: BuildDocuments, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Copying of the descriptions that the paper would keep, with intervals that draw whole texts.

    Index: the measure. ``mean``, ``low``, ``high``, ``median``.
    """
    texts, summaries = zip(*((reveal(one.text), reveal(one.summary)) for one in found.kept), strict=True)
    plain = rouge_precision(texts, summaries, stem=False)
    stemmed = rouge_precision(texts, summaries, stem=True)
    measures = {
        "ROUGE-1 precision": plain["rouge_1"],
        "ROUGE-L precision": plain["rouge_l"],
        "ROUGE-1 precision, stemmed": stemmed["rouge_1"],
        "ROUGE-L precision, stemmed": stemmed["rouge_l"],
        "words in runs of three or more": list(map(in_runs, texts, summaries)),
    }
    rows = {
        name: (*share_interval(values, texts, resamples=resamples, rng=rng), float(np.median(values)))
        for name, values in measures.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "low", "high", "median"])


def extractive_checks(
    found: BuildDocuments, measured: pd.DataFrame, said: Mapping[str, Printed]
) -> list[Check]:
    """The printed precisions against the file's; none without a file, for one report has no mean."""
    if not found.real:
        return []
    *rouge, runs = (
        Estimate(*measured.loc[name, ["mean", "low", "high"]])
        for name in ("ROUGE-1 precision", "ROUGE-L precision", "words in runs of three or more")
    )
    return [
        check_value("ROUGE-1 precision", said["rouge_1"], rouge[0], possible=(0.0, 1.0)),
        check_value("ROUGE-L precision", said["rouge_l"], rouge[1], possible=(0.0, 1.0)),
        check_statement(
            "more than half of the words stand in copied runs",
            "descriptions are mostly extractive in nature",
            with_interval(runs.value, runs.low, runs.high, ".2f"),
            above(runs.low, runs.high, 0.5),
        ),
    ]
