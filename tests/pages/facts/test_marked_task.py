"""The printed task: its marks and its answers."""

from radeval_lib.pages.facts import fact_counting


def test_marks_and_answers_of_the_printed_task() -> None:
    assert fact_counting.plain("Weight: 201 Pounds.") == "weight 201 pounds"
    assert (len(fact_counting.marked("R")), len(fact_counting.marked("G"))) == (6, 4)
    assert sum(fact_counting.in_reference()) == 2
    assert {name: number.text for name, number in fact_counting.answers().items()} == {
        "R": "6",
        "G": "4",
        "R&G": "2",
        "C": "3",
    }
    assert {check.outcome for check in fact_counting.count_checks()} == {"holds"}
