"""The search against that of transformers, which differs where a text is not done at the limit."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration

from radeval_lib.models.summarizers.pointer import BeamSettings, search

pytestmark = pytest.mark.usefixtures("one_thread")

BEGIN = END = 2
TEXTS = 25
SIZES = BartConfig(
    vocab_size=30, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=40,
    pad_token_id=1, bos_token_id=0, eos_token_id=END, decoder_start_token_id=BEGIN, forced_eos_token_id=None,
    init_std=0.6,
)  # fmt: skip


def both(end_bias: float, settings: BeamSettings) -> tuple[list[list[int]], list[list[int]]]:
    """Return what the search and transformers write with the same random network, which likes to end by its
    bias."""
    torch.manual_seed(0)
    model = BartForConditionalGeneration(SIZES).eval()
    model.final_logits_bias[0, END] = end_bias
    model.final_logits_bias[0, SIZES.pad_token_id] = -100.0
    source = torch.randint(3, 30, (TEXTS, 6))

    def step(tokens: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        memory, before = state
        before = torch.cat([before, tokens[:, None]], dim=1)
        logits = model(encoder_outputs=(memory,), decoder_input_ids=before).logits[:, -1]
        return logits.log_softmax(-1), (memory, before)

    with torch.inference_mode():
        written = model.generate(
            source,
            attention_mask=torch.ones_like(source),
            num_beams=settings.beams,
            max_new_tokens=settings.longest,
            length_penalty=settings.length_penalty,
            no_repeat_ngram_size=settings.no_repeat,
            early_stopping=True,
            do_sample=False,
        )
        theirs = [row[1:] for row in written.tolist()]
        theirs = [row[: row.index(END)] if END in row else row for row in theirs]
        start = (model.get_encoder()(source).last_hidden_state, torch.zeros((TEXTS, 0), dtype=torch.long))
        ours = search(
            step,
            lambda state, rows: tuple(part[rows] for part in state),
            start,
            TEXTS,
            begin=BEGIN,
            end=END,
            settings=settings,
        )
    return ours, theirs


@pytest.mark.parametrize(("end_bias", "lengths"), [(-50.0, {30}), (4.0, {0, 1, 2, 3})])
@pytest.mark.parametrize("no_repeat", [0, 2])
def test_it_is_that_of_transformers_where_none_or_all_end_before_the_limit(
    end_bias: float, lengths: set[int], no_repeat: int
) -> None:
    ours, theirs = both(end_bias, BeamSettings(beams=3, longest=30, no_repeat=no_repeat))
    assert ours == theirs
    assert {len(text) for text in ours} == lengths


def test_at_the_limit_what_has_ended_goes_first() -> None:
    longest = 12
    ours, theirs = both(0.0, BeamSettings(beams=3, longest=longest, no_repeat=0))
    differing = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    assert 0 < len(differing) < TEXTS / 2
    assert all(len(ours) < longest == len(other) for ours, other in differing)
