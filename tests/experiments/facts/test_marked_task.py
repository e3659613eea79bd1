"""The printed task: its marks and its answers."""

from radeval_lib.experiments.facts import marked_task


def test_marks_and_answers_of_the_printed_task() -> None:
    assert marked_task.plain("Weight: 201 Pounds.") == "weight 201 pounds"
    assert (len(marked_task.marked("R")), len(marked_task.marked("G"))) == (6, 4)
    assert sum(marked_task.in_reference()) == 2
    assert {name: number.text for name, number in marked_task.answers().items()} == {
        "R": "6",
        "G": "4",
        "R&G": "2",
        "C": "3",
    }
    assert {check.outcome for check in marked_task.count_checks()} == {"holds"}
