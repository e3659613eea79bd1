"""What a book that Jupyter Book does not finish says of the cause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from radeval_lib.pipeline import book

CRASH = """\
Traceback (most recent call last):
  File "sphinx/events.py", line 109, in emit
    raise ExtensionError(
sphinx.errors.ExtensionError: Handler threw an exception (exception: Invalid character 'l' position 0
  line 1:

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
RuntimeError:
===============

There was an error in building your book. Look above for the cause.

===============
"""
WARNING = "build/smoke/book/one.md:59: WARNING: undefined label: 'fig-one'\n" + CRASH


def writes(text: str) -> Callable[[Path, Path], bool]:
    def run_jupyter_book(output_dir: Path, log: Path) -> bool:
        log.write_text(text, encoding="utf-8")
        return False

    return run_jupyter_book


@pytest.mark.parametrize(
    ("log", "cause", "remedy"),
    [
        (WARNING, "one.md:59: WARNING: undefined label: 'fig-one'", "Correct the page that it names"),
        (CRASH, "sphinx.errors.ExtensionError: Handler threw an exception", "The log has the whole error"),
        ("Killed\n\n", "stopped: Killed", "The log has the whole error"),
        ("", "stopped: it printed nothing", "The log has the whole error"),
    ],
)
def test_what_stopped_the_book_is_named(
    log: str, cause: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "stage", lambda *_, **__: False)
    monkeypatch.setattr(book, "run_jupyter_book", writes(log))
    with pytest.raises(book.BookError) as raised:
        book.render(tmp_path, judge=False)
    assert cause in str(raised.value)
    assert remedy in str(raised.value)
    assert "direct cause" not in str(raised.value)
