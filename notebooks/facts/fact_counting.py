"""Check Table 1's rounding, the printed task and the sizes of MTSamples; measure copying in descriptions."""

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

DATASET, SPLITS = "mtsamples", ("train", "development", "test")

EVALUATORS = ["Eval 1", "Eval 2", "Eval 3"]


def set_rounding(table1: pd.DataFrame) -> pd.DataFrame:
    """Return Table 1 with the half-widths of its actual rounding.

    A printed ``1.0`` means 1.00, and an evaluator's coherence, the mean of ten codes, is exact. ``table1``
    has the printed cells.
    """
    exact = table1.assign(half_width=table1["half_width"].clip(upper=0.005))
    exact.loc[(exact["metric"] == "Coherence") & (exact["evaluator"] != "Avg"), "half_width"] = 0.0
    return exact


def compare_f_scores(exact: pd.DataFrame) -> pd.DataFrame:
    """Return each printed F-score with the harmonic mean of the printed precision and recall.

    ``exact`` is the table that :func:`set_rounding` returned. The result has one row per model and evaluator,
    with columns ``printed`` (the F-score), ``harmonic mean``, ``low`` and ``high`` (the bounds of this mean
    within rounding), ``reachable`` (whether the F-score can be at most the upper bound) and ``strictly
    below`` (whether it must be below the lower bound).
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
    scores = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    scores["reachable"] = scores["printed"] - 0.005 <= scores["high"]
    scores["strictly below"] = scores["printed"] + 0.005 < scores["low"]
    return scores


def read_figure_1() -> tuple[str, str]:
    """Return (report, description) of Figure 1, each on one line."""
    sections = dict(words.split(": ", 1) for where, words in quotations("facts.fig1") if where == "Figure 1")
    description = sections.pop("DESCRIPTION")
    return " ".join(sections.values()), description


def normalize(text: str) -> str:
    """Return the words of a text in lower case, separated by spaces, without punctuation.

    Hyphens and apostrophes are kept, and typographic apostrophes become straight ones.
    """
    return " ".join(re.findall(r"[a-z0-9'-]+", text.lower().replace("’", "'")))


def is_run_of(words: str, text: str) -> bool:
    """Return whether ``words`` are in ``text`` as whole, adjacent words in this order.

    Both strings must be normalized (:func:`normalize`).
    """
    return f" {words} " in f" {text} "


def read_spans(count: str) -> list[str]:
    """Return the normalized spans that the physician of Figure 3 marked as facts for a count.

    ``count`` is ``R`` for the reference description or ``G`` for the generated one.
    """
    spans = printed("facts.fig3").set_index("count").loc[count, "marked_facts"]
    return [normalize(fact) for fact in str(spans).split(" | ")]


def list_marked_facts() -> pd.DataFrame:
    """Return one row per fact that the physician of Figure 3 marked in the generated description G.

    Columns are ``fact of G`` (its normalized words), ``marked in R`` (whether the same words are marked
    in the reference R) and ``in the report as one run of words`` (whether the words are adjacent and in this
    order in the report of Figure 1).
    """
    facts_of_r, report = read_spans("R"), normalize(read_figure_1()[0])
    columns = ["fact of G", "marked in R", "in the report as one run of words"]
    rows = [(fact, fact in facts_of_r, is_run_of(fact, report)) for fact in read_spans("G")]
    return pd.DataFrame(rows, columns=columns)


def check_task_texts() -> list[Check]:
    """Return the checks of the texts in Figure 3.

    One checks that the reference R is Figure 1's description; the other, that the generated description G
    has the words that the comment calls wrong.
    """
    reference, generated = (" ".join(read_spans(text)) for text in ("R", "G"))
    is_same = reference == normalize(read_figure_1()[1])
    comment = quotations("facts.fig3")[-1][1]
    quoted = normalize(comment.split('"')[1])
    is_in_g = is_run_of(quoted, generated)
    return [
        check_statement(
            "text of R",
            "the reference",
            f"{'the' if is_same else 'not the'} description of Figure 1, {len(reference.split())} words",
            is_same,
        ),
        check_statement(
            "text that the comment calls wrong",
            comment,
            f"{len(quoted.split())} words, {'in' if is_in_g else 'not in'} G",
            is_in_g,
        ),
    ]


def check_quoted_texts() -> list[Check]:
    """Return checks that Section 6 quotes the description of Figure 3 and the report of Figure 1."""
    (_, description), (_, report) = quotations("facts.example_pegasus")
    description = normalize(description.split("generated description: ")[1])
    source = "She has lost a total of 24 pounds"
    comparisons = [
        ("generated description", "the generated description", description, " ".join(read_spans("G")), "3"),
        ("source report", source, normalize(report), normalize(read_figure_1()[0]), "1"),
    ]
    return [
        check_statement(
            Key("quoted text", quantity),
            claim,
            f"{len(quoted.split())} words, {'in' if is_in_figure else 'not in'} Figure {figure}",
            is_in_figure,
        )
        for quantity, claim, quoted, text, figure in comparisons
        for is_in_figure in [is_run_of(quoted, text)]
    ]


@dataclass(frozen=True)
class BuildDocuments:
    """The documents of MTSamples that a build has, and phrases that describe them.

    Attributes
    ----------
    documents : documents with their texts, or with placeholders.
    whole : whether these are all documents of MTSamples, not only the first part of its file.
    evidence : ``open`` for texts, ``recorded`` for placeholders.
    """

    documents: list[Document]
    whole: bool
    evidence: str = "open"

    @property
    def cohort(self) -> list[Document]:
        """The documents with a text and a description of at least 12 words, the paper's criterion."""
        long_described = mtsamples.keep_long_descriptions(self.documents)
        return [document for document in long_described if reveal(document.text)]

    @property
    def substitutes(self) -> str:
        """A phrase for the part that stands in for MTSamples; empty if the documents are all of MTSamples."""
        if self.whole:
            return ""
        part = f"the first {len(self.documents)} of MTSamples' transcriptions, not all of them"
        return f"{part}; of those compared, {self.largest_specialties}"

    @property
    def largest_specialties(self) -> str:
        """A phrase for the number of documents in ``cohort`` that are from its two largest specialties."""
        specialties = Counter(document.group for document in self.cohort)
        count = sum(size for _, size in specialties.most_common(2))
        return f"{count} of {len(self.cohort)} are from two specialties"

    @property
    def source(self) -> str:
        """A phrase for the source of the documents."""
        return "MTSamples" if self.whole else "the first part of MTSamples"


def load(run: Run) -> BuildDocuments:
    """Return the documents of MTSamples that the build has.

    They come from the whole file or, if the data root lacks it, from its first part. If the data root has
    neither file, they are the placeholders of the stored set.
    """
    whole_path, part_path = run.find(DATASET), run.find(DATASET, "mtsamples_part.csv")
    if whole_path is not None:
        return BuildDocuments(mtsamples.load(whole_path), whole=True)
    if part_path is not None:
        return BuildDocuments(mtsamples.load(part_path, partial=True), whole=False)
    recording = run.recording(DATASET)
    is_whole = "mtsamples/mtsamples.csv" in recording.description["files"]
    return BuildDocuments(list(mtsamples.restore_documents(recording)), is_whole, evidence="recorded")


def compute_split_percentages(printed_numbers: Mapping[str, Printed]) -> dict[str, float]:
    """Return a mapping from each of :data:`SPLITS` to its percentage of the reports that the authors kept.

    ``printed_numbers`` is a mapping from name to printed number of ``facts.claim_dataset``.
    """
    kept = sum(printed_numbers[split].value for split in SPLITS)
    return {split: 100 * printed_numbers[split].value / kept for split in SPLITS}


def check_sizes(printed_numbers: Mapping[str, Printed]) -> list[Check]:
    """Return checks of the printed sizes and shares of the splits against each other, which need no data.

    A printed share has two readings: the split has this share of all reports, or this share of each
    specialty, rounded up or down to an integer. ``printed_numbers`` is a mapping from name to printed number
    of ``facts.claim_dataset``.
    """
    specialties = printed_numbers["specialties"].value
    kept = sum(printed_numbers[split].value for split in SPLITS)
    checks = [check_value("reports kept = train + development + test", printed_numbers["kept"], kept)]
    for split, percentage in compute_split_percentages(printed_numbers).items():
        share = printed_numbers[f"{split}_share"]
        excess = printed_numbers[split].value - share.value * kept / 100
        deviation = f"{excess:+.1f} reports, where less than {specialties:.0f} either way are possible"
        readings = {
            "of all reports": (f"{percentage:.2f}%", share.low <= percentage <= share.high),
            "rounded in each specialty": (deviation, abs(excess) < specialties),
        }
        checks += by_reading(
            {
                reading: check_statement(Key("share", split), share.text, computed, holds)
                for reading, (computed, holds) in readings.items()
            }
        )
    return checks


def compute_split_sizes(n: int) -> tuple[int, int, int]:
    """Return how many of a specialty's ``n`` documents are for training, development and testing.

    :func:`assign_splits` gives the rule.
    """
    train = 4 * n // 5
    development = (n - train) // 2
    return train, development, n - train - development


def check_whole_file(loaded: BuildDocuments, printed_numbers: Mapping[str, Printed]) -> list[Check]:
    """Return checks of the printed counts and lengths against the documents.

    The list is empty if the documents are only a part of MTSamples. ``printed_numbers`` is a mapping from
    name to printed number of ``facts.claim_dataset``.
    """
    if not loaded.whole:
        return []
    documents = loaded.documents
    sizes = Counter(document.group for document in documents)
    kept = Counter(document.group for document in mtsamples.keep_long_descriptions(documents))
    sizes_by_split = zip(*(compute_split_sizes(size) for size in kept.values()), strict=True)
    train, development, test = map(sum, sizes_by_split)
    counts = {
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
        *(check_value(name, printed_numbers[key], count) for key, (name, count) in counts.items()),
        check_statement(
            "reports",
            printed_numbers["reports"].text,
            f"{len(documents):,}",
            round(len(documents), -2) == printed_numbers["reports"].value,
        ),
        *(
            check_value(name, printed_numbers[key], float(np.mean([len(reveal(x).split()) for x in texts])))
            for key, (name, texts) in lengths.items()
        ),
    ]


def assign_splits(documents: list[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents, in their order, with random splits: 80% ``train``, 10% ``dev``, 10% ``test``.

    Each specialty is split separately. The paper does not say how it rounds; here, of a specialty's n
    documents, floor(0.8 n) are for training, and of the remaining r, floor(r / 2) are for development.
    Splitting twice with scikit-learn gives these sizes, which can add up to the printed 2,576, 323 and 343.
    """
    split_of: dict[str, str] = {}
    ids_by_specialty: dict[str, list[str]] = {}
    for document in documents:
        ids_by_specialty.setdefault(document.group, []).append(document.id)
    for ids in ids_by_specialty.values():
        shuffled = [ids[index] for index in rng.permutation(len(ids))]
        splits = np.repeat(["train", "dev", "test"], compute_split_sizes(len(ids))).tolist()
        split_of.update(zip(shuffled, splits, strict=True))
    return [replace(document, split=split_of[document.id]) for document in documents]


def count_repeated_texts(loaded: BuildDocuments, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return (distinct texts, test reports, test reports with the text of a training report), as counts.

    The reports are those of ``loaded.cohort``, split at random (:func:`assign_splits`).
    """
    documents = assign_splits(loaded.cohort, rng)
    train = {reveal(document.text) for document in documents if document.split == "train"}
    test = [reveal(document.text) for document in documents if document.split == "test"]
    distinct = len({reveal(document.text) for document in documents})
    return distinct, len(test), sum(text in train for text in test)


def summarize_copying(loaded: BuildDocuments, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the mean and the median of each measure of copying, over the descriptions in ``loaded.cohort``.

    The DataFrame is indexed by the measures' names on the page. Columns are ``mean``, ``low`` and ``high``
    (the bounds of its 95% bootstrap interval over distinct texts), and ``median``, all from 0 to 1.
    """
    texts, summaries = zip(
        *((reveal(document.text), reveal(document.summary)) for document in loaded.cohort), strict=True
    )
    if loaded.evidence == "recorded":
        values = pd.DataFrame({key: recorded.read_column(summaries, key) for key in MEASURES})
    else:
        values = measure_copying(texts, summaries)
    cases = pd.factorize(pd.Series(texts))[0]  # the same numbers for texts and for their placeholders
    rows = {
        title: (*share_interval(values[key], cases, resamples=resamples, rng=rng), values[key].median())
        for key, title in MEASURES.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "low", "high", "median"])


def check_copying(
    copied: pd.DataFrame, printed_numbers: Mapping[str, Printed], *, whole: bool = True
) -> list[Check]:
    """Return checks of the printed ROUGE precisions, and of "mostly extractive", against measured copying.

    The paper does not say whether it stemmed words, so both readings are checked.

    Parameters
    ----------
    copied : the table that :func:`summarize_copying` returned.
    printed_numbers : a mapping from name to printed number of ``facts.claim_extractive``.
    whole : whether the documents are all of MTSamples; if not, a check that does not fail is inconclusive.
    """
    estimates = {name: Estimate(*copied.loc[name, ["mean", "low", "high"]]) for name in copied.index}
    in_runs = estimates[MEASURES["in_runs"]]
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
            with_interval(in_runs.value, in_runs.low, in_runs.high, ".2f"),
            above(in_runs.low, in_runs.high, 0.5),
            criterion="more than half of the words",
        ),
    ]
    if whole:
        return checks
    return [
        check if check.outcome == FAILS else replace(check, outcome=INCONCLUSIVE, needed=False)
        for check in checks
    ]
