"""The printed task: its marks."""

from radeval_lib.pages.facts import fact_counting
from radeval_lib.pages.facts.mtsamples import printed_report


def test_marks_of_the_printed_task() -> None:
    assert fact_counting.plain("Weight: 201 Pounds.") == "weight 201 pounds"
    facts = fact_counting.facts_of_g()
    assert (len(fact_counting.marked("R")), len(facts), facts["marked in R"].sum()) == (6, 4, 2)


def test_the_printed_report_is_whole_and_without_its_description() -> None:
    report, description = printed_report()
    assert report.startswith("The patient's assistant brings")
    assert report.endswith("any questions.")
    assert report.count(description.rstrip(".")) == 1
