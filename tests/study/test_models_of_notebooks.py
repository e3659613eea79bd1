"""What loads a model gets it from the run, which records it: ratescore/curation once named MiniLM itself, and
its result listed no model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from radeval_lib.models.catalog import is_packaged
from radeval_lib.paths import NOTEBOOKS, ROOT
from radeval_lib.study.sources import code_of

# Labs record no result, and readers may try any model there.
SOURCES = [
    *(path for path in sorted(NOTEBOOKS.rglob("*.md")) if "labs" not in path.parts),
    *sorted(NOTEBOOKS.rglob("*.py")),
    *sorted((ROOT / "radeval_lib/jobs").rglob("*.py")),
]
LOADS = {"CausalJudge", "Encoder", "FrozenEncoder", "MaskedLanguageModel", "TextClassifier"}
LOADS |= {"create", "metric", "open_judge", "pretrained_model"}
BY_DEFAULT = {"Encoder", "FrozenEncoder"}
"""What loads the packaged encoder where no model is given."""


def named(call: ast.Call) -> Iterator[str]:
    """Yield the models that a call names itself."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    asked = [*call.args, *(keyword.value for keyword in call.keywords)]
    values = [node.value for node in asked if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    if name in LOADS:
        yield from (value for value in values if is_packaged(value) or "/" in value)
    if name in BY_DEFAULT and not call.args and "model" not in {keyword.arg for keyword in call.keywords}:
        yield f"{name}'s default"


def past_the_run(source: str) -> list[str]:
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [model for call in calls for model in named(call)]


@pytest.mark.parametrize("path", SOURCES, ids=[f"{path.parent.name}/{path.stem}" for path in SOURCES])
def test_no_model_is_loaded_past_the_run(path: Path) -> None:
    assert past_the_run('Encoder("packaged-minilm", pooling="mean")') == ["packaged-minilm"]
    text = path.read_text(encoding="utf-8")
    assert not past_the_run(code_of(text) if path.suffix == ".md" else text)
