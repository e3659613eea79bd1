"""What a check says of answers of another form, or what later cells make of them."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

from tests.labs.test_labs import versions


def run(
    version: str, lab: str, last: str, answers: dict[str, str], student: str = "ada"
) -> tuple[dict[str, Any], str]:
    """The names of a lab up to a task, with other answers to some, and what that task's checks print."""
    names: dict[str, Any] = {"display": lambda *_: None}
    for cell in versions(lab)[version].cells:
        if cell.cell_type != "code" or cell["id"].startswith("check-"):
            if cell["id"] == f"check-{last}":
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(compile(cell.source, "check", "exec"), names)
                return names, printed.getvalue()
            continue
        source = answers.get(cell["id"].removeprefix("answer-"), cell.source)
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(Exception),
        ):  # as a notebook goes on
            exec(compile(source.replace("your id", student), "cell", "exec"), names)
    raise AssertionError(last)


@pytest.mark.parametrize(
    ("lab", "task", "code", "said"),
    [
        (
            "confidence_one_can_trust",
            "bin_rows",
            "import pandas as pd\ndef bin_rows(*_):\n    return pd.DataFrame([[2, 0.3, 0.5], [2, 0.8, 1]])",
            "bin_rows (four documents): bin_rows returns a list or an array of rows",
        ),
        (
            "confidence_one_can_trust",
            "fit_temperature",
            "from scipy.optimize import minimize_scalar\ndef nll(*_):\n    return np.log(2)\n"
            "def fit_temperature(*_):\n    return minimize_scalar(lambda t: (t - 2) ** 2)\n"
            "own_temperature = fit_temperature()",
            "fit_temperature returns a number, not {",
        ),
        (
            "words_are_not_findings",
            "fooling",
            "fooling = dict.fromkeys(by_name, (f'No {finding}.', f'{finding}.'))",
            "bleu: the bad sentence should lead by 0.2; it has ",
        ),
        (
            "write_a_judge",
            "rates",
            "def rates(*_):\n    return 1, 0.5, 2 / 3\ngold = [pair['errors'] for pair in practice]",
            "rates returns a dictionary with the keys precision, recall and f1",
        ),
        (
            "reproduce_a_table",
            "agreeing",
            "agreeing = dict.fromkeys('abcdefg', 1)\nlikely = 'a'",
            "likely is a list of names, even if there is only one",
        ),
        (
            "reproduce_a_table",
            "check_paper",
            "arguments = ['a']\nexpected = 'a'\ndef check_paper(rule):\n    return rule == 'meant'",
            "check_paper (it can fail): check_paper returns nothing: use assert, not return",
        ),
    ],
)
def test_another_form_is_named(lab: str, task: str, code: str, said: str) -> None:
    assert said in run("student", lab, task, {task: code})[1]


def test_errors_that_are_tuples_count_in_every_cell() -> None:
    lab = "write_a_judge"
    cell = next(one for one in versions(lab)["instructor"].cells if one["id"] == "answer-name_errors")
    lists = "return sorted(false + missing + moved)"
    assert lists in cell.source
    tuples = cell.source.replace(lists, "return sorted(map(tuple, false + missing + moved))")
    names, said = run("instructor", lab, "enter", {"name_errors": tuples})
    assert isinstance(names["name_errors"]({"edema": ""}, {})[0], tuple)
    assert names["found"] == names["gold"]
    assert names["worth"]["all rules"] == 1
    assert names["board_f1"] > 0.9
    assert "this check passes" in said
    assert "this check passes" in run("instructor", lab, "name_errors", {"name_errors": tuples})[1]


@pytest.mark.parametrize("student", ["s0", "s10"])  # whose first short case lacks one of the two
def test_a_text_to_count_has_facts_left_out_and_facts_added(student: str) -> None:
    names, _ = run("instructor", "count_facts_together", "count", {}, student)
    assert names["counts"]["omitted"] > 0
    assert names["counts"]["summary"] > names["counts"]["common"]
