"""Candidates for other kinds of images by the paper's four methods."""

from radeval_lib.pages.green.method import (
    CHEST,
    METHODS,
    modification_prompt,
    modified,
    other_pairs,
    words_kept,
)

MADE = list(modified(120, 5))


def of(method: str):
    return [one for one in MADE if one.method == method]


def test_no_chest_x_ray_and_every_method():
    assert CHEST not in other_pairs()
    assert len(MADE) == 120
    assert {one.method for one in MADE} == set(METHODS)
    assert all((one.reference.modality, one.reference.anatomy) != CHEST for one in MADE)
    assert len({one.reference.report_id for one in MADE}) == 120


def test_same_seed_same_pairs():
    again = list(modified(20, 5))
    assert [one.candidate.findings.text for one in again] == [
        one.candidate.findings.text for one in MADE[:20]
    ]


def test_rearranged_and_rephrased_say_the_same():
    for one in of("re-arranged") + of("rephrased"):
        assert not one.comparison.errors
        assert one.candidate.findings.text != one.reference.findings.text


def test_rephrased_changes_few_words():
    assert sum(words_kept(one) for one in of("rephrased")) / len(of("rephrased")) > 0.6
    assert sum(words_kept(one) for one in of("randomly paired")) / len(of("randomly paired")) < 0.6


def test_removed_sentences_are_missing_findings_at_most():
    assert {error.category for one in of("removed") for error in one.comparison.errors} <= {"b"}
    assert all(len(one.candidate.plan) < len(one.reference.plan) for one in of("removed"))


def test_errors_asked_for_are_there_once_each():
    for one in of("errors asked for"):
        found = "".join(sorted(error.category for error in one.comparison.errors if error.significant))
        assert found == one.categories


def test_the_prompt_names_what_was_drawn():
    asked = modification_prompt("The liver is normal.", "ad")
    assert "False report" in asked
    assert "severity" in asked
    assert "Omitting" not in asked
    assert asked.count("The liver is normal.") == 1
    assert "keep its meaning" in modification_prompt("x", "")
