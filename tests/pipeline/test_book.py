"""What a book that Jupyter Book does not finish says of the cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.pipeline import book

CRASH = """\
Traceback (most recent call last):
sphinx.errors.ExtensionError: Handler threw an exception (exception: Invalid character 'l' position 0

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
RuntimeError:
===============

There was an error in building your book. Look above for the cause.
"""
WARNING = "build/smoke/book/one.md:59: WARNING: undefined label: 'fig-one'\n" + CRASH


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (WARNING, "one.md:59: WARNING: undefined label: 'fig-one'"),
        (CRASH, "sphinx.errors.ExtensionError: Handler threw an exception"),
        ("Killed\n\n", "Killed"),
        ("", "printed nothing"),
    ],
)
def test_what_stopped_the_book_is_named(
    log: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "stage", lambda *_, **__: False)
    monkeypatch.setattr(book, "run_jupyter_book", lambda _, file: bool(file.write_text(log)) and False)
    with pytest.raises(book.BookError) as raised:
        book.render(tmp_path, judge=False)
    assert cause in str(raised.value)
    assert "direct cause" not in str(raised.value)
