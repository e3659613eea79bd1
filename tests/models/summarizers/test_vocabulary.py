"""Smaller vocabularies: the same pieces for known texts, letters for others, and the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from radeval_lib.errors import ModelError
from radeval_lib.models.summarizers.seq2seq import encoder_decoder
from radeval_lib.models.vocabularies import keep_rows, trimmed_tokenizer

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = Path(__file__).resolve().parents[2] / "reference" / "ratescore" / "tiny_ner"
TEXTS = ["There is a small effusion.", "No pneumothorax is seen."]


def test_known_texts_keep_their_pieces_and_unknown_words_are_spelled() -> None:
    whole = AutoTokenizer.from_pretrained(TINY)
    small, ids = trimmed_tokenizer(whole, TEXTS)
    assert len(small) == len(ids) < len(whole)
    for text in TEXTS:
        assert small.tokenize(text) == whole.tokenize(text)
        assert [ids[index] for index in small(text)["input_ids"]] == whole(text)["input_ids"]
    assert small.unk_token not in small.tokenize("abcdefg zyx")


def test_a_smaller_model_gives_the_same_logits_for_what_it_keeps() -> None:
    whole = AutoTokenizer.from_pretrained(TINY)
    small, ids = trimmed_tokenizer(whole, TEXTS)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(TINY, is_decoder=True).eval()
    with torch.inference_mode():
        before = model(**whole(TEXTS[0], return_tensors="pt")).logits[..., ids]
        keep_rows(model, ids)
        after = model(**small(TEXTS[0], return_tensors="pt")).logits
    assert model.config.vocab_size == len(ids)
    torch.testing.assert_close(before, after)


def test_an_encoder_decoder_can_be_made_with_it() -> None:
    whole, _ = encoder_decoder(TINY, layers=1)
    model, tokenizer = encoder_decoder(TINY, layers=1, keep=TEXTS)
    assert model.encoder.config.vocab_size == model.decoder.config.vocab_size == len(tokenizer)
    assert model.num_parameters() < whole.num_parameters()


def test_other_kinds_of_vocabulary_are_refused() -> None:
    words = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, unk_token="a")))
    with pytest.raises(ModelError, match="vocabulary is not WordPiece, so it cannot be trimmed"):
        trimmed_tokenizer(words, TEXTS)
