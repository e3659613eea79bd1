"""What Table 1's rounding implies, the printed task, and how much of MTSamples' descriptions is copied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from notebooks.facts.copying import MEASURES, measure_copying
from radeval_lib.data import mtsamples, recorded
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import reveal
from radeval_lib.papers.printed_numbers import Printed, printed, quotations
from radeval_lib.stats.base import Estimate, f1
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.checks import (
    Check,
    Key,
    above,
    by_reading,
    check_groups,
    check_statement,
    check_value,
)
from radeval_lib.study.runs import Run
from radeval_lib.study.verdicts import FAILS, INCONCLUSIVE
from radeval_lib.text_format import with_interval

NAME, PARTS = "mtsamples", ("train", "development", "test")

EVALUATORS = ["Eval 1", "Eval 2", "Eval 3"]


def as_printed(table1: pd.DataFrame) -> pd.DataFrame:
    """Return table 1 with its rounding: two decimals, `1.0` for 1.00, and coherence exact (a mean of ten
    codes)."""
    exact = table1.assign(half_width=table1["half_width"].clip(upper=0.005))
    exact.loc[(exact["metric"] == "Coherence") & (exact["evaluator"] != "Avg"), "half_width"] = 0.0
    return exact


def harmonic_bound(exact: pd.DataFrame) -> pd.DataFrame:
    """Return each evaluator's printed F-score beside the harmonic mean of the printed precision and recall.

    One row per model and evaluator: ``printed``; ``low``, ``high`` and ``harmonic mean``, what rounding
    allows; whether the F-score is ``reachable`` as a mean of F-scores, and ``strictly below``.
    """
    checks = check_groups(
        exact[exact["evaluator"] != "Avg"],
        by=["model", "evaluator"],
        target={"metric": "F-Score"},
        inputs={"metric": ["Precision", "Recall"]},
        function=lambda pair: f1(*pair),
        what="",
    )
    rows = {check.name: (check.stated, check.value, check.low, check.high) for check in checks}
    columns = ["printed", "harmonic mean", "low", "high"]
    bound = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    bound["reachable"] = bound["printed"] - 0.005 <= bound["high"]
    bound["strictly below"] = bound["printed"] + 0.005 < bound["low"]
    return bound


def printed_report() -> tuple[str, str]:
    """Return the report that Figure 1 prints, and its description."""
    parts = dict(words.split(": ", 1) for where, words in quotations("facts.fig1") if where == "Figure 1")
    description = parts.pop("DESCRIPTION")
    return " ".join(parts.values()), description


def plain(text: str) -> str:
    """Return a text in lower case without punctuation but hyphens and apostrophes."""
    return " ".join(re.findall(r"[a-z0-9'-]+", text.lower().replace("’", "'")))


def stands_in(words: str, text: str) -> bool:
    """Return whether another text contains the words of a :func:`plain` text, whole and in succession."""
    return f" {words} " in f" {text} "


def marked_spans(count: str) -> list[str]:
    """Return the spans that the physician marked for a count, ``R`` or ``G``."""
    spans = printed("facts.fig3").set_index("count").loc[count, "marked_facts"]
    return [plain(fact) for fact in str(spans).split(" | ")]


def facts_of_g() -> pd.DataFrame:
    """Return each span of G; whether the same words are marked in R, and stand in the report of Figure 1."""
    in_r, report = marked_spans("R"), plain(printed_report()[0])
    columns = ["fact of G", "marked in R", "its words are in the report"]
    rows = [(fact, fact in in_r, stands_in(fact, report)) for fact in marked_spans("G")]
    return pd.DataFrame(rows, columns=columns)


def texts_of_task() -> list[Check]:
    """Check that the reference in Figure 3 is Figure 1's description, and that the comment there quotes G."""
    reference, generated = (" ".join(marked_spans(text)) for text in ("R", "G"))
    same = reference == plain(printed_report()[1])
    comment = quotations("facts.fig3")[-1][1]
    quoted = plain(comment.split('"')[1])
    inside = stands_in(quoted, generated)
    return [
        check_statement(
            "text of R",
            "the reference",
            f"{'the' if same else 'not the'} description of Figure 1, {len(reference.split())} words",
            same,
        ),
        check_statement(
            "text that the comment calls wrong",
            comment,
            f"{len(quoted.split())} words, {'in' if inside else 'not in'} G",
            inside,
        ),
    ]


def quoted_texts() -> list[Check]:
    """Return whether the generated description and the report that Section 6 quotes are those of Figures 3
    and 1."""
    (_, description), (_, report) = quotations("facts.example_pegasus")
    generated = " ".join(marked_spans("G"))
    description = plain(description.split("generated description: ")[1])
    sides = [
        ("generated description", "the generated description", description, generated, "3"),
        (
            "source report",
            "She has lost a total of 24 pounds",
            plain(report),
            plain(printed_report()[0]),
            "1",
        ),
    ]
    return [
        check_statement(
            Key("quoted text", quantity),
            claim,
            f"{len(quoted.split())} words, {'in' if inside else 'not in'} Figure {figure}",
            inside,
        )
        for quantity, claim, quoted, printed, figure in sides
        for inside in [stands_in(quoted, printed)]
    ]


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
    def substitutes(self) -> str:
        """What stands in for MTSamples, if it is a part."""
        if self.whole:
            return ""
        part = f"the first {len(self.documents)} of MTSamples' transcriptions, not all of them"
        return f"{part}; of those compared, {self.mostly}"

    @property
    def mostly(self) -> str:
        """How many of the compared documents are of the two largest specialties."""
        specialties = Counter(document.group for document in self.kept)
        largest = sum(number for _, number in specialties.most_common(2))
        return f"{largest} of {len(self.kept)} are from two specialties"

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


def split_sizes(n: int) -> tuple[int, int, int]:
    """Return how many of a specialty's ``n`` documents are for training, development and testing."""
    train = 4 * n // 5
    development = (n - train) // 2
    return train, development, n - train - development


def file_checks(loaded: BuildDocuments, stated: Mapping[str, Printed]) -> list[Check]:
    """Return the printed counts and lengths against the whole file; none if it is not there."""
    if not loaded.whole:
        return []
    texts = loaded.documents
    sizes = Counter(document.group for document in texts)
    kept = Counter(document.group for document in mtsamples.with_long_descriptions(texts))
    splits = zip(*(split_sizes(size) for size in kept.values()), strict=True)
    train, development, test = (sum(part) for part in splits)
    exact = {
        "specialties": ("specialties", len(sizes)),
        "smallest_specialty": ("reports of the smallest specialty", min(sizes.values())),
        "largest_specialty": ("reports of the largest specialty", max(sizes.values())),
        "kept": ("reports kept", kept.total()),
        "train": ("training", train),
        "development": ("development", development),
        "test": ("test", test),
    }
    lengths = {
        "body_words": ("mean words of a report", [document.text for document in texts]),
        "description_words": ("mean words of a description", [document.summary for document in texts]),
    }
    return [
        *(check_value(name, stated[quoted], count) for quoted, (name, count) in exact.items()),
        check_statement(
            "reports",
            stated["reports"].text,
            f"{len(texts):,}",
            round(len(texts), -2) == stated["reports"].value,
        ),
        *(
            check_value(name, stated[quoted], float(np.mean([len(reveal(text).split()) for text in sides])))
            for quoted, (name, sides) in lengths.items()
        ),
    ]


def assign_splits(documents: list[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents, in their order, each with a split: 80, 10 and 10 % within every specialty.

    Of n documents of a specialty, floor(0.8 n) are for training; of the r others, floor(r / 2) are for
    development. The paper prints shares and sizes but not its rounding. These are the sizes of two successive
    splits by scikit-learn, and their sums can be the printed 2,576, 323 and 343.
    """
    chosen: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for document in documents:
        groups.setdefault(document.group, []).append(document.id)
    for ids in groups.values():
        shuffled = [ids[index] for index in rng.permutation(len(ids))]
        splits = np.repeat(["train", "dev", "test"], split_sizes(len(ids))).tolist()
        chosen.update(zip(shuffled, splits, strict=True))
    return [replace(document, split=chosen[document.id]) for document in documents]


def count_repeated_texts(loaded: BuildDocuments, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return the number of distinct texts among the reports kept, how many of these are test texts in a split
    of this build, and how many test texts are in the training part too."""
    parted = assign_splits(loaded.kept, rng)
    train = {reveal(document.text) for document in parted if document.split == "train"}
    test = [reveal(document.text) for document in parted if document.split == "test"]
    distinct = len({reveal(document.text) for document in parted})
    return distinct, len(test), sum(text in train for text in test)


def copying_of_descriptions(loaded: BuildDocuments, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return copying of the descriptions that the paper would keep, with intervals that draw whole texts.

    Index: the measure. ``mean``, ``low``, ``high``, ``median``.
    """
    texts, summaries = zip(
        *((reveal(document.text), reveal(document.summary)) for document in loaded.kept), strict=True
    )
    if loaded.evidence == "recorded":
        values = pd.DataFrame({key: recorded.column(summaries, key) for key in MEASURES})
    else:
        values = measure_copying(texts, summaries)
    cases = pd.factorize(pd.Series(texts))[0]  # in the file's order, whatever the texts
    rows = {
        title: (*share_interval(values[key], cases, resamples=resamples, rng=rng), values[key].median())
        for key, title in MEASURES.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "low", "high", "median"])


def extractive_checks(
    copied: pd.DataFrame, stated: Mapping[str, Printed], *, whole: bool = True
) -> list[Check]:
    """Return the printed precisions against the file's (``copied``: of :func:`copying_of_descriptions`),
    whose words may have been stemmed or not: the paper does not say, so that a precision holds if it does
    both ways. A part of the file, unless it is the ``whole``, can only contradict statements on all of it."""
    copied_by = {name: Estimate(*copied.loc[name, ["mean", "low", "high"]]) for name in copied.index}
    runs = copied_by[MEASURES["in_runs"]]
    precisions = list[Check]()
    for name, key in (("ROUGE-1 precision", "rouge_1"), ("ROUGE-L precision", "rouge_l")):
        titles = {"plain words": name, "stemmed words": f"{name}, stemmed"}
        precisions += by_reading(
            {
                reading: check_value(name, stated[key], copied_by[title], possible=(0.0, 1.0))
                for reading, title in titles.items()
            }
        )
    checks = [
        *precisions,
        check_statement(
            "more than half of the words stand in copied runs",
            "descriptions are mostly extractive in nature",
            with_interval(runs.value, runs.low, runs.high, ".2f"),
            above(runs.low, runs.high, 0.5),
            asked="more than half of the words",
        ),
    ]
    if whole:
        return checks
    return [
        check if check.outcome == FAILS else replace(check, outcome=INCONCLUSIVE, needed=False)
        for check in checks
    ]
