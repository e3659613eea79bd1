"""Label schemes, and lengths of reports."""

from radeval_lib.pages.rales import datasets


def test_names_are_found_whatever_their_signs() -> None:
    names = datasets.italic("labels *located at, modify* and *suggestive-of*")
    assert names == ["located at", "modify", "suggestive-of"]
    assert datasets.named_in(names, "Located_At; suggestive of") == ["located at", "suggestive-of"]
