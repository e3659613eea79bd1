"""Short functions that show where released code departs from its paper; do not use them in an evaluation.

Each function repeats one step of the released code, so that a page can count the cases in which its result
differs from the one that the paper describes. The docstrings name the repositories and files; the page "Paper
versus released code" names the commits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

Rule = Literal["released", "meant"]  # as the released code does, or as the paper describes


def pair_sentences_as_released(
    references: Sequence[Sequence[str]], candidates: Sequence[Sequence[str]]
) -> list[tuple[list[str], list[str]]]:
    """Return the pairs of reference and candidate sentences that the released RaTEScore compares.

    Each text is given as its sentences. Sentences of fewer than three characters are dropped, and then texts
    without sentences. The remaining texts of both sides are paired in order, so that a dropped text shifts
    all later pairs; surplus texts of the longer side are lost.
    """

    def drop_short(texts: Sequence[Sequence[str]]) -> list[list[str]]:
        shortened = ([line.strip() for line in text if len(line.strip()) >= 3] for text in texts)
        return [sentences for sentences in shortened if sentences]

    return list(zip(drop_short(references), drop_short(candidates), strict=False))


def cut_reason(report: str, rule: Rule) -> str:
    """Return the section INDICATION, with its heading, of a report in which COMPARISON follows it.

    ``meant`` ends the section at COMPARISON. ``released`` first removes the text before INDICATION, then cuts
    at the position of COMPARISON in the whole report, and so returns too much (RaLEs,
    datasets/mimiciii_procedure_selection/create_dataset.py).
    """
    start, end = report.find("INDICATION"), report.find("COMPARISON")
    if rule == "released":
        return report[start:][:end]
    return report[start:end] if end > start else report[start:]


def cut_findings(headings: Sequence[str], texts: Sequence[str], rule: Rule) -> str:
    """Return the text of the section with the heading ``findings``.

    ``headings`` has the heading of each of ``texts``; ``findings`` and ``impression`` must be among them.
    ``meant`` returns the text under the heading. ``released`` removes ``impression`` from the headings but
    not its text, so that each later heading is paired with the text before its own (vilmedic,
    data/make_datasets/mimiciii/preprocess_mimic_iii.ipynb).
    """
    kept_headings = list(headings)
    if rule == "released":
        kept_headings.remove("impression")
    return texts[kept_headings.index("findings")]


def search_cluster_number(silhouette: Mapping[int, float], sentences: int) -> int:
    """Return the number of clusters that GREEN's function ``binary_search_optimal_kmeans`` selects.

    ``silhouette`` maps each number of clusters from 2 to ``sentences`` - 1 to its silhouette score. The
    search continues with larger numbers if the score is the best so far, and otherwise with smaller ones, and
    can miss the maximum. The result is 1 if no number is tried.
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


def label_words(text: str, entities: Sequence[tuple[int, int, str]], rule: Rule) -> list[str]:
    """Return one label per word of the text, ``O`` outside entities.

    Entities are (first word, last word, label), with words counted from 0. ``meant`` labels the words of each
    entity. ``released`` labels every word of the text that equals the text of some entity, so that entities
    of several words get no label (RaLEs, datasets/convert_radgraph_to_json.py).
    """
    words = text.split(" ")
    if rule == "released":
        label_by_text = {" ".join(words[first : last + 1]): label for first, last, label in entities}
        return [label_by_text.get(word, "O") for word in words]
    labels = ["O"] * len(words)
    for first, last, label in entities:
        labels[first : last + 1] = [label] * (last + 1 - first)
    return labels


def split_titles(header: str, rule: Rule) -> list[str]:
    """Return the procedure titles in a report's header: the pieces that begin with CT and contain no digit.

    ``meant`` splits the header at line breaks and at two or more blanks. ``released`` splits only at line
    breaks: because of the blank, its pattern ``\\s{2, 100}`` matches these very characters (RaLEs,
    create_dataset.py).
    """
    pattern = r"\s{2, 100}" if rule == "released" else r"\s{2,100}"
    pieces = re.sub(pattern, ";", header.replace("\n", ";")).split(";")
    return [
        piece.strip() for piece in pieces if piece.strip().startswith("CT") and not re.search(r"\d", piece)
    ]
