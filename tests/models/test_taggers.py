"""Tagging schemes and NER models: labels by hand, decoding, training, saving, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from radeval_lib.data.generated import generate_ner_corpus
from radeval_lib.data.records import AnnotatedSentence, reveal_tokens
from radeval_lib.errors import ModelError
from radeval_lib.models.entities import Counts, Decoding, compare_spans, decode_labels, find_words
from radeval_lib.models.ner_models import (
    IobNerModel,
    IobScheme,
    SpanScheme,
    SpanSettings,
    make_scheme,
    open_ner_model,
    read_iob_labels,
)
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.rules.generator.generator import generate

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner"


@pytest.fixture(scope="module")
def sentences() -> list[AnnotatedSentence]:
    return list(generate_ner_corpus(60, 3))


def test_words() -> None:
    assert [("a2.5 cm_x!"[a:b]) for a, b in find_words("a2.5 cm_x!")] == ["a2", ".", "5", "cm", "_", "x", "!"]


def test_strict_counts_by_hand() -> None:
    gold = [[(0, 2, "Disease"), (3, 4, "Anatomy")], [(0, 1, "Anatomy")]]
    predicted = [[(0, 2, "DISEASE"), (3, 5, "ANATOMY")], [(0, 1, "DISEASE")]]
    scores = compare_spans(gold, predicted, [5, 2])
    assert scores.spans == Counts(matched=1, predicted=3, gold=3)
    assert (scores.spans.precision, scores.spans.recall, scores.spans.f1) == (1 / 3, 1 / 3, 1 / 3)
    # sentence one: B I O B O against B I O B I; sentence two: B-ANATOMY O against B-DISEASE O
    assert scores.accuracy == pytest.approx(5 / 7)
    assert compare_spans([[]], [[]], [0]).spans.f1 == 0


def test_iob_scheme_labels_every_piece() -> None:
    scheme = IobScheme(TINY)
    example = scheme.encode(["pneumoperitoneum", "seen"], [(0, 1, "DISEASE")])
    names = [scheme.labels[label] for label in example["labels"][1:]]
    pieces = len(names) - 2
    assert pieces > 1
    assert names == ["B-DISEASE", *["I-DISEASE"] * (pieces - 1), "O", "O"]
    assert example["labels"][0] == -100


def test_iob_tagger_reads_each_sentence_alone_as_among_others() -> None:
    tagger = IobNerModel(TINY, device="cpu")
    texts = [report.findings.text for report in generate(20, seed=5)]
    assert tagger.tag([*texts, texts[0]]) == [tagger.tag([text])[0] for text in [*texts, texts[0]]]
    assert tagger.tag([]) == []
    assert tagger.find_truncated(["word " * 600, "word"]) == [True, False]


def test_labels_must_be_iob() -> None:
    assert read_iob_labels({0: "O", 1: "B-Anatomy", 2: "I-Anatomy"}, "m") == ["O", "B-ANATOMY", "I-ANATOMY"]
    for labels in ({0: "LABEL_0"}, {0: "O", 2: "B-X"}):
        with pytest.raises(ModelError):
            read_iob_labels(labels, "m")


@pytest.mark.parametrize("name", ["iob", "span"])
def test_training_learns_and_is_kept(name, sentences, tmp_path) -> None:
    head = {"hidden": 64, "width_size": 16} if name == "span" else {}
    scheme = make_scheme(name, TINY, seed=1, **head)
    before = scheme.measure(sentences[:80])["f1"]
    rate, epochs = (5e-3, 7) if name == "span" else (2e-3, 3)
    settings = TrainingSettings(
        learning_rate=rate, batch_size=16, epochs=epochs, patience=9, device="cpu", seed=1
    )
    trained = train(scheme, sentences, sentences[:80], settings)
    assert trained.best["f1"] > max(before, 0.3)
    assert [row["epoch"] for row in trained.history] == list(range(1, epochs + 1))
    assert scheme.measure(sentences[:80])["f1"] == trained.best["f1"]
    scheme.save(tmp_path)
    assert not list(tmp_path.glob("*.bin"))
    tagger = open_ner_model(tmp_path, decoding="standard", device="cpu")
    words = reveal_tokens(sentences[0])
    expected = scheme.predict([words])[0]
    assert [kind for _, kind in tagger.tag([" ".join(words)])[0]] == [kind for *_, kind in expected]
    if name == "span":
        text = "Mild  Edema, (T4)."
        assert all(entity in text for entity, _ in tagger.tag([text])[0])  # as the sentence writes it


def test_span_scheme_sees_spans_of_up_to_eight_words() -> None:
    scheme = SpanScheme(TINY, SpanSettings(hidden=8, width_size=4))
    example = scheme.encode([f"w{i}" for i in range(10)], [(0, 8, "DISEASE"), (0, 9, "ANATOMY")])
    # widths 1 to 8 over 10 words: 10 + 9 + ... + 3 spans; the span of nine words is out of reach
    assert len(example["labels"]) == sum(range(3, 11)) == 52
    assert sum(label > 0 for label in example["labels"]) == 1
    assert max(example["word_counts"]) == 8
    assert scheme.predict([[], ["x"]])[0] == []
    assert isinstance(scheme.predict([["word"] * 700])[0], list)


def test_bad_checkpoints_are_named(tmp_path) -> None:
    with pytest.raises(ModelError):
        SpanScheme.load(TINY)
    copy = tmp_path / "copy"
    shutil.copytree(TINY, copy)
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelError):  # pickled weights are not loaded, because they can run code
        IobNerModel(copy)
    (copy / "model.safetensors").write_bytes(b"\0" * 50)
    with pytest.raises(ModelError):
        IobNerModel(copy)
    (copy / "config.json").unlink()
    with pytest.raises(ModelError):
        IobNerModel(copy)


def test_no_code_of_the_repository_runs(tmp_path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(TINY, copy)
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "run.Own", "AutoModel": "run.Own"}}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "run.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError):
        IobNerModel(copy)
    assert not (tmp_path / "ran").exists()


def read(labels: str, decoding: Decoding) -> list[tuple[int, int, str]]:
    """Return first and last token and type; the labels begin and end with those of special tokens."""
    row = labels.split()
    special = [position in (0, len(row) - 1) for position in range(len(row))]
    return [(start, end - 1, kind) for start, end, kind in decode_labels(row, special, decoding)]


@pytest.mark.parametrize(
    ("labels", "released", "usual"),
    [
        # RaTEScore a970406, utils.post_process.
        ("O B-X I-X O O", [(1, 2, "X")], [(1, 2, "X")]),
        ("O I-X O O", [], [(1, 1, "X")]),  # an orphan I- is dropped
        ("O I-X B-Y O", [(2, 2, "Y")], [(1, 1, "X"), (2, 2, "Y")]),
        ("O B-X I-Y I-Z O", [(1, 3, "X")], [(1, 1, "X"), (2, 2, "Y"), (3, 3, "Z")]),
        ("O B-X B-X O O", [(1, 1, "X"), (2, 2, "X")], [(1, 1, "X"), (2, 2, "X")]),
        ("O B-X B-Y I-Y O", [(1, 1, "X"), (2, 3, "Y")], [(1, 1, "X"), (2, 3, "Y")]),
        ("O B-X B-Y I-Y I-Y", [(1, 1, "X")], [(1, 1, "X"), (2, 3, "Y")]),  # the closing I- loses the last one
        ("O B-Y I-Y I-Y", [(1, 2, "Y")], [(1, 2, "Y")]),  # no earlier span: it survives
        ("O", [], []),
        ("", [], []),
    ],
)
def test_decoding(
    labels: str, released: list[tuple[int, int, str]], usual: list[tuple[int, int, str]]
) -> None:
    assert read(labels, "released") == released
    assert read(labels, "standard") == usual
