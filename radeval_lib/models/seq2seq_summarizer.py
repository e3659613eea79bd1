"""Pretrained sequence-to-sequence models (T5, BART, BioBART, Pegasus), and RaLEs' encoder-decoder: one
encoder's checkpoint on both sides, with cross-attention that is new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ModelError
from radeval_lib.models import batching
from radeval_lib.models.catalog import locate
from radeval_lib.models.derived import keep_rows, trimmed_tokenizer
from radeval_lib.models.extractive_summarizers import mean_rouge_l
from radeval_lib.models.pretrained import ENCODER, NEW_DECODER, SEQ2SEQ, load_pretrained, quiet, weights

if TYPE_CHECKING:
    import torch

# Pieces of the findings that are read at once with one beam, by device.
_BATCH_TOKENS = {"cpu": 2_048, "cuda": 32_768}


@dataclass(frozen=True)
class Seq2SeqSettings:
    """How a sequence-to-sequence model reads and writes.

    Attributes
    ----------
    prefix : text before the findings, such as T5's name of the task.
    longest_source, longest_target : pieces of findings and impression; what is longer is cut.
    beams : hypotheses kept for each text; 1 decodes greedily.
    length_penalty : exponent of the length by which a hypothesis' log-probability is divided.
    no_repeat : length of the n-grams of pieces that may not occur twice; 0 allows all.
    """

    prefix: str = ""
    longest_source: int = 512
    longest_target: int = 128
    beams: int = 3
    length_penalty: float = 1.0
    no_repeat: int = 4


def encoder_decoder(
    checkpoint: str | Path, *, layers: int | None = None, keep: Sequence[str] | None = None, seed: int = 0
) -> tuple[Any, Any]:
    """Return (model, tokenizer) of an encoder-decoder with both sides started from one BERT-like checkpoint.

    The decoder's cross-attention is drawn at random, and so is its output layer if the checkpoint has none;
    all else is the checkpoint's. Source: RaLEs, section 4.2.3, after Rothe et al. 2020.

    Parameters
    ----------
    checkpoint : folder or hub name of the encoder.
    layers : how many of its layers both sides take, from the bottom; None: all.
    keep : texts whose pieces are all that is kept of the vocabulary; None keeps it whole.
    seed : of new weights.

    Raises
    ------
    ModelError
        If the checkpoint cannot be loaded, or is of a kind that cannot decode.
    """
    from transformers import (
        AutoConfig,
        AutoModel,
        AutoModelForCausalLM,
        AutoTokenizer,
        EncoderDecoderConfig,
        EncoderDecoderModel,
    )

    tokenizer: Any = load_pretrained(AutoTokenizer, checkpoint)
    depth = {} if layers is None else {"num_hidden_layers": layers}
    first, second = (load_pretrained(AutoConfig, checkpoint, **depth) for _ in range(2))
    second.is_decoder = second.add_cross_attention = True
    with batching.seeded(seed):
        encoder = weights(AutoModel, checkpoint, ENCODER, config=first)
        decoder = weights(AutoModelForCausalLM, checkpoint, NEW_DECODER, config=second)
        if not any("crossattention" in name for name, _ in decoder.named_parameters()):
            problem = f"no decoder with cross-attention can be built from {Path(locate(checkpoint)).name!r}"
            raise ModelError(problem, "checkpoint", "Choose a BERT, RoBERTa or ELECTRA checkpoint.")
        if keep is not None:
            tokenizer, rows = trimmed_tokenizer(tokenizer, keep)
            for side in (encoder, decoder):
                keep_rows(side, rows)
            first, second = encoder.config, decoder.config
        both = EncoderDecoderConfig.from_encoder_decoder_configs(first, second)
        with quiet():
            model: Any = EncoderDecoderModel(encoder=encoder, decoder=decoder, config=both)
    begin = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    end = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    for config in (model.config, model.generation_config):
        config.decoder_start_token_id, config.eos_token_id = begin, end
        config.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer


def _attend_to_source(
    self: Any,
    hidden_states: torch.Tensor,
    *,
    attention_mask: torch.Tensor | None,
    encoder_hidden_states: torch.Tensor,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Return attention of shape (batch, written, hidden) over a source (batch, read, hidden), uncached.

    It replaces the forward pass of a Megatron decoder's cross-attention: transformers 5.23 gives its keys and
    values the length of what is written, and fails if the source has another length.
    """
    from torch.nn.functional import scaled_dot_product_attention

    def heads(layer: torch.Tensor) -> torch.Tensor:
        return layer.unflatten(-1, (-1, self.attention_head_size)).transpose(1, 2)

    attended = scaled_dot_product_attention(
        heads(self.query(hidden_states)),
        heads(self.key(encoder_hidden_states)),
        heads(self.value(encoder_hidden_states)),
        attn_mask=attention_mask,
        dropout_p=self.dropout.p if self.training else 0.0,
    )
    return attended.transpose(1, 2).flatten(2), None


class Seq2SeqSummarizer:
    """A sequence-to-sequence model with its tokenizer: a summarizer, and a task of the trainer."""

    name = "sequence-to-sequence model"

    def __init__(self, module: Any, tokenizer: Any, settings: Seq2SeqSettings, *, device: str) -> None:
        self.module, self.tokenizer = module.to(batching.device_of(device)), tokenizer
        self.settings = settings
        decoder = getattr(module.config, "decoder", None)
        if decoder is not None and decoder.model_type == "megatron-bert":
            for part_name, part in module.named_modules():
                if part_name.endswith("crossattention.self"):
                    part.forward = MethodType(_attend_to_source, part)
        names = [name for name, _ in module.named_parameters()]
        self.new_layers = tuple(n for n in names if "crossattention" in n or n.startswith("decoder.cls."))

    @classmethod
    def load(
        cls, model: str | Path, settings: Seq2SeqSettings | None = None, *, device: str = "auto"
    ) -> Seq2SeqSummarizer:
        """Return the summarizer of a transformers folder or hub name; by default T5 gets its prefix."""
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        tokenizer = load_pretrained(AutoTokenizer, model)
        module = weights(AutoModelForSeq2SeqLM, model, SEQ2SEQ)
        if settings is None and module.config.model_type == "t5":
            settings = Seq2SeqSettings(prefix="summarize: ")
        return cls(module, tokenizer, settings or Seq2SeqSettings(), device=device)

    def example(self, record: ReportPair) -> dict[str, Any]:
        target = self.tokenizer(
            text_target=batching.well_formed(reveal(record.impression)),
            truncation=True,
            max_length=self.settings.longest_target,
        )
        return {"input_ids": self._source(reveal(record.findings)), "labels": list(target["input_ids"])}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return batching.labelled_batch(self.tokenizer, examples)

    def measure(self, records: Sequence[ReportPair]) -> dict[str, float]:
        """Return :func:`mean_rouge_l` with greedy decoding, which is fast enough for early stopping."""
        return mean_rouge_l(records, self._written([reveal(record.findings) for record in records], beams=1))

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return self._written(findings, beams=self.settings.beams)

    def _source(self, text: str) -> list[int]:
        encoded = self.tokenizer(
            self.settings.prefix + batching.well_formed(text),
            truncation=True,
            max_length=self.settings.longest_source,
        )
        return list(encoded["input_ids"])

    def _written(self, findings: Sequence[str], *, beams: int) -> list[str]:
        """Return the impression of each text; equal texts are decoded once."""

        def written(texts: list[str]) -> list[str]:
            sources = [self._source(text) for text in texts]

            def impressions(batch: list[int], device: Any) -> Iterator[str]:
                inputs = batching.pad_rows(self.tokenizer, (sources[index] for index in batch))
                generated = self.module.generate(
                    **inputs.to(device),
                    num_beams=beams,
                    do_sample=False,
                    max_new_tokens=self.settings.longest_target,
                    length_penalty=self.settings.length_penalty,
                    no_repeat_ngram_size=self.settings.no_repeat,
                )
                return map(str.strip, self.tokenizer.batch_decode(generated, skip_special_tokens=True))

            tokens = _BATCH_TOKENS[self.module.device.type] // beams
            with quiet():
                return batching.in_batches(self.module, list(map(len, sources)), impressions, tokens, 64)

        return batching.of_distinct(findings, written)
