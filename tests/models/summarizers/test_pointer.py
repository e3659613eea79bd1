"""A pointer-generator on a made-up language, and its beam search against transformers'."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration

from radeval_lib.data.records import ReportPair
from radeval_lib.models.extractive_summarizers import restore_case
from radeval_lib.models.pointer_summarizer import (
    BEGIN,
    END,
    BeamSettings,
    PointerGenerator,
    PointerSettings,
    PointerSummarizer,
    search_beams,
)
from radeval_lib.models.training import TrainingSettings, train

pytestmark = pytest.mark.usefixtures("one_thread")

ORGANS = ("liver", "spleen", "kidney", "pancreas", "bladder", "heart")
SIGNS = ("cyst", "mass", "stone", "clot")
SMALL = PointerSettings(vocabulary=120, embedding=24, hidden=24, dropout=0.1, longest_target=12)


def reports(n: int, start: int = 0) -> list[ReportPair]:
    """Return one abnormal organ among normal ones: the impression names it."""
    made = []
    for number in range(start, start + n):
        organ, sign = ORGANS[number * 5 % 6], SIGNS[number * 7 % 4]
        sentences = [f"The {other} is normal." for other in ORGANS if other != organ][: 2 + number % 3]
        sentences.insert(number % 2, f"There is a {sign} in the {organ}.")
        made.append(ReportPair(str(number), " ".join(sentences), f"{sign.capitalize()} of the {organ}."))
    return made


def test_the_loss_is_the_likelihood_that_decoding_gives() -> None:
    torch.manual_seed(3)
    sizes = PointerSettings(embedding=8, hidden=8, dropout=0.0)
    model = PointerGenerator(11, sizes).eval()
    source = torch.tensor([[4, 5, 6, 5], [7, 8, 0, 0]])
    labels = torch.tensor([[BEGIN, 5, 9, END], [BEGIN, 7, END, 0]])
    total, count = 0.0, 0
    with torch.no_grad():
        for text in range(2):
            memory, state = model.encode(source[text : text + 1, : int(source[text].ne(0).sum())])
            for position in range(3):
                wanted = int(labels[text, position + 1])
                if wanted == 0:
                    continue
                scores, state = model.compute_log_probs(labels[text, position][None, None], memory, state)
                assert scores.exp().sum() == pytest.approx(1.0, abs=1e-5)
                total -= float(scores[0, wanted])
                count += 1
        assert float(model(source, labels)["loss"]) == pytest.approx(total / count, abs=1e-5)


def test_the_search_finds_the_best_sequence_of_a_small_chain() -> None:
    """Against every sequence of a Markov chain over four tokens; 0 begins, 3 ends."""
    table = torch.tensor(
        [[0.0, 0.6, 0.4, 0.0], [0.0, 0.05, 0.5, 0.45], [0.0, 0.3, 0.0, 0.7], [0.0, 0.0, 0.0, 1.0]]
    ).log()

    def probability(sequence: tuple[int, ...]) -> float:
        steps = zip((0, *sequence), (*sequence, 3), strict=True)
        return sum(float(table[first, second]) for first, second in steps)

    every = [s for size in range(1, 4) for s in itertools.product((1, 2), repeat=size)]
    best = max(every, key=probability)

    def step(tokens: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        return table[tokens].clone(), state

    settings = BeamSettings(beams=4, longest=4, length_penalty=0.0, no_repeat=0)
    best_sequences = search_beams(step, lambda state, rows: state, None, 2, begin=0, end=3, settings=settings)
    assert best_sequences == [list(best), list(best)]


def test_it_learns_to_copy() -> None:
    task = PointerSummarizer(reports(96), SMALL, seed=1)
    before = task.measure(reports(24, 200))["rouge_l"]
    settings = TrainingSettings(
        learning_rate=1e-2, batch_size=8, epochs=12, patience=12, measure="rouge_l", seed=1, device="cpu"
    )
    done = train(task, reports(96), reports(12, 120), settings)
    after = task.measure(reports(24, 200))["rouge_l"]
    assert after > 0.8 > before
    assert done.best["rouge_l"] == max(row["rouge_l"] for row in done.history)
    findings = [pair.findings for pair in reports(6, 300)]
    written = task.summarize(findings)
    assert task.summarize(findings[::-1]) == written[::-1]


def test_sentence_case() -> None:
    assert restore_case("no acute process . 1 . 5 cm cyst .") == "No acute process. 1.5 cm cyst."
    assert restore_case("c5 - c6 disc bulge ( mild ) .") == "C5-c6 disc bulge (mild)."


MARK = 2
TEXTS = 25
SIZES = BartConfig(
    vocab_size=30, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=40,
    pad_token_id=1, bos_token_id=0, eos_token_id=MARK, decoder_start_token_id=MARK, forced_eos_token_id=None,
    init_std=0.6,
)  # fmt: skip


def both(end_bias: float, settings: BeamSettings) -> tuple[list[list[int]], list[list[int]]]:
    """Return what the search and transformers write with the same random network, which likes to end by its
    bias."""
    torch.manual_seed(0)
    model = BartForConditionalGeneration(SIZES).eval()
    model.final_logits_bias[0, MARK] = end_bias
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
        theirs = [row[: row.index(MARK)] if MARK in row else row for row in theirs]
        start = (model.get_encoder()(source).last_hidden_state, torch.zeros((TEXTS, 0), dtype=torch.long))

        def reorder(state: tuple[Tensor, Tensor], rows: Tensor) -> tuple[Tensor, ...]:
            return tuple(part[rows] for part in state)

        ours = search_beams(step, reorder, start, TEXTS, begin=MARK, end=MARK, settings=settings)
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
