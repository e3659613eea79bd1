"""RadPref: chest X-ray reports with two machine-written candidates each, rated by three radiologists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import RatedPair

CANDIDATES = ("C1", "C2")
SIGNIFICANCES = ("urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected")
ATTRIBUTES = (
    "location",
    "severity",
    "measurement",
    "overinterpretation",
    "temporal",
    "unspecific",
    "descriptor",
    "certainty",
)
HIGHEST_RATING = 5


@dataclass(frozen=True)
class Case:
    """A radiologist's report and two candidates; findings are listed for each."""

    id: str
    reference: str
    reference_findings: tuple[str, ...]
    candidates: dict[str, str]
    candidate_findings: dict[str, tuple[str, ...]]
    sources: dict[str, str]
    indication: str
    age: str
    sex: str


@dataclass(frozen=True)
class FindingError:
    """An error that a radiologist marked.

    ``kind`` is ``false`` (finding that is not there), ``missing`` (finding left out) or ``attribute``;
    ``finding`` the number of the finding, in the candidate's list or, where missing, in the reference's;
    ``significance`` one of :data:`SIGNIFICANCES`, or for an attribute ``significant`` or ``negligible``.
    """

    kind: str
    finding: int
    significance: str
    attribute: str = ""


@dataclass(frozen=True)
class RadPrefRating:
    """What one radiologist said about one candidate: a rating from 1 (worst) to 5, and the errors marked."""

    case: str
    candidate: str
    rater: str
    rating: int
    errors: tuple[FindingError, ...]


def load_cases(path: Path) -> list[Case]:
    """Cases of ``preference_data.json``, in the file's order."""
    return reading.unique(_cases(path), lambda case: case.id)


def _cases(path: Path) -> Iterator[tuple[str, Case]]:
    for position, item in reading.read_objects(path):
        where = f"{path.name}, record {position}"
        yield (
            where,
            Case(
                id=reading.take(item, "id", str, where),
                reference=reading.take(item, "ground_truth_report", str, where),
                reference_findings=reading.text_list(item, "ground_truth_findings", where),
                candidates={key: reading.take(item, f"{key}_report", str, where) for key in CANDIDATES},
                candidate_findings={
                    key: reading.text_list(item, f"{key}_findings", where) for key in CANDIDATES
                },
                sources={key: reading.take(item, f"{key}_source", str, where) for key in CANDIDATES},
                indication=reading.take(item, "Indication", str, where),
                age=reading.take(item, "PatientAge", str, where),
                sex=reading.take(item, "PatientSex", str, where),
            ),
        )


def load_ratings(path: Path) -> list[RadPrefRating]:
    """Ratings of one ``user_<n>.json``: two for each case, in the file's order."""
    content = reading.read_json(path, dict)
    rater = reading.take(content, "user_id", str, path.name)
    ratings = []
    annotations = reading.take(content, "annotations", dict, path.name)
    for number, (case, item) in enumerate(annotations.items(), start=1):
        for candidate in CANDIDATES:
            where = f"{path.name}, case {number}, {candidate}"
            if not isinstance(item, dict):
                raise FormatError(f"must be an object, not {type(item).__name__}", where)
            judged = reading.take(item, candidate, dict, where)
            rating = reading.take(judged, "rating", int, where)
            if not 1 <= rating <= HIGHEST_RATING:
                raise FormatError(
                    f"rating must lie from 1 to {HIGHEST_RATING}, not {reading.kind_of(rating)}", where
                )
            errors = (*_finding_errors(judged, where), *_missing_findings(judged, where))
            ratings.append(RadPrefRating(case, candidate, rater, rating, errors))
    return ratings


def _entries(judged: dict[str, Any], key: str, where: str) -> Iterator[tuple[int, dict[str, Any], str]]:
    entries = reading.take(judged, key, dict, where)
    for number, (index, entry) in enumerate(entries.items(), start=1):
        place = f"{where}, {key} {number}"
        if not isinstance(entry, dict):
            raise FormatError(f"must be an object, not {type(entry).__name__}", place)
        yield reading.whole(str(index), "finding", place), entry, place


def _one_of(value: str, allowed: Sequence[str], name: str, where: str) -> str:
    if value not in allowed:
        raise FormatError(f"unknown {name}", where, f"Known: {', '.join(allowed)}.")
    return value


def _significance(entry: dict[str, Any], where: str) -> str:
    value = reading.take(entry, "clinical_significance", str, where)
    return _one_of(value, SIGNIFICANCES, "clinical_significance", where)


def _finding_errors(judged: dict[str, Any], where: str) -> Iterator[FindingError]:
    for finding, entry, place in _entries(judged, "finding_errors", where):
        kind = _one_of(
            reading.take(entry, "error_type", str, place), ("false", "attribute"), "error_type", place
        )
        if kind == "false":
            yield FindingError(kind, finding, _significance(entry, place))
            continue
        for attribute, weight in reading.take(entry, "attributes", dict, place).items():
            _one_of(attribute, ATTRIBUTES, "attribute", place)
            _one_of(str(weight), ("significant", "negligible"), "weight of an attribute", place)
            yield FindingError(kind, finding, weight, attribute)


def _missing_findings(judged: dict[str, Any], where: str) -> Iterator[FindingError]:
    for finding, entry, place in _entries(judged, "missing_findings", where):
        yield FindingError("missing", finding, _significance(entry, place))


def rated_pairs(
    cases: Sequence[Case],
    ratings: Sequence[RadPrefRating],
    scale: Literal["grade", "errors", "error_share"] = "grade",
) -> list[RatedPair]:
    """Every rating with the two texts that it is about; ``group`` is the system that wrote the candidate.

    Parameters
    ----------
    scale : ``grade``: the rating from 1 to 5. ``errors``: how many errors the rater marked, of any
        significance. ``error_share``: that number by the findings that both texts list, each of which could
        be wrong or missing; at most 1.

    Raises
    ------
    FormatError
        Where a rating is about a case that is not there.
    """
    by_id = {case.id: case for case in cases}
    pairs = []
    for number, rating in enumerate(ratings, start=1):
        case = by_id.get(rating.case)
        if case is None:
            raise FormatError("a rating of an unknown case", f"rating {number}")
        pairs.append(
            RatedPair(
                id=f"{rating.case}/{rating.candidate}",
                reference=case.reference,
                candidate=case.candidates[rating.candidate],
                rating=_on_scale(rating, case, scale),
                rater=rating.rater,
                group=case.sources[rating.candidate],
                scale=scale,
            )
        )
    return pairs


def _on_scale(rating: RadPrefRating, case: Case, scale: str) -> float:
    if scale == "grade":
        return float(rating.rating)
    errors = len(rating.errors)
    if scale == "errors":
        return float(errors)
    possible = len(case.reference_findings) + len(case.candidate_findings[rating.candidate])
    return min(1.0, errors / possible) if possible else float(errors > 0)
