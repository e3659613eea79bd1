"""BERTScore against the package bert-score 0.3.13: what it gave is recorded (tests/reference/README.md says
how)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radeval_lib.metrics import create

pytestmark = pytest.mark.usefixtures("one_thread")

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "bertscore"


@pytest.mark.parametrize("layer", [3, 5, 6])
def test_scores_are_the_packages(layer: int) -> None:
    pairs = json.loads((REFERENCE / "pairs.json").read_text(encoding="utf-8"))
    recorded = json.loads((REFERENCE / "package.json").read_text(encoding="utf-8"))[str(layer)]
    scores = create("bertscore", encoder="packaged-minilm", layer=layer, device="cpu").score(
        [pair["reference"] for pair in pairs], [pair["candidate"] for pair in pairs]
    )
    rows = [
        [detail["precision"], detail["recall"], value]
        for detail, value in zip(scores.details, scores.values, strict=True)
    ]
    assert len(rows) == len(recorded) == 41
    np.testing.assert_allclose(rows, recorded, atol=1e-4)
