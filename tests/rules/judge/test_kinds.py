"""The judge on pairs of statements whose right answer was decided before it was run, by kind of trouble; on
the gallery of the RadEval repository (commit e0a3909, MIT) too, pairs on which metrics diverge."""

import csv
from pathlib import Path

import pytest

from radeval_lib.rules.judge import judge_pair
from radeval_lib.rules.reader import coverage

_OWN = Path(__file__).with_name("kinds.csv")


def read_whole(*texts):
    return all(coverage(text).share in (None, 1.0) for text in texts)


def answer(reference, candidate):
    """Letters of the significant errors; ``slight`` where there are insignificant ones alone; ``none``."""
    result = judge_pair(reference, candidate)
    letters = "".join(sorted(error.category for error in result.errors if error.significant))
    return letters or ("slight" if result.errors or result.slight else "none")


def cases(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("case", cases(_OWN), ids=lambda case: f"{case['kind']}: {case['reference'][:40]}")
def test_a_kind_of_trouble(case):
    reference, candidate = (case[side].replace("\\n", "\n") for side in ("reference", "candidate"))
    accepted = case["accepted"].split()
    # What is not read is no error where it is reported as such.
    unread = "unread" in accepted and not read_whole(reference, candidate)
    assert unread or answer(reference, candidate) in accepted


def test_cases_of_public_bug_reports(data_root):
    path = data_root / "judge_cases" / "cases.csv"
    if not path.is_file():
        pytest.skip("the data root has no judge_cases/cases.csv")
    result = cases(path)
    right = sum(answer(case["reference"], case["candidate"]) in case["accepted"].split() for case in result)
    assert right >= 62 / 65 * len(result)


_CATEGORIES = {
    "false finding": "a",
    "missing finding": "b",
    "wrong location": "c",
    "wrong severity": "d",
    "false comparison": "e",
    "missing comparison": "f",
    "none": "",
}


def test_fresh_cases_of_public_bug_reports(data_root):
    path = data_root / "judge_cases" / "fresh.csv"
    if not path.is_file():
        pytest.skip("the data root has no judge_cases/fresh.csv")
    result = cases(path)
    right = 0
    for case in result:
        accepted = [
            sorted(_CATEGORIES[error.strip()] for error in answer.split(";"))
            for answer in case["expected"].split("|")
        ]
        errors = judge_pair(case["reference"], case["candidate"]).errors
        right += [item.category for item in errors] in [[x for x in letters if x] for letters in accepted]
    assert right >= 19 / 20 * len(result)
