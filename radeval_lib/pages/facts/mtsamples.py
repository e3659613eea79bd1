"""How much of a summary is copied from its source: ROUGE precision, and fragments copied word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from radeval_lib.data import mtsamples
from radeval_lib.data.mtsamples import SHORTEST_DESCRIPTION as SHORTEST_DESCRIPTION
from radeval_lib.data.records import Document, FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.papers.printed_numbers import Printed, quotations
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import share_interval
from radeval_lib.stats.tokens import words
from radeval_lib.study.checks import Check, above, check_statement, check_value
from radeval_lib.study.runs import Run
from radeval_lib.wording import joined


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


class Copied(NamedTuple):
    """Of a summary's words the share in runs of its source, the mean length of a word's run, and the share in
    runs of three words at least."""

    coverage: float
    density: float
    phrases: float


def copied(source: str, summary: str) -> Copied:
    """Copying of a summary from its source; all 0 where the summary has no words."""
    said = words(summary)
    runs = np.array(fragments(words(source), said), dtype=np.float64)
    if not said:
        return Copied(0.0, 0.0, 0.0)
    return Copied(
        float(runs.sum() / len(said)),
        float((runs**2).sum() / len(said)),
        float(runs[runs >= 3].sum() / len(said)),
    )


def rouge_precision(sources: Sequence[str], summaries: Sequence[str], *, stem: bool) -> pd.DataFrame:
    """ROUGE-1 and ROUGE-L precision of each summary against its source.

    Columns ``rouge_1`` and ``rouge_l``, 0 to 1; one row a summary.
    """
    found = {name: create(name, stem=stem).score(sources, summaries) for name in ("rouge_1", "rouge_l")}
    return pd.DataFrame({name: [one["precision"] for one in of.details] for name, of in found.items()})


_SHARES = (0.8, 0.1, 0.1)


@dataclass(frozen=True)
class BuildDocuments:
    """The documents of this build."""

    documents: list[Document]
    real: bool
    whole: bool

    @property
    def evidence(self) -> str:
        return "open" if self.real else "synthetic"

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


@dataclass(frozen=True)
class PrintedReport:
    """The parts of a report that Figure 1 prints, and the report's description."""

    text: str
    description: str


def printed_report() -> PrintedReport:
    """What the paper prints of a report in Figure 1, from the transcribed quotations."""
    parts = dict(words.split(": ", 1) for _, words in quotations("facts.fig1"))
    description = parts.pop("DESCRIPTION")
    return PrintedReport(" ".join(parts.values()), description)


def size_checks(said: Mapping[str, float]) -> list[Check]:
    """What the printed sizes must fulfil, whatever the reports are.

    ``said``: the printed numbers of ``facts.claim_dataset`` by name.
    """
    parts = [said[name] for name in ("train", "development", "test")]
    kept, specialties = sum(parts), said["specialties"]
    short = _SHARES[0] * kept - parts[0]
    odd = parts[2] - parts[1]
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


def counts(found: BuildDocuments) -> dict[str, int]:
    """What the paper counts, of this build's documents, see :func:`radeval_lib.data.mtsamples.counts`."""
    return mtsamples.counts(found.documents)


def file_checks(found: BuildDocuments, said: Mapping[str, Printed]) -> list[Check]:
    """The printed counts and lengths against the whole file; none where it is not there."""
    if not found.whole:
        return []
    counts = mtsamples.counts(found.documents)
    names = {
        "specialties": "specialties",
        "reports of the smallest specialty": "smallest_specialty",
        "reports of the largest specialty": "largest_specialty",
        "reports kept": "kept",
        "training": "train",
        "development": "development",
        "test": "test",
    }
    checks = [check_value(name, said[quoted], counts[name]) for name, quoted in names.items()]
    reports = counts["reports"]
    checks.append(
        check_statement(
            "reports", said["reports"].text, f"{reports:,}", round(reports, -2) == said["reports"].value
        )
    )
    for name, text, quoted in (
        ("mean words of a report", "text", "body_words"),
        ("mean words of a description", "summary", "description_words"),
    ):
        words = [len(reveal(getattr(one, text)).split()) for one in found.documents]
        checks.append(check_value(name, said[quoted], float(np.mean(words))))
    return checks


def repeated(found: BuildDocuments, rng: np.random.Generator) -> tuple[int, int, int]:
    """How many different texts the reports kept are, how many of them test in a split of this build, and how
    many of these are in the training part too."""
    parted = mtsamples.split(found.kept, rng)
    train = {reveal(one.text) for one in parted if one.split == "train"}
    test = [reveal(one.text) for one in parted if one.split == "test"]
    return len({reveal(one.text) for one in parted}), len(test), sum(text in train for text in test)


def copied_whole(found: BuildDocuments) -> float:
    """Share of the descriptions kept that hold no word which their report lacks."""
    whole = [copied(reveal(one.text), reveal(one.summary)).coverage == 1 for one in found.kept]
    return float(np.mean(whole, dtype=float))


def copying(found: BuildDocuments, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Copying of the descriptions that the paper would keep, with intervals that draw whole texts.

    Index: the measure. ``mean``, ``low``, ``high``, ``median``.
    """
    kept = found.kept
    texts, summaries = [reveal(one.text) for one in kept], [reveal(one.summary) for one in kept]
    plain = rouge_precision(texts, summaries, stem=False)
    stemmed = rouge_precision(texts, summaries, stem=True)
    runs = [copied(text, summary) for text, summary in zip(texts, summaries, strict=True)]
    measures: dict[str, Sequence[float]] = {
        "ROUGE-1 precision": plain["rouge_1"].tolist(),
        "ROUGE-L precision": plain["rouge_l"].tolist(),
        "ROUGE-1 precision, stemmed": stemmed["rouge_1"].tolist(),
        "ROUGE-L precision, stemmed": stemmed["rouge_l"].tolist(),
        "words in runs of three or more": [one.phrases for one in runs],
    }
    rows = {}
    for name, values in measures.items():
        mean, low, high = share_interval(values, texts, resamples=resamples, rng=rng)
        rows[name] = {"mean": mean, "low": low, "high": high, "median": float(np.median(values))}
    return pd.DataFrame.from_dict(rows, orient="index")


def extractive_checks(
    found: BuildDocuments, measured: pd.DataFrame, said: Mapping[str, Printed]
) -> list[Check]:
    """The printed precisions against the file's; none without a file, for no one report tells a mean."""
    if not found.real:
        return []
    names = {"ROUGE-1 precision": "rouge_1", "ROUGE-L precision": "rouge_l"}
    rows = [measured.loc[name] for name in names]
    checks = [
        check_value(name, said[quoted], Estimate(row["mean"], row["low"], row["high"]), possible=(0.0, 1.0))
        for (name, quoted), row in zip(names.items(), rows, strict=True)
    ]
    copied_whole = measured.loc["words in runs of three or more"]
    checks.append(
        check_statement(
            "more than half of the words stand in copied runs",
            "descriptions are mostly extractive in nature",
            f"{copied_whole['mean']:.2f} [{copied_whole['low']:.2f}, {copied_whole['high']:.2f}]",
            above(copied_whole["low"], copied_whole["high"], 0.5),
        )
    )
    return checks


def summaries_copy(ratings: Sequence[FactRating], resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Share of words in copied runs of at least three words, of each system's summaries and the references.

    Index: the system, or ``reference``. ``mean``, ``low``, ``high``, ``summaries``.
    """
    rows: dict[str, dict[str, float]] = {}
    seen: dict[str, tuple[str, str]] = {
        one.case: (reveal(one.source), reveal(one.reference)) for one in ratings
    }
    groups = {
        name: [(one.case, reveal(one.source), reveal(one.candidate)) for one in ratings if one.group == name]
        for name in dict.fromkeys(one.group for one in ratings)
    }
    groups["reference"] = [(case, *texts) for case, texts in seen.items()]
    for name, texts in groups.items():
        shares = [copied(source, summary).phrases for _, source, summary in texts]
        mean, low, high = share_interval(shares, [case for case, _, _ in texts], resamples=resamples, rng=rng)
        rows[name] = {"mean": mean, "low": low, "high": high, "summaries": len(texts)}
    return pd.DataFrame.from_dict(rows, orient="index").astype({"summaries": int})
