"""Make what the RaTEScore reference values are computed from: a tiny tagger and 500 generated pairs.

Run in this project's environment, then ``record_ratescore.py`` in the package's own (see README.md):

    python tests/reference/make_ratescore_inputs.py
"""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path

import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel, BertTokenizerFast

from notebooks.ratescore.where_it_fails import FORMS
from radeval_lib.data.generated import ner_corpus
from radeval_lib.models.ner.schemes import scheme_of
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.rules.generator.generator import generate

HERE = Path(__file__).resolve().parent / "ratescore"
PAIRS = 500

ODD = [
    "The heart is normal.No effusion.",
    "1. Cardiomegaly. 2. No effusion.\n3. Clear lungs",
    "CT",
    "OK. Lungs are clear!  Is there edema? No.",
    "FINDINGS:\n\n- small left effusion\n- no pneumothorax\n\nIMPRESSION: Stable.",
    "A 2.5 cm nodule (series 3, image 45). Dr. Smith was told at 4 p.m. by phone.",
    "no pneumothorax;  heart size normal ... stable",
    "Mild edema.\tNo\u00a0focal consolidation.\r\nStable.",
    '"Clear lungs." [normal] (no effusion).Tip at T4.',
    "pneumothorax " * 30,
]
WORDS = "the Heart effusion No mm 2.5 1 10 T4 AP Dr e.g XXXX is not"
SIGNS = """. . , : ; ? ! ) ( - / ... % " ' * + # [ ]"""


def tiny_encoder(folder: Path, texts: list[str]) -> None:
    """A BERT of two layers with 48 numbers a token and a vocabulary of its own."""
    tokenizer = BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(texts, vocab_size=900, min_frequency=2, show_progress=False)
    tokenizer.save_model(str(folder))
    fast = BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True, model_max_length=512)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(fast),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=512,
    )
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    (folder / "vocab.txt").unlink(missing_ok=True)


def odd_texts(count: int = 400) -> list[str]:
    """Return texts of words, numbers, signs and white space in random order, where a sentence may begin or
    end anywhere; then reports in every form that the page on failures tries."""
    rng = random.Random(5)
    words, signs = WORDS.split(), SIGNS.split()
    blanks = [" ", " ", " ", "", "  ", "\n", "\n\n", "\t", " \n ", "\u00a0"]
    formed = [put(report.findings.text) for report in generate(6, seed=17) for put in FORMS.values()]
    return [
        "".join(
            rng.choice(words if rng.random() < 0.6 else signs) + rng.choice(blanks)
            for _ in range(rng.randint(2, 25))
        )
        for _ in range(count)
    ] + formed


def main() -> None:
    HERE.mkdir(exist_ok=True)
    reports = list(generate(600, seed=11))
    init = HERE / "tiny_init"
    init.mkdir(exist_ok=True)
    tiny_encoder(init, [report.findings.text for report in reports])
    scheme = scheme_of("iob", init)
    settings = TrainingSettings(learning_rate=2e-3, batch_size=16, epochs=6, seed=0, device="cpu")
    trained = train(scheme, list(ner_corpus(600, 11)), list(ner_corpus(60, 12)), settings)
    print("dev F1", round(trained.best["f1"], 3))
    scheme.save(HERE / "tiny_ner")
    for path in init.iterdir():
        path.unlink()
    init.rmdir()
    texts = [report.findings.text for report in islice(generate(PAIRS, seed=13), PAIRS - len(ODD))] + ODD
    order = list(range(PAIRS))
    random.Random(0).shuffle(order)
    pairs = [{"reference": texts[i], "candidate": texts[j]} for i, j in enumerate(order)]
    (HERE / "odd_texts.json").write_text(json.dumps(odd_texts(), indent=0) + "\n", encoding="utf-8")
    (HERE / "pairs.json").write_text(json.dumps(pairs, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
