"""Make the pairs that the BERTScore reference values are computed from: generated findings and odd texts.

Run in this project's environment, then ``record_bertscore.py`` in the package's own (see README.md):

    python tests/reference/make_bertscore_pairs.py
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from radeval_lib.rules.generator import error_pairs, generate

HERE = Path(__file__).resolve().parent / "bertscore"

ODD = [
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


def main() -> None:
    HERE.mkdir(exist_ok=True)
    reports = [made.findings.text for made in generate(20, seed=31)]
    pairs = list(zip(reports[:10], reports[10:], strict=True))
    altered = islice(error_pairs(20, seed=32), 20)
    pairs += [(pair.reference.findings.text, pair.candidate.findings.text) for pair in altered]
    content = [{"reference": reference, "candidate": candidate} for reference, candidate in pairs + ODD]
    text = json.dumps(content, indent=0, ensure_ascii=False) + "\n"
    (HERE / "pairs.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
