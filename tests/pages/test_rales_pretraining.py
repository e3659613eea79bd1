"""What the in-domain encoder reads."""

from notebooks.rales.pretraining import training_texts
from radeval_lib.data.records import Report, ReportPair


def test_only_the_training_split_is_read_where_there_are_splits() -> None:
    pairs = [ReportPair(str(k), f"f{k}", f"i{k}", split="train" if k else "test") for k in range(3)]
    assert training_texts(pairs, 1) == ["f1", "i1"]


def test_reports_without_splits_are_read_as_far_as_they_are_written() -> None:
    reports = [Report(id="1", findings="f", impression=""), Report(id="2", findings="", impression="i")]
    assert training_texts(reports, 5) == ["f", "i"]
