"""Restricted text computes and compares, and refuses every way of being shown or exported."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import asdict
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter

from radeval_lib.data import RestrictedText, RestrictedTextError, restricted, reveal
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark_restricted

TEXT = RestrictedText("the lungs are clear", "mimic3_rrs")
PAIR = ReportPair("1", TEXT, mark_restricted("clear lungs", "mimic3_rrs"))


def test_computation() -> None:
    assert TEXT.reveal() == reveal(TEXT) == "the lungs are clear"
    assert reveal("plain") == "plain"
    assert len(TEXT) == 19
    assert RestrictedText("the lungs are clear", "other") == TEXT
    assert TEXT != "the lungs are clear"
    assert len({TEXT, RestrictedText("the lungs are clear", "x")}) == 1
    assert mark_restricted("a", "x", restricted=False) == "a"


SHOWN = {
    "str": lambda tmp: str(TEXT),
    "repr": lambda tmp: repr(TEXT),
    "format": lambda tmp: f"{TEXT}",
    "percent": lambda tmp: "%s" % TEXT,  # noqa: UP031
    "print": lambda tmp: print(TEXT),
    "record": lambda tmp: repr(PAIR),
    "list": lambda tmp: str([TEXT]),
    "concatenated": lambda tmp: "a" + TEXT,  # type: ignore[operator]
    "sliced": lambda tmp: TEXT[:5],
    "bytes": lambda tmp: bytes(TEXT),  # type: ignore[call-overload]
    "path": lambda tmp: open(TEXT),  # type: ignore[call-overload]  # noqa: SIM115
    "pickled": lambda tmp: pickle.dumps(PAIR),
    "copied": lambda tmp: copy.deepcopy(PAIR),
    "as a dict": lambda tmp: asdict(PAIR),
    "frame shown": lambda tmp: str(pd.DataFrame({"text": [TEXT]})),
    "frame as HTML": lambda tmp: pd.DataFrame({"text": [TEXT]}).to_html(),
    "frame as CSV": lambda tmp: pd.DataFrame({"text": [TEXT]}).to_csv(tmp / "x.csv"),
    "frame as pickle": lambda tmp: pd.DataFrame({"text": [TEXT]}).to_pickle(tmp / "x"),
}


@pytest.mark.parametrize("way", SHOWN)
def test_refuses(way: str, tmp_path: Path) -> None:
    with pytest.raises(RestrictedTextError) as caught:
        SHOWN[way](tmp_path)
    assert "lungs" not in str(caught.value)


def test_standard_writers_refuse_in_their_own_way() -> None:
    """``json`` and ``str.join`` raise errors of their own; pandas' JSON writer sees only where it is from."""
    with pytest.raises(TypeError):
        json.dumps({"text": TEXT})
    with pytest.raises(TypeError):
        "".join(TEXT)  # type: ignore[arg-type]
    assert json.loads(pd.DataFrame({"text": [TEXT]}).to_json()) == {"text": {"0": {"source": "mimic3_rrs"}}}


def test_notebook_display_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    """IPython catches what a display raises and shows the error in place of the text."""
    data, _ = DisplayFormatter().format(TEXT)
    shown = capsys.readouterr()
    assert data == {}
    assert "may not be redistributed" in shown.out + shown.err
    assert "lungs" not in shown.out + shown.err


def test_errors_of_this_library_are_reported_and_others_withheld() -> None:
    assert all(map(restricted.is_safe_error, ("FormatError", "RoleError", "ModelError")))
    assert not any(map(restricted.is_safe_error, ("ValueError", "MetricError")))


_SECRET = "faint nodular opacity beneath the seventh left rib"


def test_a_failed_notebook_keeps_its_code_and_none_of_its_outputs() -> None:
    printed = nbformat.v4.new_output("stream", text=_SECRET)
    failed = nbformat.v4.new_output("error", ename="ValueError", evalue=_SECRET, traceback=[_SECRET])
    cells = [
        nbformat.v4.new_markdown_cell("# Title"),
        nbformat.v4.new_code_cell("print(report)", outputs=[printed], execution_count=1),
        nbformat.v4.new_code_cell("float(report)", outputs=[failed]),
        nbformat.v4.new_code_cell("never_reached()"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    restricted.withhold_outputs(notebook)
    nbformat.validate(notebook)
    assert _SECRET not in json.dumps(notebook)
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in cells]
    assert notebook.cells[2].outputs[0].text == restricted.WITHHELD
    assert not notebook.cells[3].outputs
