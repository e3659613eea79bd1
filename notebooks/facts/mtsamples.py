"""The page on MTSamples: what the printed sizes must fulfil, and how much of the descriptions is copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from radeval_lib.data import mtsamples, recorded
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs.copying import MEASURES, measured
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.checks import Check, Key, above, by_reading, check_statement, check_value
from radeval_lib.study.runs import Run
from radeval_lib.text_format import with_interval

NAME = "mtsamples"
PARTS = ("train", "development", "test")


@dataclass(frozen=True)
class BuildDocuments:
    """MTSamples (``whole`` or a part), its texts or placeholders of what is recorded of them; ``evidence``:
    ``open`` or ``recorded``."""

    documents: list[Document]
    whole: bool
    evidence: str = "open"

    @property
    def kept(self) -> list[Document]:
        """The documents with a text whose description has the paper's least number of words."""
        long = mtsamples.with_long_descriptions(self.documents)
        return [document for document in long if reveal(document.text)]

    @property
    def stand_in(self) -> str:
        """What stands in for MTSamples, where it is a part."""
        if self.whole:
            return ""
        part = f"the first {len(self.documents)} of MTSamples' transcriptions, not all of them"
        return f"{part}; of those compared, {self.mostly}"

    @property
    def mostly(self) -> str:
        """How many of the compared documents are of the two largest specialties."""
        specialties = Counter(document.group for document in self.kept)
        largest = sum(number for _, number in specialties.most_common(2))
        return f"{largest} of {len(self.kept)} are of two specialties"

    @property
    def source(self) -> str:
        """Where the documents are from, as the page says it."""
        return "MTSamples" if self.whole else "the first part of MTSamples"


def load(run: Run) -> BuildDocuments:
    """Return MTSamples, or the part of it that the data root holds, or else what is recorded of that part."""
    whole, part = run.find(NAME), run.find(NAME, "mtsamples_part.csv")
    if whole is not None:
        return BuildDocuments(mtsamples.load(whole), whole=True)
    if part is not None:
        return BuildDocuments(mtsamples.load(part, partial=True), whole=False)
    recording = run.recording(NAME)
    from_whole = "mtsamples/mtsamples.csv" in recording.about["files"]
    return BuildDocuments(list(mtsamples.recorded_documents(recording)), from_whole, evidence="recorded")


def shares(stated: Mapping[str, Printed]) -> dict[str, float]:
    """Return the share of the kept reports that each printed part is, in percent."""
    kept = sum(stated[part].value for part in PARTS)
    return {part: 100 * stated[part].value / kept for part in PARTS}


def size_checks(stated: Mapping[str, Printed]) -> list[Check]:
    """Return what the printed sizes must fulfil, whatever the reports are.

    A printed share may be that of all reports, or, since each specialty is split by itself, be kept in each
    specialty up to a whole report, rounded either way; where the two readings differ the check is
    inconclusive.

    ``stated``: the printed numbers of ``facts.claim_dataset`` by name.
    """
    specialties = stated["specialties"].value
    kept = sum(stated[part].value for part in PARTS)
    checks = [check_value("reports kept = train + development + test", stated["kept"], kept)]
    for part, share in shares(stated).items():
        printed = stated[f"{part}_share"]
        more = stated[part].value - printed.value * kept / 100
        spread = f"{more:+.1f} reports, where less than {specialties:.0f} either way are possible"
        readings = {
            "of all reports": (f"{share:.2f}%", printed.low <= share <= printed.high),
            "rounded in each specialty": (spread, abs(more) < specialties),
        }
        checks += by_reading(
            {
                reading: check_statement(Key("share", part), printed.text, finding, fits)
                for reading, (finding, fits) in readings.items()
            }
        )
    return checks


def file_checks(loaded: BuildDocuments, stated: Mapping[str, Printed]) -> list[Check]:
    """Return the printed counts and lengths against the whole file; none where it is not there."""
    if not loaded.whole:
        return []
    counted, texts = mtsamples.counts(loaded.documents), loaded.documents
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
        "body_words": ("mean words of a report", [document.text for document in texts]),
        "description_words": ("mean words of a description", [document.summary for document in texts]),
    }
    return [
        *(check_value(name, stated[quoted], counted[name]) for name, quoted in exact.items()),
        check_statement(
            "reports",
            stated["reports"].text,
            f"{counted['reports']:,}",
            round(counted["reports"], -2) == stated["reports"].value,
        ),
        *(
            check_value(name, stated[quoted], float(np.mean([len(reveal(text).split()) for text in sides])))
            for quoted, (name, sides) in lengths.items()
        ),
    ]


def repeated(loaded: BuildDocuments, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return how many different texts the reports kept are, how many of them test in a split of this build,
    and how many of these are in the training part too."""
    parted = mtsamples.split(loaded.kept, rng)
    train = {reveal(document.text) for document in parted if document.split == "train"}
    test = [reveal(document.text) for document in parted if document.split == "test"]
    distinct = len({reveal(document.text) for document in parted})
    return distinct, len(test), sum(text in train for text in test)


def copying(loaded: BuildDocuments, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return copying of the descriptions that the paper would keep, with intervals that draw whole texts.

    Index: the measure. ``mean``, ``low``, ``high``, ``median``.
    """
    texts, summaries = zip(
        *((reveal(document.text), reveal(document.summary)) for document in loaded.kept), strict=True
    )
    if loaded.evidence == "recorded":
        values = pd.DataFrame({key: recorded.column(summaries, key) for key in MEASURES})
    else:
        values = measured(texts, summaries)
    cases = pd.factorize(pd.Series(texts))[0]  # in the file's order, whatever the texts
    rows = {
        title: (*share_interval(values[key], cases, resamples=resamples, rng=rng), values[key].median())
        for key, title in MEASURES.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "low", "high", "median"])


def extractive_checks(copied: pd.DataFrame, stated: Mapping[str, Printed]) -> list[Check]:
    """Return the printed precisions against the file's (``copied``: of :func:`copying`), whose words may have
    been stemmed or not: the paper does not say, so that a precision holds if it does both ways."""
    found = {name: Estimate(*copied.loc[name, ["mean", "low", "high"]]) for name in copied.index}
    runs = found[MEASURES["in_runs"]]
    precisions = list[Check]()
    for name, printed in (("ROUGE-1 precision", stated["rouge_1"]), ("ROUGE-L precision", stated["rouge_l"])):
        keys = {"plain words": name, "stemmed words": f"{name}, stemmed"}
        precisions += by_reading(
            {
                reading: check_value(name, printed, found[key], possible=(0.0, 1.0))
                for reading, key in keys.items()
            }
        )
    return [
        *precisions,
        check_statement(
            "more than half of the words stand in copied runs",
            "descriptions are mostly extractive in nature",
            with_interval(runs.value, runs.low, runs.high, ".2f"),
            above(runs.low, runs.high, 0.5),
            asked="more than half of the words",
        ),
    ]
