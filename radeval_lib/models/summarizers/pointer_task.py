"""Training, use and storage of pointer-generators."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.models.batching import buckets
from radeval_lib.models.encoders import well_formed
from radeval_lib.models.loading import ModelError, device_of, fill
from radeval_lib.models.summarizers.base import checked, rouge_l
from radeval_lib.models.summarizers.beam import BeamSettings, search
from radeval_lib.models.summarizers.wording import sentence_case

if TYPE_CHECKING:
    import torch

    from radeval_lib.models.summarizers.pointer import PointerSettings

SETTINGS = "pointer_generator.json"
_WEIGHTS = "pointer_generator.safetensors"
_TOKENIZER = "tokenizer.json"
_BATCH_TOKENS, _BATCH_TEXTS = 32_768, 128


def learn_pieces(texts: Iterable[str], vocabulary: int) -> Any:
    """A lower-casing tokenizer whose pieces are the words that occur twice or more, and every letter.

    A word that is no piece is spelled out, so that it can be copied all the same. Unlike a trained
    word-piece vocabulary, whose ties fall by chance, this one is the same for the same texts.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    from radeval_lib.models.summarizers.pointer import SPECIAL

    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    words: Counter[str] = Counter()
    for text in texts:
        normal = normalizer.normalize_str(well_formed(text))
        words.update(word for word, _ in splitter.pre_tokenize_str(normal))
    letters = sorted({letter for word in words for letter in word})
    known = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    repeated = sorted((word for word, count in words.items() if count > 1), key=lambda w: (-words[w], w))
    known = list(dict.fromkeys([*known, *repeated]))[: max(vocabulary, len(known))]
    pieces = Tokenizer(
        models.WordPiece({piece: index for index, piece in enumerate(known)}, unk_token=SPECIAL[1])
    )
    pieces.normalizer, pieces.pre_tokenizer = normalizer, splitter
    pieces.decoder = decoders.WordPiece()
    return pieces


class PointerSummarizer:
    """A pointer-generator with its tokenizer: a summarizer, and a task of the trainer."""

    name = "Pointer-generator"

    def __init__(
        self,
        pieces: Any,
        settings: PointerSettings,
        *,
        decoding: BeamSettings | None = None,
        seed: int = 0,
    ) -> None:
        import torch

        from radeval_lib.models.summarizers.pointer import PointerGenerator

        torch.manual_seed(seed)
        self.pieces, self.settings = pieces, settings
        self.decoding = decoding or BeamSettings(longest=settings.longest_target)
        self.module = PointerGenerator(pieces.get_vocab_size(), settings)
        self.new_layers = ("",)

    @classmethod
    def new(
        cls, pairs: Sequence[ReportPair], settings: PointerSettings, *, seed: int = 0
    ) -> PointerSummarizer:
        """An untrained one, its word pieces learned from ``pairs``."""
        texts = (reveal(text) for pair in pairs for text in (pair.findings, pair.impression))
        return cls(learn_pieces(texts, settings.vocabulary), settings, seed=seed)

    def example(self, record: ReportPair) -> dict[str, Any]:
        from radeval_lib.models.summarizers.pointer import BEGIN, END

        target = self._ids(reveal(record.impression), self.settings.longest_target)
        return {"input_ids": self._source(reveal(record.findings)), "labels": [BEGIN, *target, END]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return {
            key: _padded([example[key] for example in examples])
            for key in ("input_ids", "labels")
            if key in examples[0]
        }

    def measure(self, records: Sequence[ReportPair]) -> dict[str, float]:
        """``rouge_l``: mean over the records, decoded greedily, which is what early stopping can afford."""
        greedy = BeamSettings(1, self.decoding.longest, 1.0, self.decoding.no_repeat)
        written = self._written([reveal(record.findings) for record in records], greedy)
        return {"rouge_l": float(rouge_l([reveal(record.impression) for record in records], written).mean())}

    def summarize(self, findings: Sequence[str]) -> list[str]:
        return self._written(checked(findings, self.name), self.decoding)

    def save(self, folder: str | Path) -> None:
        from safetensors.torch import save_file

        where = Path(folder)
        self.pieces.save(str(where / _TOKENIZER))
        save_file(
            {key: value.contiguous() for key, value in self.module.state_dict().items()}, where / _WEIGHTS
        )
        about = {"sizes": asdict(self.settings), "decoding": asdict(self.decoding)}
        (where / SETTINGS).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> PointerSummarizer:
        """A summarizer that :meth:`save` wrote.

        Raises
        ------
        ModelError
            If the folder holds none, or a damaged one.
        """
        from tokenizers import Tokenizer

        from radeval_lib.models.summarizers.pointer import PointerSettings

        where = Path(folder)
        remedy = "Give a folder that PointerSummarizer.save wrote."
        try:
            about = json.loads((where / SETTINGS).read_text(encoding="utf-8"))
            pieces = Tokenizer.from_str((where / _TOKENIZER).read_text(encoding="utf-8"))
            decoding = BeamSettings(**about["decoding"])
            made = cls(pieces, PointerSettings(**about["sizes"]), decoding=decoding)
        except Exception as error:  # tokenizers raises no narrower one
            raise ModelError(f"no pointer-generator ({type(error).__name__})", where.name, remedy) from None
        fill(made.module, where / _WEIGHTS)
        made.module.to(device_of(device)).eval()
        return made

    def _ids(self, text: str, longest: int) -> list[int]:
        ids: list[int] = self.pieces.encode(well_formed(text)).ids
        return ids[:longest]

    def _source(self, text: str) -> list[int]:
        from radeval_lib.models.summarizers.pointer import UNKNOWN

        return self._ids(text, self.settings.longest_source) or [UNKNOWN]

    def _written(self, findings: Sequence[str], decoding: BeamSettings) -> list[str]:
        import torch

        distinct = list(dict.fromkeys(findings))
        sources = [self._source(text) for text in distinct]
        written: dict[str, str] = {}
        was_training = self.module.training
        self.module.eval()
        with torch.inference_mode():
            for batch in buckets(
                [len(ids) for ids in sources], _BATCH_TOKENS // decoding.beams, _BATCH_TEXTS
            ):
                for index, ids in zip(
                    batch, self._decoded([sources[i] for i in batch], decoding), strict=True
                ):
                    written[distinct[index]] = sentence_case(self.pieces.decode(ids))
        self.module.train(was_training)
        return [written[text] for text in findings]

    def _decoded(self, sources: list[list[int]], decoding: BeamSettings) -> list[list[int]]:
        from radeval_lib.models.summarizers.pointer import BEGIN, END

        device = next(self.module.parameters()).device
        memory, state = self.module.encode(_padded(sources).to(device))

        def step(tokens: torch.Tensor, held: Any) -> tuple[torch.Tensor, Any]:
            kept, state = held
            scores, state = self.module.log_probabilities(tokens[:, None].to(device), kept, state)
            return scores, (kept, state)

        def reorder(held: Any, rows: torch.Tensor) -> Any:
            kept, state = held
            chosen = rows.to(device)
            # As many rows as before are of the same texts, whose memory is the same for every beam.
            same = kept if len(rows) == len(kept.source) else kept.rows(chosen)
            return same, tuple(part[:, chosen] for part in state)

        return search(step, reorder, (memory, state), len(sources), begin=BEGIN, end=END, settings=decoding)


def _padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    import torch
    from torch.nn.utils.rnn import pad_sequence

    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
