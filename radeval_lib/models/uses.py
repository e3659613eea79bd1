"""What a checkpoint may lack or have beside, by what is made of it: an encoder, a tagger, a decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

PRETRAINING = {
    # BertForPreTraining, BertForMaskedLM: google-bert, Bio_ClinicalBERT, RadBERT, BiomedBERT
    "bert": ("cls.*",),
    # MegatronBertForPreTraining: GatorTron
    "megatron-bert": ("cls.*",),
    # RobertaForMaskedLM: FacebookAI/roberta-base, RadBERT-RoBERTa-4m
    "roberta": ("lm_head.*",),
    # MPNetForMaskedLM: microsoft/mpnet-base, on which BioLORD rests
    "mpnet": ("lm_head.*",),
    # DistilBertForMaskedLM: distilbert-base-uncased
    "distilbert": ("vocab_transform.*", "vocab_layer_norm.*", "vocab_projector.*"),
    # ElectraForPreTraining (discriminators) and ElectraForMaskedLM (generators): google/electra
    "electra": ("discriminator_predictions.*", "generator_predictions.*", "generator_lm_head.*"),
    # microsoft/deberta-v3 as Microsoft's own code names them; DebertaV2ForMaskedLM
    "deberta-v2": ("lm_predictions.*", "mask_predictions.*", "cls.*"),
    # ModernBertForMaskedLM: answerdotai/ModernBERT
    "modernbert": ("head.*", "decoder.*"),
}
"""The heads that encoders were pretrained with, by transformers' model type; in comments the classes of
transformers' ``models/*/modeling_*.py`` that have them, and checkpoints that come with them."""

COMPUTED = {"pegasus": ("encoder.embed_positions.*", "decoder.embed_positions.*")}
"""What checkpoints may leave out because it is computed: Pegasus's sinusoids."""

_FINE_TUNED = ("classifier.*", "pre_classifier.*", "score.*", "qa_outputs.*")
"""The heads of classifiers of texts or tokens and of readers of questions, in any model of transformers."""


@dataclass(frozen=True)
class Use:
    """What may differ between a checkpoint and the model that is made of it.

    Attributes
    ----------
    new : patterns of weights that a checkpoint may lack, because the model draws them at random.
    idle : modules that it may lack and that are then taken out, because nothing asks them.
    unused : patterns of weights that it may have and the model has no place for.
    pretraining : whether it may also have the heads that it was pretrained with.
    """

    new: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    pretraining: bool = False

    def may_lack(self, family: str) -> tuple[str, ...]:
        """Return what a checkpoint of a model type may lack."""
        return self.new + tuple(f"{module}.*" for module in self.idle) + COMPUTED.get(family, ())

    def may_reshape(self) -> tuple[str, ...]:
        """Return what it may have in another shape."""
        return tuple(pattern for pattern in self.new if pattern in _FINE_TUNED)

    def may_have(self, family: str) -> tuple[str, ...]:
        """Return what it may have beside."""
        return self.unused + (PRETRAINING.get(family, ()) if self.pretraining else ())

    def without_layers(self, first: int, count: int) -> Use:
        """Return the use of an encoder's first ``first`` layers alone, of ``count``."""
        cut = tuple(f"encoder.layer.{number}.*" for number in range(first, count))
        return replace(self, unused=self.unused + cut)


LANGUAGE_MODEL = Use()
"""A causal language model, which has nothing beside what it was trained with."""

SEQ2SEQ = Use(idle=("encoder.pooler",))
"""A sequence-to-sequence model that was trained; the pooler is of an encoder-decoder made of BERT's kind."""

NER_MODEL = Use(unused=("pooler.*",))
"""A token classifier that was trained; some were saved with the pooler, which they do not ask."""

ENCODER = Use(idle=("pooler",), unused=_FINE_TUNED, pretraining=True)
"""An encoder whose hidden states are read. The pooler, a layer over the first token that BERT's kind has to
tell the next sentence, is asked by classifiers of texts alone."""

NEW_NER_MODEL = Use(
    new=("classifier.*", "score.*", "head.*"), unused=("pooler.*", *_FINE_TUNED), pretraining=True
)
"""An encoder that a token classifier starts from."""

NEW_CLASSIFIER = replace(NEW_NER_MODEL, new=(*NEW_NER_MODEL.new, "pre_classifier.*", "pooler.*"))
"""An encoder that a text classifier starts from."""

NEW_DECODER = Use(
    new=(
        "encoder.layer.*.crossattention.*", "cls.*", "lm_head.*", "generator_predictions.*",
        "generator_lm_head.*",
    ),
    unused=("pooler.*", *_FINE_TUNED),
    pretraining=True,
)  # fmt: skip
"""An encoder that a decoder starts from (Rothe et al. 2020): new are its view of the source and, where there
is none, the layer that writes."""


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name is of any of these patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
