"""MSLR: Cochrane summaries by six systems, rated by facet (Wang et al. 2023)."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import make_reader
from radeval_lib.data.records import RatedPair

RATERS = ("A1", "A2")
_QUESTION = "Is the *{0}* in the generated summary the same as the {0} in the target summary?"
QUESTIONS = tuple(_QUESTION.format(facet) for facet in ("population", "intervention", "outcome"))
_POINTS = {"2": 2, "1": 1, "0": 0, "N/A": 0}


def load(path: Path) -> list[RatedPair]:
    """Return one rater's ratings from ``A<n>.tsv``, each from 0 to 6.

    A rating sums the answers on three facets (population, intervention, outcome): 2 if the facet is the same,
    1 if it is partly the same, 0 if it is different or absent. Rows in which a facet has no answer, or "other
    / uncertain", are left out. ``rater`` is the file's name without suffix, ``group`` the system.

    Raises
    ------
    FormatError
        If a column is missing or a row is malformed.
    """
    columns = ("ExpID", "ReviewID", "Target Summary", "Generated Summary", *QUESTIONS)
    pairs = []
    for row in reading.read_csv(path, columns, delimiter="\t"):
        answers = [row[column].partition(":")[0].strip() for column in QUESTIONS]  # such as "2: Yes"
        if set(answers) <= _POINTS.keys():
            system = row["ExpID"][-6:]  # the end of a submission's key names its system
            name, texts = f"{row['ReviewID']}/{system}", (row["Target Summary"], row["Generated Summary"])
            rating = float(sum(_POINTS[answer] for answer in answers))
            pairs.append(RatedPair(name, *texts, rating, path.stem, group=system, scale="facets"))
    return pairs


read = make_reader(load, *(f"{rater}.tsv" for rater in RATERS))
