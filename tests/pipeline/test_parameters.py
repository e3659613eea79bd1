"""What a command gives a notebook is of the type of the notebook's own value, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from radeval_lib.errors import NotebookError, ParameterError
from radeval_lib.pipeline import parameters
from radeval_lib.pipeline.parameters import notebook_name, parse_parameters

PAGE = "rales/nlu_scores"


def test_a_parameter_has_its_own_type() -> None:
    values = parse_parameters(PAGE, {"seed": "7", "profile": "7"})
    assert values == {"profile": "7", "seed": 7, "output_dir": "", "data_root": ""}


@pytest.mark.parametrize("seed", ["x", "1:30", "010", "7.0", "true", "True", "", "[1]", "1e3"])
def test_what_is_of_another_type_is_refused(seed: str) -> None:
    with pytest.raises(ParameterError, match=r"must be of type int, not .* Its default is 0"):
        parse_parameters(PAGE, {"seed": seed})


@pytest.mark.parametrize(
    ("text", "wanted", "value"),
    [("1e-3", float, 0.001), ("2", float, 2), ("True", bool, True), ("1", bool, None), ("nan", float, None)],
)
def test_a_value_is_written_as_in_python(text: str, wanted: type, value: Any) -> None:
    assert parameters._of_type(text, wanted) == value


def test_unknown_names_are_refused_with_those_near_them() -> None:
    with pytest.raises(ParameterError, match="unknown parameter 'sede'"):
        parse_parameters(PAGE, {"sede": "1"})
    with pytest.raises(NotebookError, match="Notebooks: rales/nlu_scores"):
        notebook_name("rales/nlu_score")
    assert notebook_name("./notebooks/rales/nlu_scores.md") == PAGE
