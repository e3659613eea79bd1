"""The package radgraph's own source with the transformers of this environment, on a tokenizer made here."""

from __future__ import annotations

import importlib
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from radeval_lib.models import graph_extraction
from radeval_lib.paths import ROOT

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "small", "left", "pleural", "eff", "##usion", "."]
PIECES += ["heart", "is", "en", "##larg", "##ed"]
WORDS = ["small", "left", "pleural", "effusion", ".", "heart", "is", "enlarged"]
SEGMENTS = ["small left pleural eff", "##usion . heart is", "en ##larg ##ed"]  # of four pieces, and two signs


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """radgraph 0.1.18 and what it imports beside torch and transformers, in a folder of their own."""
    wanted = ("radgraph==0.1.18", "appdirs", "dotmap", "h5py", "jsonpickle")
    options = ["--quiet", "pip", "install", "--no-deps", "--target", tmp_path / "package"]
    command = [sys.executable, "-m", "uv", *options]
    settings = runpy.run_path(str(ROOT / "workflow" / "install.py"))["make_environment"]()
    subprocess.run([*command, "--index-strategy", "unsafe-best-match", *wanted], env=settings, check=True)
    monkeypatch.syspath_prepend(tmp_path / "package")
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "radgraph"]:
        del sys.modules[name]


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """A folder with a tokenizer of a few word pieces, and a BERT without training."""
    tokenizer = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    signs = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep")}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **signs).save_pretrained(tmp_path / "bert")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(PIECES), **sizes)).save_pretrained(tmp_path / "bert")
    return tmp_path / "bert"


def test_it_reads_words_in_segments_as_the_model_does(package: None, bert: Path) -> None:
    transformers = importlib.import_module("radgraph.allennlp.common.cached_transformers")
    graph_extraction._restore_removed_methods(transformers)
    data = importlib.import_module("radgraph.allennlp.data")
    token = importlib.import_module("radgraph.allennlp.data.tokenizers.token").Token
    embedders = importlib.import_module("radgraph.allennlp.modules.token_embedders")

    indexer = data.token_indexers.PretrainedTransformerMismatchedIndexer(str(bert), max_length=6)
    indexed = indexer.tokens_to_indices([token(word) for word in WORDS], data.Vocabulary())
    segments = [[2, *map(PIECES.index, segment.split()), 3] for segment in SEGMENTS]
    assert indexed["token_ids"] == [number for segment in segments for number in segment]

    embedder = embedders.PretrainedTransformerMismatchedEmbedder(str(bert), max_length=6).eval()
    model = embedder._matched_embedder.transformer_model
    arrays = indexer.as_padded_tensor_dict(indexed, {key: len(value) for key, value in indexed.items()})
    with torch.no_grad():
        (of_words,) = embedder(**{key: array.unsqueeze(0) for key, array in arrays.items()})
        hidden = [model(torch.tensor([segment])).last_hidden_state[0, 1:-1] for segment in segments]
    pieces = torch.cat(hidden)
    expected = [*pieces[:3], pieces[3:5].mean(0), *pieces[5:8], pieces[8:].mean(0)]
    torch.testing.assert_close(of_words, torch.stack(expected))
