"""What stands in for the paper's encoder and data."""

from radeval_lib.pages.rales.benchmark_encoders import stand_in


def test_nothing_stands_in_for_the_papers_own_encoder_and_data() -> None:
    assert stand_in("BERT_base", "BERT_base", "") == ""
    assert stand_in("MiniLM", "BERT_base", "graph corpus from the generator, not RadGraph") == (
        "MiniLM, not BERT_base; graph corpus from the generator, not RadGraph"
    )
