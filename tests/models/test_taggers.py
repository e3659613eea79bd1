"""Taggers of both schemes, their training and their counting."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from nervaluate import Evaluator

from radeval_lib.data import iob_tags
from radeval_lib.data.generated import ner_corpus
from radeval_lib.data.records import AnnotatedSentence, Entity, plain_words
from radeval_lib.errors import ModelError
from radeval_lib.models.batching import buckets
from radeval_lib.models.ner.entities import Counts, gold_spans, span_scores, words_of
from radeval_lib.models.ner.iob import IobScheme
from radeval_lib.models.ner.iob_model import IobNerModel, iob_labels
from radeval_lib.models.ner.span_scheme import SpanNerModel, SpanScheme, SpanSettings
from radeval_lib.models.ner.training import open_ner_model, scheme_of
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.rules.generator.generator import generate

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner"


@pytest.fixture(scope="module")
def sentences() -> list[AnnotatedSentence]:
    return list(ner_corpus(60, 3))


def test_generated_sentences_keep_their_entities() -> None:
    report = next(iter(generate(1, seed=4)))
    rows = list(ner_corpus(1, 4))
    found = [" ".join(plain_words(row)[start:end]) for row in rows for start, end, _ in gold_spans(row)]
    gold = [entity.text for entity in report.findings.entities]
    assert ["".join(text.split()) for text in found] == ["".join(text.split()) for text in gold]


def test_words() -> None:
    assert [("a2.5 cm_x!"[a:b]) for a, b in words_of("a2.5 cm_x!")] == ["a2", ".", "5", "cm", "_", "x", "!"]


def test_strict_counts_by_hand() -> None:
    gold = [[(0, 2, "Disease"), (3, 4, "Anatomy")], [(0, 1, "Anatomy")]]
    predicted = [[(0, 2, "DISEASE"), (3, 5, "ANATOMY")], [(0, 1, "DISEASE")]]
    found = span_scores(gold, predicted, [5, 2])
    assert found.spans == Counts(matched=1, predicted=3, gold=3)
    assert (found.spans.precision, found.spans.recall, found.spans.f1) == (1 / 3, 1 / 3, 1 / 3)
    # sentence one: B I O B O against B I O B I; sentence two: B-ANATOMY O against B-DISEASE O
    assert found.accuracy == pytest.approx(5 / 7)
    assert span_scores([[]], [[]], [0]).spans.f1 == 0


def test_strict_counts_as_nervaluate_has_them() -> None:
    rng = np.random.default_rng(0)
    kinds = ["ANATOMY", "DISEASE"]

    def drawn() -> list[tuple[int, int, str]]:
        starts = [s for s in range(0, 12, 3) if rng.random() < 0.7]
        return [(s, s + int(rng.integers(1, 4)), kinds[rng.integers(2)]) for s in starts]

    gold, predicted = ([drawn() for _ in range(60)] for _ in range(2))
    ours = span_scores(gold, predicted, [12] * 60).spans
    tags = [[iob_tags.encode(row, 12) for row in rows] for rows in (gold, predicted)]
    theirs = Evaluator(*tags, tags=kinds, loader="list").evaluate()["overall"]["strict"]
    assert (ours.precision, ours.recall) == pytest.approx((theirs.precision, theirs.recall))


def test_buckets_hold_every_position_once() -> None:
    lengths = [5, 1, 9, 3, 200, 1]
    found = list(buckets(lengths, tokens=12, texts=3))
    assert sorted(i for batch in found for i in batch) == list(range(6))
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= 12 for b in found)
    assert found[-1] == [4]


def test_iob_scheme_labels_every_piece() -> None:
    scheme = IobScheme(TINY)
    example = scheme.encoded(["pneumoperitoneum", "seen"], [(0, 1, "DISEASE")])
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
    assert tagger.cut(["word " * 600, "word"]) == [True, False]


@pytest.mark.parametrize(("precision", "kind"), [("auto", torch.float32), ("bfloat16", torch.bfloat16)])
def test_both_taggers_compute_in_the_precision_asked_for(precision, kind, tmp_path) -> None:
    SpanScheme(TINY, SpanSettings(hidden=8, width_size=4)).save(tmp_path)
    kinds = set()
    for model in (TINY, tmp_path):
        tagger = open_ner_model(model, decoding="released", device="cpu", precision=precision)
        module = tagger.model if isinstance(tagger, IobNerModel) else tagger.scheme.module
        for part in module.modules():
            if isinstance(part, torch.nn.Linear):
                part.register_forward_hook(lambda part, given, found: kinds.add(found.dtype))
        tagger.tag(["Mild edema."])
    assert kinds == {kind}


def test_labels_must_be_iob() -> None:
    assert iob_labels({0: "O", 1: "B-Anatomy", 2: "I-Anatomy"}, "m") == ["O", "B-ANATOMY", "I-ANATOMY"]
    for labels in ({0: "LABEL_0"}, {0: "O", 2: "B-X"}):
        with pytest.raises(ModelError, match="labels are not IOB"):
            iob_labels(labels, "m")


@pytest.mark.parametrize("name", ["iob", "span"])
def test_training_learns_and_is_kept(name, sentences, tmp_path) -> None:
    head = {"hidden": 64, "width_size": 16} if name == "span" else {}
    scheme = scheme_of(name, TINY, seed=1, **head)
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
    words = plain_words(sentences[0])
    expected = scheme.predict([words])[0]
    assert [kind for _, kind in tagger.tag([" ".join(words)])[0]] == [kind for *_, kind in expected]


def test_scheme_must_be_known() -> None:
    with pytest.raises(ModelError, match="Choices: iob, span"):
        scheme_of("crf", TINY)  # type: ignore[arg-type]


def test_span_scheme_sees_spans_of_up_to_eight_words() -> None:
    scheme = SpanScheme(TINY, SpanSettings(hidden=8, width_size=4))
    example = scheme.encoded([f"w{i}" for i in range(10)], [(0, 8, "DISEASE"), (0, 9, "ANATOMY")])
    # widths 1 to 8 over 10 words: 10 + 9 + ... + 3 spans; the span of nine words is out of reach
    assert len(example["labels"]) == sum(range(3, 11)) == 52
    assert sum(label > 0 for label in example["labels"]) == 1
    assert max(example["widths"]) == 7
    assert scheme.predict([[], ["x"]])[0] == []
    assert isinstance(scheme.predict([["word"] * 700])[0], list)


def test_span_tagger_writes_as_the_sentence_does(tmp_path) -> None:
    scheme = SpanScheme(TINY, SpanSettings(hidden=8, width_size=4))
    scheme.save(tmp_path)
    loaded = SpanScheme.load(tmp_path)
    for key, value in scheme.module.state_dict().items():
        assert (loaded.module.state_dict()[key] == value).all()
    text = "Mild  Edema, (T4)."
    for words, kind in SpanNerModel(tmp_path, device="cpu").tag([text])[0]:
        assert words in text
        assert kind.isupper()


def test_bad_checkpoints_are_named(tmp_path) -> None:
    with pytest.raises(ModelError, match="no span tagger"):
        SpanScheme.load(TINY)
    copy = tmp_path / "copy"
    shutil.copytree(TINY, copy)
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelError, match="no safetensors weights"):
        IobNerModel(copy)
    (copy / "model.safetensors").write_bytes(b"\0" * 50)
    with pytest.raises(ModelError, match="cannot load 'copy'"):
        IobNerModel(copy)
    (copy / "config.json").unlink()
    with pytest.raises(ModelError, match=r"no config.json"):
        IobNerModel(copy)
    with pytest.raises(ModelError, match="no folder"):
        IobNerModel(tmp_path / "gone")
    with pytest.raises(ModelError, match="decoding: unknown value"):
        IobNerModel(TINY, decoding="viterbi")  # type: ignore[arg-type]


def test_settings_of_spans_that_are_wrong_are_named() -> None:
    for changed, said in (({"dropout": 1.5}, "dropout is 1.5"), ({"types": ("A", "A")}, "a type twice")):
        with pytest.raises(ModelError, match=f"span scheme: {said}"):
            SpanSettings(**changed)


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


def test_entities_of_records_become_spans() -> None:
    row = AnnotatedSentence("1", ("mild", "edema"), (Entity(0, 2, "Abnormality"),))
    assert gold_spans(row) == [(0, 2, "ABNORMALITY")]


@pytest.mark.parametrize("name", ["iob", "span"])
def test_of_no_sentences_no_entities_are_found(name: Any, tmp_path: Path) -> None:
    scheme = scheme_of(name, TINY)
    assert scheme.predict([]) == []
    assert scheme.measure([])["f1"] == 0.0
    scheme.save(tmp_path)
    model = open_ner_model(tmp_path, decoding="standard", device="cpu")
    assert (model.tag([]), model.cut([])) == ([], [])


def test_what_a_scheme_cannot_be_made_with_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the IOB scheme has no setting 'hidden'"):
        scheme_of("iob", TINY, hidden=3)
    with pytest.raises(ModelError, match="max_width is 0"):
        scheme_of("span", TINY, max_width=0)
    with pytest.raises(ModelError, match="a type twice among A, A"):
        IobScheme(TINY, ["A", "A"])
    with pytest.raises(ModelError, match=r"the type 'B' is none of the scheme's\. Types: A"):
        IobScheme(TINY, ["A"]).encoded(["effusion"], [(0, 1, "B")])
    SpanScheme(TINY, SpanSettings()).save(tmp_path)
    with pytest.raises(ModelError, match="decoding: unknown value 'usual'"):
        open_ner_model(tmp_path, decoding="usual", device="cpu")
