"""Errors are one line that prints, whatever the input was."""

from __future__ import annotations

import errno
import pickle
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.errors import RadevalError, check_choice, list_names, to_file_error, to_line
from radeval_lib.paths import ROOT, display_path


def test_the_parts_make_a_sentence() -> None:
    assert str(RadevalError("no such file", "a.csv", "Give another.")) == "a.csv: no such file. Give another."
    assert str(RadevalError("no such file.")) == "no such file."
    again = pickle.loads(pickle.dumps(RadevalError("what", "where", "remedy")))
    assert (again.what, again.where, again.remedy) == ("what", "where", "remedy")


def test_control_characters_are_escaped_and_long_values_are_cut_in_the_middle() -> None:
    message = str(RadevalError("bad \x1b[31m\nvalue \u202e\ud800", "x" * 200 + "/end.csv"))
    assert r"bad \x1b[31m\nvalue \u202e\ud800" in message
    assert "/end.csv" in message
    assert " ... " in message


@given(st.text(max_size=400), st.text(max_size=400))
def test_every_message_is_one_short_line_that_prints(label: str, where: str) -> None:
    message = str(RadevalError(label, where))
    assert message.isprintable()
    assert len(message) <= 300
    message.encode()


@given(st.text(), st.integers(9, 60))
def test_plain_keeps_its_length(text: str, longest: int) -> None:
    assert len(to_line(text, longest)) <= longest


def test_lists_say_how_many_more_there_are() -> None:
    assert list_names([]) == "none"
    assert list_names(["a", "b"]) == "a, b"
    assert list_names(["abc"] * 10, max_length=10) == "abc, abc and 8 more"


def test_what_the_system_refuses_names_the_file_and_a_remedy() -> None:
    error = to_file_error(OSError(errno.ENOSPC, "No space left on device", "/a/b/scores.csv"))
    assert (error.where, bool(error.remedy)) == ("scores.csv", True)
    assert str(to_file_error(OSError("odd"))) == "odd"


@pytest.mark.parametrize(
    ("value", "choices", "refused"),
    [
        ("up", Literal["left", "right"], True),
        (None, Literal["left"] | None, False),
        ("five", Literal["auto"] | int, True),
        ("any", str, False),
    ],
)
def test_a_value_that_neither_a_literal_nor_another_type_of_a_union_has_is_refused(
    value: object, choices: object, refused: bool
) -> None:
    with pytest.raises(RadevalError) if refused else nullcontext():
        check_choice(value, choices, "where", RadevalError)


def test_a_path_outside_the_repository_is_shown_without_its_folders(tmp_path: Path) -> None:
    assert display_path(ROOT / "data" / "x") == "data/x"
    assert display_path(tmp_path / "x.csv") == "x.csv"
    assert display_path(Path("/")) == "/"
