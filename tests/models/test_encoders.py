"""Encoders: of texts; made of others, frozen, trained further and probed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

from radeval_lib.data.roles import load
from radeval_lib.errors import ModelError
from radeval_lib.models.batching import IGNORED, fix_unicode
from radeval_lib.models.catalog import AFTER_GRAPHS, PACKAGED, UNTRAINED, find_minilm, hash_model
from radeval_lib.models.classifiers import FrozenEncoder, fit_probe, freeze
from radeval_lib.models.derived import cut_layers, prepare_start, trim_encoder
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.masked_language import SHARE, MaskedLanguageModel
from radeval_lib.models.ner_models import IobScheme

pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = ["pleural effusion", "effusion", "", "left lower lobe", "effusion", "x" * 2_000, "\ud800"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(device="cpu")


def test_each_text_once_and_in_order(encoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (7, 384)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(vectors[1], vectors[4])
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.parametrize("settings", [{"max_tokens": 0}, {"max_tokens": 10**6}, {"pooling": "max"}])
def test_settings_that_no_encoder_has_are_refused(settings) -> None:
    with pytest.raises(ModelError):
        Encoder(**settings, device="cpu")


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_is_what_it_says(encoder, pooling) -> None:
    inputs = encoder.tokenizer("mild pulmonary edema", return_tensors="pt")
    with torch.no_grad():
        hidden = encoder.model(**inputs).last_hidden_state[0].numpy()
    expected = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    other = Encoder(pooling=pooling, device="cpu")
    pooled = other.encode(["mild pulmonary edema", "edema of some more words than the other text"])[0]
    np.testing.assert_allclose(pooled, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("decides", "file", "content"),
    [
        (True, "model.safetensors", "WEIGHTS"),
        (True, "config.json", '{"hidden_size": 9, "transformers_version": "5.0"}'),
        (True, "tokenizer_config.json", '{"do_lower_case": false, "is_local": true}'),
        (True, "tokenizer.json", '{"truncation": null, "padding": null, "model": {"a": 2}}'),
        (True, "tokenizer.json", "damaged"),
        (True, "vocab.txt", "a"),
        (False, "config.json", '{"transformers_version": "5.1", "hidden_size": 8}'),
        (False, "tokenizer_config.json", '{"do_lower_case": true, "local_files_only": true}'),
        (False, "tokenizer.json", '{"truncation": {"max_length": 9}, "padding": null, "model": {"a": 1}}'),
    ],
)
def test_what_decides_a_models_output_is_in_its_checksum(
    tmp_path: Path, decides: bool, file: str, content: str
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "config.json").write_text('{"hidden_size": 8, "transformers_version": "5.0"}')
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true, "is_local": true}')
    (tmp_path / "tokenizer.json").write_text('{"truncation": null, "padding": null, "model": {"a": 1}}')
    before = hash_model(tmp_path)
    path = tmp_path / file
    path.write_text(content)
    os.utime(path, ns=(0, 1))  # as a file that changed within the clock's grain would not show
    assert (hash_model(tmp_path) != before) == decides


def test_well_formed() -> None:
    assert fix_unicode("a\ud800b") == "a\ufffdb"
    assert fix_unicode("\ud83d\ude00") == "\U0001f600"
    assert fix_unicode("é中") == "é中"


TINY = str(Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner")
FINDINGS = ["Small left pleural effusion.", "No pneumothorax, cardiomegaly (mild)."]


def hidden(folder: str, text: str) -> torch.Tensor:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        states = AutoModel.from_pretrained(folder).eval()(**tokenizer(text, return_tensors="pt"))
    return torch.as_tensor(states.last_hidden_state)


def test_a_trimmed_encoder_gives_the_same_vectors(tmp_path: Path) -> None:
    small = trim_encoder(PACKAGED, FINDINGS, tmp_path)
    assert AutoModel.from_pretrained(small).config.vocab_size < 5000
    for text in FINDINGS:
        assert torch.equal(hidden(small, text), hidden(str(find_minilm()), text))
    assert trim_encoder(PACKAGED, FINDINGS, tmp_path) == small


def test_a_shallow_cut_ends_where_the_whole_model_passes(tmp_path: Path) -> None:
    cut = cut_layers(PACKAGED, 2, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(find_minilm())
    whole = AutoModel.from_pretrained(find_minilm()).eval()
    with torch.inference_mode():
        states = whole(**tokenizer(FINDINGS[0], return_tensors="pt"), output_hidden_states=True).hidden_states
    assert torch.allclose(hidden(cut, FINDINGS[0]), states[2], atol=1e-6)
    with pytest.raises(ModelError):
        cut_layers(PACKAGED, 6, tmp_path)


def test_a_frozen_encoder_reads_each_text_once_and_lets_the_layers_above_learn() -> None:
    tokenizer = AutoTokenizer.from_pretrained(find_minilm())
    encoder = AutoModel.from_pretrained(find_minilm())
    held = freeze(encoder)
    model = torch.nn.Sequential(torch.nn.Linear(encoder.config.hidden_size, 2)).train()
    held.train()
    assert not encoder.training, "dropout stays off"
    read = []
    encoder.register_forward_pre_hook(
        lambda _, __, given: read.append(len(given["input_ids"])), with_kwargs=True
    )
    first, other, both = (
        tokenizer(texts, padding=True, return_tensors="pt", return_token_type_ids=False)
        for texts in (FINDINGS[:1], FINDINGS[1:], FINDINGS)
    )
    with torch.inference_mode():  # a text may be measured before it is learned from
        held(**first)
    states = held(**both).last_hidden_state
    held(**other)
    assert read == [1, 1]
    for text, row, mask in zip(FINDINGS, states, both["attention_mask"], strict=True):
        assert torch.allclose(row[mask.bool()], hidden(str(find_minilm()), text)[0], atol=1e-5)
        assert not row[~mask.bool()].any()
    model(states).sum().backward()
    assert model[0].weight.grad is not None
    assert all(weight.grad is None and not weight.requires_grad for weight in encoder.parameters())


def test_masks_are_on_words_alone_and_as_many_as_they_should_be() -> None:
    torch.manual_seed(0)
    task = MaskedLanguageModel(PACKAGED, seed=1)
    examples = [task.make_example(" ".join(FINDINGS * 6)) for _ in range(40)]
    batch = task.collate(examples)
    guessed = batch["labels"] != IGNORED
    ids = torch.tensor([example["input_ids"] for example in examples])
    assert not guessed[:, 0].any()
    assert not guessed[:, -1].any()
    assert torch.equal(batch["labels"][guessed], ids[guessed])
    assert torch.equal(batch["input_ids"][~guessed], ids[~guessed])
    assert float(guessed[:, 1:-1].float().mean()) == pytest.approx(SHARE, abs=0.02)
    masked = batch["input_ids"][guessed] == task.tokenizer.mask_token_id
    assert float(masked.float().mean()) == pytest.approx(0.8, abs=0.08)
    assert task.measure(FINDINGS) == task.measure(FINDINGS)  # dev's masks are always the same


def test_first_pieces_alone_carry_labels() -> None:
    scheme = IobScheme(PACKAGED, ["X"], first_pieces=True)
    row = scheme.encode(["mild", "cardiomegaly"], [(1, 2, "X")])
    pieces = scheme.tokenizer.convert_ids_to_tokens(row["input_ids"])
    assert pieces[:3] == ["[CLS]", "mild", "card"]
    assert row["labels"][:3] == [IGNORED, 0, scheme.labels.index("B-X")]
    assert set(row["labels"][3:]) == {IGNORED}
    words = [None, 0, 1, *[1] * (len(pieces) - 4), None]
    b, i, o = (scheme.labels.index(name) for name in ("B-X", "I-X", "O"))
    assert scheme.find_word_spans(words, [b, b, i, *[o] * len(pieces[3:])]) == [(0, 2, "X")]
    assert scheme.find_word_spans([None, 0, 2, None], [o, i, b, o]) == [(0, 1, "X"), (2, 3, "X")]


def test_a_probe_reads_off_what_is_there() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 10)).astype(np.float32)
    targets = ["up" if row[3] > 0 else "down" for row in features]
    probe = fit_probe(features[:150], targets[:150], ["down", "sideways", "up"], 1.0)
    right = np.mean([a == b for a, b in zip(probe.predict(features[150:]), targets[150:], strict=True)])
    assert right > 0.9
    assert np.isneginf(probe.logits(features)[:, 1]).all()  # a class without examples


def test_frozen_features_are_the_encoders() -> None:
    encoder = FrozenEncoder(PACKAGED)
    words = [["Small", "effusion"], ["cardiomegaly"]]
    by_word, by_text = encoder.encode_words(words), encoder.encode_texts(words)
    states = hidden(str(find_minilm()), "Small effusion")[0].numpy()
    assert by_word[0] == pytest.approx(states[1:3], abs=1e-4)
    assert by_text[0] == pytest.approx(states[0], abs=1e-4)
    assert by_word[1].shape == (1, 384)


def test_what_was_made_of_other_weights_under_the_same_name_is_not_taken(tmp_path: Path) -> None:
    source = shutil.copytree(TINY, tmp_path / "model")
    before = [cut_layers(str(source), 1, tmp_path), trim_encoder(str(source), FINDINGS, tmp_path)]
    held = load_file(source / "model.safetensors")
    save_file({key: value * 1.5 for key, value in held.items()}, source / "model.safetensors")
    os.utime(source / "model.safetensors", ns=(0, 1))
    after = [cut_layers(str(source), 1, tmp_path), trim_encoder(str(source), FINDINGS, tmp_path)]
    assert not set(before) & set(after)
    assert torch.equal(hidden(after[1], FINDINGS[0]), hidden(str(source), FINDINGS[0]))


def test_tokens_that_were_added_to_a_vocabulary_outlive_its_trimming(tmp_path: Path) -> None:
    tokenizer, model = AutoTokenizer.from_pretrained(TINY), AutoModel.from_pretrained(TINY)
    tokenizer.add_tokens(["DEIDX"])
    tokenizer.add_special_tokens({"extra_special_tokens": ["[FIND]"]})
    model.resize_token_embeddings(len(tokenizer))
    tokenizer.save_pretrained(tmp_path / "model")
    model.save_pretrained(tmp_path / "model")
    small = trim_encoder(str(tmp_path / "model"), FINDINGS, tmp_path)
    trimmed_one = AutoTokenizer.from_pretrained(small)
    assert trimmed_one.all_special_tokens == tokenizer.all_special_tokens
    text = f"[FIND] {FINDINGS[0]} DEIDX"
    assert trimmed_one.tokenize(text) == tokenizer.tokenize(text)
    assert torch.equal(hidden(small, text), hidden(str(tmp_path / "model"), text))


def test_an_untrained_model_has_the_architecture_and_random_weights(tmp_path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    folders = [
        prepare_start(UNTRAINED + TINY, tmp_path / f, seed=seed) for f, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert torch.equal(torch.rand(3), expected)  # other random numbers are as they would have been
    first, same, other = (Encoder(folder, device="cpu").encode(["effusion"])[0] for folder in folders)
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, other)
    assert not np.allclose(first, Encoder(TINY, device="cpu").encode(["effusion"])[0])
    assert prepare_start(UNTRAINED + TINY, tmp_path / "a", seed=1) == folders[0]


def test_a_model_after_graphs_starts_another_training(tmp_path: Path) -> None:
    graphs = load("graph_corpus", "synthetic", size=12, seed=1, root=None)
    start = prepare_start(AFTER_GRAPHS + TINY, tmp_path, seed=1, graphs=graphs, device="cpu")
    assert len(IobScheme(start).labels) == 11  # the five types of RaTE-NER, not the graphs' four labels
    before, after = (Encoder(model, device="cpu").encode(["effusion"])[0] for model in (TINY, start))
    assert not np.allclose(before, after)
