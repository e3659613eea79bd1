"""Check Table 1's rounding, the printed task and MTSamples' sizes; measure copying in its descriptions."""

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


def set_rounding(table1: pd.DataFrame) -> pd.DataFrame:
    """Return Table 1 with the half-widths of its true rounding.

    A printed ``1.0`` stands for 1.00, and an evaluator's coherence, the mean of ten codes, is exact.
    """
    exact = table1.assign(half_width=table1["half_width"].clip(upper=0.005))
    exact.loc[(exact["metric"] == "Coherence") & (exact["evaluator"] != "Avg"), "half_width"] = 0.0
    return exact


def compare_f_scores(exact: pd.DataFrame) -> pd.DataFrame:
    """Return each printed F-score with the harmonic mean of the printed precision and recall.

    There is one row per model and evaluator, and the columns are ``printed`` (F-score), ``harmonic mean``,
    ``low`` and ``high`` (the range of this mean that rounding allows), ``reachable`` (the F-score is not
    above the range) and ``strictly below`` (it is below the range). ``exact`` is the table of
    :func:`set_rounding`.
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


def read_figure_1() -> tuple[str, str]:
    """Return two strings: the report that Figure 1 prints, on one line, and its description."""
    parts = dict(words.split(": ", 1) for where, words in quotations("facts.fig1") if where == "Figure 1")
    description = parts.pop("DESCRIPTION")
    return " ".join(parts.values()), description


def normalize(text: str) -> str:
    """Return the words of a text in lower case, joined by blanks, without punctuation.

    Hyphens and apostrophes within words are kept.
    """
    return " ".join(re.findall(r"[a-z0-9'-]+", text.lower().replace("’", "'")))


def is_run_of(words: str, text: str) -> bool:
    """Return whether ``words`` occur in ``text`` as whole, adjacent words in this order.

    Both must be strings from :func:`normalize`.
    """
    return f" {words} " in f" {text} "


def read_spans(count: str) -> list[str]:
    """Return the normalized spans that Figure 3's physician marked as facts for a count, ``R`` or ``G``."""
    spans = printed("facts.fig3").set_index("count").loc[count, "marked_facts"]
    return [normalize(fact) for fact in str(spans).split(" | ")]


def list_marked_facts() -> pd.DataFrame:
    """Return one row per fact that Figure 3's physician marked in the generated description G.

    Columns are ``fact of G`` (its normalized words) and two truth values: ``marked in R``, whether the same
    words are marked in the reference R, and ``one run of words of the report``, whether they are adjacent and
    in this order in the report of Figure 1.
    """
    in_r, report = read_spans("R"), normalize(read_figure_1()[0])
    columns = ["fact of G", "marked in R", "one run of words of the report"]
    rows = [(fact, fact in in_r, is_run_of(fact, report)) for fact in read_spans("G")]
    return pd.DataFrame(rows, columns=columns)


def check_task_texts() -> list[Check]:
    """Return two checks: that Figure 3's reference R is Figure 1's description, and that the words which the
    comment in Figure 3 calls wrong are in the generated description G."""
    reference, generated = (" ".join(read_spans(text)) for text in ("R", "G"))
    same = reference == normalize(read_figure_1()[1])
    comment = quotations("facts.fig3")[-1][1]
    quoted = normalize(comment.split('"')[1])
    inside = is_run_of(quoted, generated)
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


def check_quoted_texts() -> list[Check]:
    """Return two checks: Section 6 quotes Figure 3's generated description and Figure 1's report."""
    (_, description), (_, report) = quotations("facts.example_pegasus")
    description = normalize(description.split("generated description: ")[1])
    source = "She has lost a total of 24 pounds"
    sides = [
        ("generated description", "the generated description", description, " ".join(read_spans("G")), "3"),
        ("source report", source, normalize(report), normalize(read_figure_1()[0]), "1"),
    ]
    return [
        check_statement(
            Key("quoted text", quantity),
            claim,
            f"{len(quoted.split())} words, {'in' if inside else 'not in'} Figure {figure}",
            inside,
        )
        for quantity, claim, quoted, printed, figure in sides
        for inside in [is_run_of(quoted, printed)]
    ]


@dataclass(frozen=True)
class BuildDocuments:
    """The documents of MTSamples in a build.

    Attributes
    ----------
    documents : documents with their texts, or with placeholders.
    whole : whether they are all of MTSamples, or only its first part.
    evidence : ``open`` for texts, ``recorded`` for placeholders.
    """

    documents: list[Document]
    whole: bool
    evidence: str = "open"

    @property
    def cohort(self) -> list[Document]:
        """The documents whose description has at least 12 words, as in the paper, except those with an empty
        text."""
        long = mtsamples.keep_long_descriptions(self.documents)
        return [document for document in long if reveal(document.text)]

    @property
    def substitutes(self) -> str:
        """A description of the part that replaces MTSamples; empty if the documents are all of MTSamples."""
        if self.whole:
            return ""
        part = f"the first {len(self.documents)} of MTSamples' transcriptions, not all of them"
        return f"{part}; of those compared, {self.largest_specialties}"

    @property
    def largest_specialties(self) -> str:
        """The words for how many of the kept documents are from the two specialties with the most of them."""
        specialties = Counter(document.group for document in self.cohort)
        largest = sum(number for _, number in specialties.most_common(2))
        return f"{largest} of {len(self.cohort)} are from two specialties"

    @property
    def source(self) -> str:
        """The name of the documents' source, for sentences."""
        return "MTSamples" if self.whole else "the first part of MTSamples"


def load(run: Run) -> BuildDocuments:
    """Return the documents of MTSamples: all of them if the data root has them, otherwise the first part if
    the data root has that, otherwise placeholders for the stored set."""
    whole, part = run.find(NAME), run.find(NAME, "mtsamples_part.csv")
    if whole is not None:
        return BuildDocuments(mtsamples.load(whole), whole=True)
    if part is not None:
        return BuildDocuments(mtsamples.load(part, partial=True), whole=False)
    recording = run.recording(NAME)
    from_whole = "mtsamples/mtsamples.csv" in recording.about["files"]
    return BuildDocuments(list(mtsamples.restore_documents(recording)), from_whole, evidence="recorded")


def compute_part_percentages(printed_numbers: Mapping[str, Printed]) -> dict[str, float]:
    """Return the percentage of the kept reports in each of the printed :data:`PARTS`, by part.

    ``printed_numbers`` has the printed numbers of ``facts.claim_dataset`` by name.
    """
    kept = sum(printed_numbers[part].value for part in PARTS)
    return {part: 100 * printed_numbers[part].value / kept for part in PARTS}


def check_sizes(printed_numbers: Mapping[str, Printed]) -> list[Check]:
    """Return checks of the printed sizes and shares against each other, which need no data.

    A printed share has two readings: a part has this share of all reports; or of each specialty, rounded up
    or down to whole reports. ``printed_numbers`` has the printed numbers of ``facts.claim_dataset`` by name.
    """
    specialties = printed_numbers["specialties"].value
    kept = sum(printed_numbers[part].value for part in PARTS)
    checks = [check_value("reports kept = train + development + test", printed_numbers["kept"], kept)]
    for part, percentage in compute_part_percentages(printed_numbers).items():
        printed = printed_numbers[f"{part}_share"]
        excess = printed_numbers[part].value - printed.value * kept / 100
        spread = f"{excess:+.1f} reports, where less than {specialties:.0f} either way are possible"
        readings = {
            "of all reports": (f"{percentage:.2f}%", printed.low <= percentage <= printed.high),
            "rounded in each specialty": (spread, abs(excess) < specialties),
        }
        checks += by_reading(
            {
                reading: check_statement(Key("share", part), printed.text, finding, fits)
                for reading, (finding, fits) in readings.items()
            }
        )
    return checks


def compute_split_sizes(n: int) -> tuple[int, int, int]:
    """Return the numbers of a specialty's ``n`` documents for training, development and testing, in this
    order (:func:`assign_splits` says by which rule)."""
    train = 4 * n // 5
    development = (n - train) // 2
    return train, development, n - train - development


def check_whole_file(loaded: BuildDocuments, printed_numbers: Mapping[str, Printed]) -> list[Check]:
    """Return checks of the printed counts and lengths against the documents; none if they are only a part.

    ``printed_numbers`` has the printed numbers of ``facts.claim_dataset`` by name.
    """
    if not loaded.whole:
        return []
    documents = loaded.documents
    sizes = Counter(document.group for document in documents)
    kept = Counter(document.group for document in mtsamples.keep_long_descriptions(documents))
    splits = zip(*(compute_split_sizes(size) for size in kept.values()), strict=True)
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
        "body_words": ("mean words of a report", [document.text for document in documents]),
        "description_words": ("mean words of a description", [document.summary for document in documents]),
    }
    return [
        *(check_value(name, printed_numbers[quoted], count) for quoted, (name, count) in exact.items()),
        check_statement(
            "reports",
            printed_numbers["reports"].text,
            f"{len(documents):,}",
            round(len(documents), -2) == printed_numbers["reports"].value,
        ),
        *(
            check_value(name, printed_numbers[key], float(np.mean([len(reveal(t).split()) for t in texts])))
            for key, (name, texts) in lengths.items()
        ),
    ]


def assign_splits(documents: list[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents, in their order, with random splits: 80% ``train``, 10% ``dev``, 10% ``test``.

    Each specialty is split separately. The paper does not print how it rounds; here, of a specialty's n
    documents, floor(0.8 n) are for training, and of the r others, floor(r / 2) for development. Two
    successive splits by scikit-learn have these sizes, and their sums can be the printed 2,576, 323 and 343.
    """
    split_of: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for document in documents:
        groups.setdefault(document.group, []).append(document.id)
    for ids in groups.values():
        shuffled = [ids[index] for index in rng.permutation(len(ids))]
        splits = np.repeat(["train", "dev", "test"], compute_split_sizes(len(ids))).tolist()
        split_of.update(zip(shuffled, splits, strict=True))
    return [replace(document, split=split_of[document.id]) for document in documents]


def count_repeated_texts(loaded: BuildDocuments, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return three numbers for a random split of the kept reports (:func:`assign_splits`): of distinct texts,
    of test reports, and of test reports that have the text of a training report."""
    documents = assign_splits(loaded.cohort, rng)
    train = {reveal(document.text) for document in documents if document.split == "train"}
    test = [reveal(document.text) for document in documents if document.split == "test"]
    distinct = len({reveal(document.text) for document in documents})
    return distinct, len(test), sum(text in train for text in test)


def summarize_copying(loaded: BuildDocuments, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return how much of the kept documents' descriptions is copied from their texts, 0 to 1.

    The index is the name of the measure; columns are ``mean`` with its 95% bootstrap interval over distinct
    texts, ``low`` to ``high``, and ``median``.
    """
    texts, summaries = zip(
        *((reveal(document.text), reveal(document.summary)) for document in loaded.cohort), strict=True
    )
    if loaded.evidence == "recorded":
        values = pd.DataFrame({key: recorded.read_column(summaries, key) for key in MEASURES})
    else:
        values = measure_copying(texts, summaries)
    cases = pd.factorize(pd.Series(texts))[0]  # numbered in the file's order, with texts or placeholders
    rows = {
        title: (*share_interval(values[key], cases, resamples=resamples, rng=rng), values[key].median())
        for key, title in MEASURES.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "low", "high", "median"])


def check_copying(
    copied: pd.DataFrame, printed_numbers: Mapping[str, Printed], *, whole: bool = True
) -> list[Check]:
    """Return checks of the printed ROUGE precisions, and of "mostly extractive", against measured copying.

    The paper does not say whether it stemmed words, so both readings are checked. If the documents are only a
    part of the file (``whole`` is false), a check can fail, but otherwise is inconclusive.

    Parameters
    ----------
    copied : the table of :func:`summarize_copying`.
    printed_numbers : the printed numbers of ``facts.claim_extractive`` by name.
    """
    estimates = {name: Estimate(*copied.loc[name, ["mean", "low", "high"]]) for name in copied.index}
    runs = estimates[MEASURES["in_runs"]]
    precision_checks = list[Check]()
    for name, key in (("ROUGE-1 precision", "rouge_1"), ("ROUGE-L precision", "rouge_l")):
        titles = {"plain words": name, "stemmed words": f"{name}, stemmed"}
        precision_checks += by_reading(
            {
                reading: check_value(name, printed_numbers[key], estimates[title], possible=(0.0, 1.0))
                for reading, title in titles.items()
            }
        )
    checks = [
        *precision_checks,
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
