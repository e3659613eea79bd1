"""Text of restricted data goes to a model server only where a statement allows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.data.errors import StatementError
from radeval_lib.data.manifests import require_statements as require

SERVER = "http://127.0.0.1:8000/v1"
ALLOWED = "corpus: rexval\nserver: 127.0.0.1:8000\ndate: 2026-11-01\nsigned: Data office\n"


def _stated(root: Path, text: str) -> Path:
    (root / "statements").mkdir()
    (root / "statements" / "one.yml").write_text(text, encoding="utf-8")
    return root


def test_a_server_needs_a_statement_for_each_corpus(tmp_path: Path) -> None:
    with pytest.raises(StatementError):
        require(["rexval"], SERVER, tmp_path)
    root = _stated(tmp_path, ALLOWED)
    require(["rexval"], SERVER, root)
    with pytest.raises(StatementError):
        require(["mimic3_rrs", "rexval"], SERVER, root)
    with pytest.raises(StatementError):
        require(["rexval"], "http://127.0.0.1:8001/v1", root)
    require(["rexval"], "http://name:secret@127.0.0.1:8000/v1", root)
    with pytest.raises(StatementError) as caught:
        require(["rexval"], "HTTP://name:secret@127.0.0.1:8001/v1", root)
    assert "secret" not in str(caught.value)


def test_a_folder_and_open_data_need_none(tmp_path: Path) -> None:
    require(["rexval"], "models/judge", tmp_path)
    require([], SERVER, tmp_path)
    require(["rexval"], SERVER, None)


@pytest.mark.parametrize(
    "text",
    [
        ALLOWED.replace("2026", "soon"),
        ALLOWED.replace("signed", "signd"),
        ALLOWED.replace("signed: Data office\n", ""),
        ALLOWED.replace("date: ", "date: 2026-02-30 #"),
        "- a list\n",
        "corpus: [\n",
    ],
)
def test_what_is_no_statement_is_refused_by_its_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(StatementError) as caught:
        require(["rexval"], SERVER, _stated(tmp_path, text))
    assert caught.value.where == "statements/one.yml"
