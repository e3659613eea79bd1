"""Summarize findings with pretrained sequence-to-sequence models (T5, BART, BioBART, Pegasus), or with an
encoder-decoder as in RaLEs, both sides of which start from the checkpoint of one encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ModelError
from radeval_lib.models import batching, pretrained
from radeval_lib.models.derived import keep_rows, trim_tokenizer
from radeval_lib.models.extractive_summarizers import measure_rouge_l
from radeval_lib.models.pretrained import ENCODER, NEW_DECODER, hide_logs, load_model, load_pretrained

if TYPE_CHECKING:
    import torch

# The maximum number of findings tokens in a batch with one beam, by device.
_BATCH_TOKENS = {"cpu": 2_048, "cuda": 32_768}


@dataclass(frozen=True)
class Seq2SeqSettings:
    """Settings of a sequence-to-sequence model's input and decoding.

    Attributes
    ----------
    prefix : text put before the findings, such as T5's name for the task.
    longest_source, longest_target : maximum numbers of tokens of the findings and the impression; longer ones
        are truncated.
    beams : number of hypotheses that beam search keeps for each text; 1 means greedy decoding.
    length_penalty : exponent of the length by which a hypothesis's log-probability is divided for ranking.
    no_repeat : n-grams of this many tokens may not occur twice in an impression; 0 allows repetition.
    """

    prefix: str = ""
    longest_source: int = 512
    longest_target: int = 128
    beams: int = 3
    length_penalty: float = 1.0
    no_repeat: int = 4


def make_encoder_decoder(
    checkpoint: str | Path, *, layers: int | None = None, texts: Sequence[str] | None = None, seed: int = 0
) -> tuple[Any, Any]:
    """Return (model, tokenizer) of an encoder-decoder, both sides of which start from one BERT-like
    checkpoint.

    The decoder's cross-attention is initialized at random, as is its output layer if the checkpoint has none;
    all other weights come from the checkpoint. Source: RaLEs, Section 4.2.3, after Rothe et al. 2020.

    Parameters
    ----------
    checkpoint : folder or Hugging Face Hub name of the encoder.
    layers : number of the checkpoint's lowest layers that both sides use; None uses all.
    texts : texts to whose tokens the vocabulary is trimmed
        (:func:`~radeval_lib.models.derived.trim_tokenizer`); None keeps the whole vocabulary.
    seed : seed of the new weights.

    Raises
    ------
    ModelError
        If the checkpoint cannot be loaded, if transformers has no decoder with cross-attention for its type
        of model, or if ``texts`` is given and the tokenizer is not a fast WordPiece tokenizer.
    """
    import transformers

    tokenizer: Any = load_pretrained(transformers.AutoTokenizer, checkpoint)
    depth = {} if layers is None else {"num_hidden_layers": layers}
    source_config: Any = load_pretrained(transformers.AutoConfig, checkpoint, **depth)
    target_config: Any = load_pretrained(transformers.AutoConfig, checkpoint, **depth)
    target_config.is_decoder = target_config.add_cross_attention = True
    with batching.seed_torch(seed):
        encoder = load_model(transformers.AutoModel, checkpoint, ENCODER, config=source_config)
        decoder = load_model(transformers.AutoModelForCausalLM, checkpoint, NEW_DECODER, config=target_config)
        if not any("crossattention" in name for name, _ in decoder.named_parameters()):
            problem = f"transformers has no {source_config.model_type} decoder with cross-attention"
            raise ModelError(problem, f"model {Path(checkpoint).name}", "Use BERT, RoBERTa or ELECTRA.")
        if texts is not None:
            tokenizer, kept_ids = trim_tokenizer(tokenizer, texts)
            for side in (encoder, decoder):
                keep_rows(side, kept_ids)
            source_config, target_config = encoder.config, decoder.config
        config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(source_config, target_config)
        with hide_logs():
            model: Any = transformers.EncoderDecoderModel(encoder=encoder, decoder=decoder, config=config)
    begin = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    end = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    for settings in (model.config, model.generation_config):
        settings.decoder_start_token_id, settings.eos_token_id = begin, end
        settings.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer


def _attend_to_source(
    self: Any,
    hidden_states: torch.Tensor,
    *,
    attention_mask: torch.Tensor | None,
    encoder_hidden_states: torch.Tensor,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Return the output of cross-attention, shape (batch, target tokens, hidden), and None in place of the
    attention weights.

    This function replaces the ``forward`` of a Megatron decoder's cross-attention, ``self``. The original, in
    transformers 5.23, gives keys and values the target's length, and fails if the source's length differs.
    ``hidden_states`` has shape (batch, target tokens, hidden), ``encoder_hidden_states`` (batch, source
    tokens, hidden); ``attention_mask`` is added to the attention scores. Nothing is cached between steps.
    """
    from torch.nn.functional import scaled_dot_product_attention

    def split_heads(states: torch.Tensor) -> torch.Tensor:
        return states.unflatten(-1, (-1, self.attention_head_size)).transpose(1, 2)

    attended = scaled_dot_product_attention(
        split_heads(self.query(hidden_states)),
        split_heads(self.key(encoder_hidden_states)),
        split_heads(self.value(encoder_hidden_states)),
        attn_mask=attention_mask,
        dropout_p=self.dropout.p if self.training else 0.0,
    )
    return attended.transpose(1, 2).flatten(2), None


class Seq2SeqSummarizer:
    """A summarizer that applies a sequence-to-sequence model of transformers.

    It can be trained with :func:`~radeval_lib.models.training.train`.

    Parameters
    ----------
    module : the model.
    tokenizer : the model's tokenizer.
    settings : settings of input and decoding.
    device : ``auto``, ``cpu`` or ``cuda``, to which the model is moved.

    Raises
    ------
    ModelError
        If ``device`` is unknown or not available.
    """

    name = "sequence-to-sequence model"

    def __init__(self, module: Any, tokenizer: Any, settings: Seq2SeqSettings, *, device: str) -> None:
        self.module, self.tokenizer = module.to(batching.pick_device(device)), tokenizer
        self.settings = settings
        decoder = getattr(module.config, "decoder", None)
        if decoder is not None and decoder.model_type == "megatron-bert":
            for part_name, part in module.named_modules():
                if part_name.endswith("crossattention.self"):
                    part.forward = MethodType(_attend_to_source, part)
        weights = [name for name, _ in module.named_parameters()]
        self.new_layers = tuple(n for n in weights if "crossattention" in n or n.startswith("decoder.cls."))

    @classmethod
    def load(
        cls, model: str | Path, settings: Seq2SeqSettings | None = None, *, device: str = "auto"
    ) -> Seq2SeqSummarizer:
        """Load a summarizer from a folder or the Hugging Face Hub.

        Parameters
        ----------
        model : folder or Hub name of the model.
        settings : settings of input and decoding; None takes the defaults, with the prefix ``summarize: ``
            for T5.
        device : ``auto``, ``cpu`` or ``cuda``.

        Raises
        ------
        ModelError
            If the model cannot be loaded, or ``device`` is unknown or not available.
        """
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        tokenizer = load_pretrained(AutoTokenizer, model)
        module = load_model(AutoModelForSeq2SeqLM, model, pretrained.SEQ2SEQ)
        if settings is None and module.config.model_type == "t5":
            settings = Seq2SeqSettings(prefix="summarize: ")
        return cls(module, tokenizer, settings or Seq2SeqSettings(), device=device)

    def make_example(self, record: ReportPair) -> dict[str, Any]:
        """Return a training example, a dictionary with two lists: ``input_ids``, the token ids of prefix and
        findings, and ``labels``, the token ids of the impression."""
        target = self.tokenizer(
            text_target=batching.fix_unicode(reveal(record.impression)),
            truncation=True,
            max_length=self.settings.longest_target,
        )
        return {"input_ids": self._encode_text(reveal(record.findings)), "labels": list(target["input_ids"])}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return examples as a padded batch (:func:`~radeval_lib.models.batching.pad_labelled`)."""
        return batching.pad_labelled(self.tokenizer, examples)

    def measure(self, records: Sequence[ReportPair]) -> dict[str, float]:
        """Return a dictionary with ``rouge_l``, the mean ROUGE-L F1 (0 to 1) of the summaries.

        The records' impressions are the references. Summaries are decoded greedily, which is fast. The mean
        is 0 if there are no records.
        """
        findings = [reveal(record.findings) for record in records]
        return measure_rouge_l(records, self._summarize(findings, beams=1))

    def summarize(self, findings: Sequence[str]) -> list[str]:
        """Return one impression for each findings section, in order, decoded by beam search."""
        return self._summarize(findings, beams=self.settings.beams)

    def _encode_text(self, text: str) -> list[int]:
        """Return the token ids of prefix and findings (``text``), truncated to ``longest_source``."""
        encoded = self.tokenizer(
            self.settings.prefix + batching.fix_unicode(text),
            truncation=True,
            max_length=self.settings.longest_source,
        )
        return list(encoded["input_ids"])

    def _summarize(self, findings: Sequence[str], *, beams: int) -> list[str]:
        """Return the impression for each findings section, decoded by beam search with ``beams`` beams; equal
        sections are decoded only once."""

        def summarize_distinct(texts: list[str]) -> list[str]:
            sources = [self._encode_text(text) for text in texts]

            def decode_batch(batch: list[int], device: Any) -> Iterator[str]:
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

            limit = _BATCH_TOKENS[self.module.device.type] // beams
            with hide_logs():
                return batching.run_in_batches(self.module, list(map(len, sources)), decode_batch, limit, 64)

        return batching.map_distinct(findings, summarize_distinct)
