"""MSLR: Cochrane summaries by six systems, rated by facet and preferred in pairs (Wang et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import Find, Reader, Records, each
from radeval_lib.data.records import RatedPair

RATERS = ("A1", "A2")
JUDGES = ("A3", "A4", "A5", "A6", "A7")
_QUESTION = "Is the *{0}* in the generated summary the same as the {0} in the target summary?"
QUESTIONS = tuple(_QUESTION.format(facet) for facet in ("population", "intervention", "outcome"))
CHOICE = (
    "Which of A or B more accurately reflects the content of the target summary? (Choices: A, B, Neither)"
)
_CHOICES = {"A": "A", "B": "B", "Neither": "neither", "": ""}
_POINTS = {"2": 2, "1": 1, "0": 0, "N/A": 0}
_SUFFIX = 6  # letters of a submission's key by which the preferences name it


@dataclass(frozen=True)
class Preference:
    """A judge's choice of the summary closer to a review's target: ``A``, ``B`` or ``neither``."""

    review: str
    reference: str
    first: str
    second: str
    systems: tuple[str, str]
    judge: str
    choice: str


def load_ratings(path: Path) -> list[RatedPair]:
    """Return the ratings of ``annotations/A<n>.tsv``, 0 to 6. Each sums three facets: 2 (the same), 1 (in
    part), 0 (different or absent).

    Rows in which a facet has no answer, or "other / uncertain", are left out.
    """
    columns = ("ExpID", "ReviewID", "Target Summary", "Generated Summary", *QUESTIONS)
    pairs = []
    for row in reading.read_csv(path, columns, delimiter="\t"):
        answers = [row[column].partition(":")[0].strip() for column in QUESTIONS]  # such as "2: Yes"
        if set(answers) <= _POINTS.keys():
            system = row["ExpID"][-_SUFFIX:]
            pair = RatedPair(
                id=f"{row['ReviewID']}/{system}",
                reference=row["Target Summary"],
                candidate=row["Generated Summary"],
                rating=float(sum(_POINTS[answer] for answer in answers)),
                rater=path.stem,
                group=system,
                scale="facets",
            )
            pairs.append(pair)
    return pairs


def load_preferences(path: Path) -> list[Preference]:
    """Return preferences of ``pairwise/A<n>.tsv``; rows without an answer are left out."""
    columns = ("review_id", "target", "sys_a", "A", "sys_b", "B", CHOICE)
    preferences = []
    for row in reading.read_csv(path, columns, delimiter="\t"):
        if choice := _CHOICES[row.text(CHOICE).partition(" ")[0]]:
            texts, systems = (row["target"], row["A"], row["B"]), (row["sys_a"], row["sys_b"])
            preferences.append(Preference(row["review_id"], *texts, systems, path.stem, choice))
    return preferences


def _read(find: Find) -> Records:
    """Return ratings by facet, then preferences."""
    rated = each(load_ratings, *(f"{rater}.tsv" for rater in RATERS))(find)
    return rated + each(load_preferences, *(f"{judge}.tsv" for judge in JUDGES))(find)


READER = Reader(_read)
