"""Label schemes, and lengths and words of reports."""

from radeval_lib.data.records import Report, ReportPair
from radeval_lib.pages.rales import datasets
from radeval_lib.papers.printed_numbers import parse

PAIRS = [
    ReportPair("1", "Lungs are clear.", "Normal chest."),
    ReportPair("2", "Lungs are clear.", "Normal chest."),
    ReportPair("9", "Small effusion at the left base.", "Effusion."),
]


def test_names_are_found_whatever_their_signs() -> None:
    names = datasets.italic("labels *located at, modify* and *suggestive-of*")
    assert names == ["located at", "modify", "suggestive-of"]
    assert datasets.named_in(names, "Located_At; suggestive of") == ["located at", "suggestive-of"]


def test_the_rule_that_meets_the_printed_lengths_is_found() -> None:
    found = datasets.length_conventions(PAIRS, {"min": parse("5"), "max": parse("7")})
    script = found[(found["text"] == "findings and impression") & (found["rule"] == "white space")].iloc[0]
    assert script["printed numbers met"] == 2
    assert (found["printed numbers met"] == 2).sum() < len(found) == 12


def test_a_selection_is_counted_against_its_collection() -> None:
    reports = [Report(id="1", findings="a", impression="b"), Report(id="2", findings="a", impression="")]
    assert datasets.overlap(reports, PAIRS[:1], PAIRS).tolist() == [2, 1, 3, 2, 1]
    filled = datasets.sections_filled(reports)
    assert filled.loc["impression", ["reports", "share"]].tolist() == [1, 0.5]


def test_the_most_frequent_words_make_up_nine_tenths() -> None:
    found = datasets.style(["clear " * 8 + "lungs.", "Clear."])
    assert found["words"] == 10
    assert found["different words"] == 2
    assert found["most frequent words that make up nine tenths of the text"] == 1
