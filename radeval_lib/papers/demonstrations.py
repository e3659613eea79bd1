"""Small re-statements of released code that departs from its paper, for demonstrations.

Each function does on toy input what the named code does, so that the difference can be counted. None is for
use in an evaluation. Sources: the repositories named in each docstring, read at the commits of the page
"Paper versus released code".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

Rule = Literal["released", "meant"]


def pair_as_released(
    references: Sequence[Sequence[str]], candidates: Sequence[Sequence[str]]
) -> list[tuple[list[str], list[str]]]:
    """Return the pairs that released RaTEScore makes of texts, each given as its sentences. A text that keeps
    no sentence opens no list.

    Sentences of fewer than three characters are dropped, the lists of both sides are zipped, and the longer
    side is cut.
    """

    def lists(texts: Sequence[Sequence[str]]) -> list[list[str]]:
        kept = ([line.strip() for line in text if len(line.strip()) >= 3] for text in texts)
        return [lines for lines in kept if lines]

    return list(zip(lists(references), lists(candidates), strict=False))


def indication(report: str, rule: Rule) -> str:
    """Return the indication of a report with the heading INDICATION before COMPARISON.

    ``released`` cuts at an end that was measured in the whole report, after the part before INDICATION is
    gone (RaLEs, datasets/mimiciii_procedure_selection/create_dataset.py); ``meant`` cuts at COMPARISON.
    """
    start, end = report.find("INDICATION"), report.find("COMPARISON")
    if rule == "released":
        return report[start:][:end]
    return report[start:end] if end > start else report[start:]


def findings_section(names: Sequence[str], texts: Sequence[str], rule: Rule) -> str:
    """Return the text paired with the heading ``findings``.

    ``released`` removes "impression" from the headings but not from the texts, so that headings after it
    point at the text before theirs (vilmedic, data/make_datasets/mimiciii/preprocess_mimic_iii.ipynb).
    ``names``: headings, one per text, with both of these among them.
    """
    searched = list(names)
    if rule == "released":
        searched.remove("impression")
    return texts[searched.index("findings")]


def search_clusters_released(silhouette: Mapping[int, float], sentences: int) -> int:
    """Return the number of clusters that GREEN's ``binary_search_optimal_kmeans`` settles on, given each k's
    silhouette.

    The search goes right whenever the score improved and left otherwise, which need not lead to the
    maximum.
    """
    low, high, best, best_score = 0, sentences - 1, 1, -1.0
    while low <= high:
        middle = (low + high) // 2
        if middle < 2:
            break
        if silhouette[middle] > best_score:
            best, best_score, low = middle, silhouette[middle], middle + 1
        else:
            high = middle - 1
    return best


def labels_by_string(text: str, entities: Sequence[tuple[int, int, str]], rule: Rule) -> list[str]:
    """Return one label per word (``O`` outside entities) for entities given as (first word, last word,
    label), words numbered from 0.

    ``released`` labels every word that equals the string of some entity (RaLEs,
    datasets/convert_radgraph_to_json.py); ``meant`` labels the words of the entities.
    """
    words = text.split(" ")
    if rule == "released":
        of_string = {" ".join(words[first : last + 1]): label for first, last, label in entities}
        return [of_string.get(word, "O") for word in words]
    labels = ["O"] * len(words)
    for first, last, label in entities:
        labels[first : last + 1] = [label] * (last + 1 - first)
    return labels


def title_pieces(header: str, rule: Rule) -> list[str]:
    """Return the procedure titles in a report's header: pieces that begin with CT and contain no digit.

    ``released`` splits at ``\\s{2, 100}``, whose blank makes it match those characters literally, so it never
    splits (RaLEs, create_dataset.py); ``meant`` splits at two or more blanks.
    """
    pattern = r"\s{2, 100}" if rule == "released" else r"\s{2,100}"
    pieces = re.sub(pattern, ";", header.replace("\n", ";")).split(";")
    return [
        piece.strip() for piece in pieces if piece.strip().startswith("CT") and not re.search(r"\d", piece)
    ]
