"""The transcription of the RaTEScore paper against sums that the paper prints, and its wording as data."""

import pytest

from radeval_lib.papers.printed_numbers import quotations, texts
from radeval_lib.study.page_runs import show_quotes


def test_lists_have_the_lengths_that_the_paper_states() -> None:
    # Section 3: "9 imaging modalities and 22 anatomies"
    items = texts("ratescore.guide_lists").groupby("list")["item"]
    assert items.nunique().to_dict() == {"anatomy": 22, "modality": 9}
    assert items.size().equals(items.nunique())


def test_lists_hold_what_is_quoted() -> None:
    joined = {
        kind: ", ".join(items) for kind, items in texts("ratescore.guide_lists").groupby("list")["item"]
    }
    for _, words in quotations("ratescore.guide_lists"):
        bare = words.partition("List: ")[2] or words
        assert any(bare.strip(",.") in listed for listed in joined.values()), words


@pytest.mark.parametrize("role", ["reference", "synonym rewrite", "opposite rewrite"])
def test_appendix_a5_is_a_triple(role: str) -> None:
    reports = texts("ratescore.reports")
    assert len(reports[(reports["exhibit"] == "ratescore.example_a5") & (reports["role"] == role)]) == 1


def test_pieces_of_one_place_are_one_quotation() -> None:
    shown = show_quotes("ratescore.claim_encoder").data
    assert shown.count("<blockquote>") == 1
    assert "BioLORD outperforms MedCPT with … 0.02 in Pearson Consistency." in shown
