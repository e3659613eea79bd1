"""Make the inputs that other packages' values are recorded from, in this project's environment.

python -m tests.reference.make bertscore_pairs
python -m tests.reference.make radgraph_pairs
python -m tests.reference.make ratescore_inputs
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from radeval_lib.data.generated import generate_ner_corpus, make_radgraph_record
from radeval_lib.data.radgraph import make_annotation
from radeval_lib.rules.generator import error_pairs, generate
from tests.reference.record import HERE, write

BERTSCORE_ODD = [
    ("Effusion", "Pneumothorax"),
    ("effusion", "No pleural effusion or pneumothorax."),
    ("effusion effusion effusion", "effusion"),
    ("no no no no", "No acute disease. No acute disease. No acute disease."),
    ("  Small left effusion.\n\n", "Small left effusion."),
    ("1.5 x 2.3 cm (series 3/image 45)", "T4-T5, 15 mm"),
    ("肺は清明です。", "Лёгкие чистые."),
    ("🫁 🫁 clear", "🫁"),
    ("[CLS] lungs [SEP] clear [MASK]", "lungs clear"),
    ("mild edema " * 400, "No edema. " * 250),
    (".", "?"),
]


def bertscore_pairs() -> None:
    """Write generated findings, and odd texts."""
    reports = [made.findings.text for made in generate(20, seed=31)]
    pairs = list(zip(reports[:10], reports[10:], strict=True))
    altered = islice(error_pairs(20, seed=32), 20)
    pairs += [(pair.reference.findings.text, pair.candidate.findings.text) for pair in altered]
    content = [
        {"reference": reference, "candidate": candidate} for reference, candidate in pairs + BERTSCORE_ODD
    ]
    write("bertscore/pairs.json", content)


Entities = list[tuple[str, str]]
Links = list[tuple[int, str, int]]

EDEMA: Entities = [("mild", "OBS-DP"), ("edema", "OBS-DP"), ("lungs", "ANAT-DP")]
LINKS: Links = [(0, "modify", 1), (1, "located_at", 2)]

BY_HAND: dict[str, tuple[tuple[Entities, Links], tuple[Entities, Links]]] = {
    "identical": ((EDEMA, LINKS), (EDEMA, LINKS)),
    "identical without relations": ((EDEMA, []), (EDEMA, [])),
    "both empty": (([], []), ([], [])),
    "reference empty": (([], []), (EDEMA, LINKS)),
    "candidate empty": ((EDEMA, LINKS), ([], [])),
    "nothing common": ((EDEMA, LINKS), ([("clear", "OBS-DP")], [])),
    "capital with a relation": ((EDEMA, LINKS), ([("Mild", "OBS-DP"), *EDEMA[1:]], LINKS)),
    "capital without a relation": ((EDEMA, []), ([("Mild", "OBS-DP"), *EDEMA[1:]], [])),
    "capital in the tail": ((EDEMA, LINKS), ([*EDEMA[:2], ("Lungs", "ANAT-DP")], LINKS)),
    "all capitals": ((EDEMA, LINKS), ([(words.upper(), label) for words, label in EDEMA], LINKS)),
    "case makes duplicates": (
        ([("Edema", "OBS-DP"), ("edema", "OBS-DP")], []),
        ([("edema", "OBS-DP"), ("EDEMA", "OBS-DP")], []),
    ),
    "case makes duplicates of relations": (
        ([("Mild", "OBS-DP"), ("mild", "OBS-DP"), ("edema", "OBS-DP")], [(0, "modify", 2), (1, "modify", 2)]),
        ([("mild", "OBS-DP"), ("edema", "OBS-DP")], [(0, "modify", 1)]),
    ),
    "duplicates": ((EDEMA, LINKS), ([*EDEMA, *EDEMA], [*LINKS, (3, "modify", 4), (4, "located_at", 5)])),
    "duplicate, one with a relation": (
        ([("edema", "OBS-DP"), ("edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 2)]),
        ([("edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)]),
    ),
    "the same relation twice": ((EDEMA, LINKS), (EDEMA, [*LINKS, LINKS[0]])),
    "other label": ((EDEMA, LINKS), ([EDEMA[0], ("edema", "OBS-DA"), EDEMA[2]], LINKS)),
    "other label of the tail": ((EDEMA, LINKS), ([*EDEMA[:2], ("lungs", "OBS-DP")], LINKS)),
    "other type of relation": ((EDEMA, LINKS), (EDEMA, [LINKS[0], (1, "suggestive_of", 2)])),
    "turned relation": ((EDEMA, LINKS), (EDEMA, [LINKS[0], (2, "located_at", 1)])),
    "relation missing": ((EDEMA, LINKS), (EDEMA, LINKS[:1])),
    "two relations of one entity": (
        (EDEMA, LINKS),
        (EDEMA, [(0, "modify", 1), (0, "modify", 2), (1, "located_at", 2)]),
    ),
    "relation to itself": ((EDEMA, LINKS), (EDEMA, [*LINKS, (2, "modify", 2)])),
    "circle": ((EDEMA, [*LINKS, (2, "modify", 0)]), (EDEMA, LINKS)),
    "several words": (
        ([("chest tube", "OBS-DP"), ("left", "ANAT-DP")], [(0, "located_at", 1)]),
        ([("chest", "OBS-DP"), ("tube", "OBS-DP"), ("left", "ANAT-DP")], [(1, "located_at", 2)]),
    ),
    "labels of RadGraph-XL": (
        (
            [("edema", "Observation::definitely present"), ("lungs", "Anatomy::definitely present")],
            [(0, "located_at", 1)],
        ),
        (
            [("edema", "Observation::uncertain"), ("lungs", "Anatomy::definitely present")],
            [(0, "located_at", 1)],
        ),
    ),
    "letters beyond ASCII": (
        ([("Ödem", "OBS-DP"), ("İ", "OBS-DP"), ("µm", "OBS-DP")], [(0, "modify", 1)]),
        ([("ödem", "OBS-DP"), ("i̇", "OBS-DP"), ("μm", "OBS-DP")], [(0, "modify", 1)]),
    ),
}


def annotated(entities: Entities, links: Links) -> dict[str, Any]:
    words: list[str] = []
    spans = []
    for text, label in entities:
        spans.append((len(words), len(words) + len(text.split()), label))
        words += text.split()
    return make_annotation(words, spans, [(head, tail, kind) for head, kind, tail in links])


def radgraph_pairs() -> None:
    """Write every edge case by hand, and pairs of generated reports with errors."""
    pairs = [
        {"name": name, "reference": annotated(*reference), "candidate": annotated(*candidate)}
        for name, (reference, candidate) in BY_HAND.items()
    ]
    missing = 50 - len(pairs)
    pairs += [
        {
            "name": f"generated {number}",
            "reference": make_radgraph_record(pair.reference.findings),
            "candidate": make_radgraph_record(pair.candidate.findings),
        }
        for number, pair in enumerate(islice(error_pairs(missing, seed=7), missing), start=1)
    ]
    text = json.dumps(pairs, ensure_ascii=False, separators=(",", ":")).replace('{"name"', '\n{"name"')
    (HERE / "radgraph" / "pairs.json").write_text(text + "\n", encoding="utf-8")


RATESCORE_ODD = [
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
    """Save a BERT of two layers with 48 numbers a token and a vocabulary of its own."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

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
    from notebooks.ratescore.where_it_fails import FORMS

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


def ratescore_inputs() -> None:
    """Train a tiny tagger on generated reports, and write 500 pairs and the odd texts."""
    from radeval_lib.models.ner_models import make_scheme
    from radeval_lib.models.training import TrainingSettings, train

    init = HERE / "ratescore" / "tiny_init"
    init.mkdir(exist_ok=True)
    tiny_encoder(init, [report.findings.text for report in generate(600, seed=11)])
    scheme = make_scheme("iob", init)
    settings = TrainingSettings(learning_rate=2e-3, batch_size=16, epochs=6, seed=0, device="cpu")
    trained = train(scheme, list(generate_ner_corpus(600, 11)), list(generate_ner_corpus(60, 12)), settings)
    print("dev F1", round(trained.best["f1"], 3))
    scheme.save(HERE / "ratescore" / "tiny_ner")
    shutil.rmtree(init)
    count = 500
    texts = [report.findings.text for report in islice(generate(count, seed=13), count - len(RATESCORE_ODD))]
    texts += RATESCORE_ODD
    order = list(range(count))
    random.Random(0).shuffle(order)
    write("ratescore/odd_texts.json", odd_texts())
    pairs = [{"reference": texts[i], "candidate": texts[j]} for i, j in enumerate(order)]
    write("ratescore/pairs.json", pairs)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
