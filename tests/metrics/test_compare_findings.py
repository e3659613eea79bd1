"""What a comparison says of the findings that systems state, beside their scores."""

from radeval_lib import compare

REFERENCES = ["Small left effusion.", "The heart is enlarged.", "The lungs are clear."]
ONE = "The lungs are clear. No effusion."


def test_texts_and_sets_of_findings_are_counted():
    found = compare(REFERENCES, {"same": REFERENCES, "one": [ONE] * 3}, metrics="rouge_l", resamples=100)
    assert found.diversity.to_numpy().tolist() == [["references", 3, 3], ["same", 3, 3], ["one", 1, 1]]
    assert "one states no finding of the chest, where 2 of 3 references do" in found.cautions
    assert not any("same states" in caution for caution in found.cautions)
    assert "Different texts and sets of findings for 3 references:" in found.text()
    assert found.as_dict()["diversity"][2] == {"system": "one", "texts": 1, "finding_sets": 1}


def test_references_without_findings_warn_of_nothing():
    clear = ["The lungs are clear.", "No effusion."]
    found = compare(clear, {"a": clear, "b": clear[::-1]}, metrics="rouge_l", resamples=100)
    assert not any("finding" in caution for caution in found.cautions)


def test_scores_without_texts_have_no_findings():
    found = compare(None, scores={"mine": {"a": [1, 0, 1], "b": [0, 0, 1]}}, resamples=100)
    assert len(found.diversity) == 0
