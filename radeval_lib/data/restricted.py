"""Restricted text, which code may compute on but not show, and its removal from the outputs of runs.

An exception of Python or of a library may repeat a value (``could not convert string to float: '<a
report>'``), and a cell may print text before the guard searches the build. So if a run that can read
restricted text fails, its outputs are neither kept nor shown, unless the error is from
:mod:`radeval_lib.errors` or :mod:`radeval_lib.data.errors`, whose messages contain no text from data. A
metric's or judge's reason for not scoring a text is withheld, too.
"""

from __future__ import annotations

from typing import Any, NoReturn

from radeval_lib import errors
from radeval_lib.data import errors as data_errors
from radeval_lib.data.errors import RestrictedTextError

WITHHELD = "Withheld: restricted data were within reach of this run."


class RestrictedText:
    """Text from a data set (``source``) that may not be redistributed.

    It can be compared and hashed, and its length taken. Printing, formatting, indexing, copying, pickling or
    exporting it raises :class:`RestrictedTextError`; code that computes on the text calls :meth:`reveal`.
    """

    __slots__ = ("_text", "source")

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self.source = source

    def reveal(self) -> str:
        """Return the text itself, for computation only: no page or file may contain it."""
        return self._text

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Raise a RestrictedTextError, whatever the arguments."""
        raise RestrictedTextError(
            f"text of {self.source!r} may not be redistributed, so it is not shown or exported",
            remedy="Show numbers computed from it; to compute on the text, call its method reveal().",
        )

    __str__ = __repr__ = __format__ = __bytes__ = __fspath__ = _refuse
    __iter__ = __getitem__ = __add__ = __radd__ = __reduce_ex__ = __copy__ = __deepcopy__ = _refuse
    _repr_html_ = _repr_mimebundle_ = _repr_pretty_ = _ipython_display_ = _refuse

    def __len__(self) -> int:
        return len(self._text)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RestrictedText):
            return self._text == other._text
        return NotImplemented

    def __hash__(self) -> int:
        return hash((RestrictedText, self._text))


Text = str | RestrictedText


def reveal(text: Text) -> str:
    """Return ``text`` as a string, whether it is restricted or not; use it for computation only."""
    return text.reveal() if isinstance(text, RestrictedText) else text


def mark_restricted(text: str, source: str, *, restricted: bool = True) -> Text:
    """Return ``text`` as a :class:`RestrictedText` of the data set ``source``.

    If ``restricted`` is False, the string itself is returned, so that a loader of a set with both kinds of
    files needs only this call.
    """
    return RestrictedText(text, source) if restricted else text


def is_safe_error(name: str) -> bool:
    """Return whether ``name`` names an error class whose messages contain no text from data.

    The safe classes are those of :mod:`radeval_lib.errors` and :mod:`radeval_lib.data.errors`.
    """
    classes = [getattr(module, name, None) for module in (errors, data_errors)]
    return any(isinstance(cls, type) and issubclass(cls, errors.RadevalError) for cls in classes)


def withhold_outputs(notebook: Any) -> None:
    """Replace the outputs of every code cell of an nbformat notebook, in place, with :data:`WITHHELD`."""
    import nbformat  # Imported here, because only the code that runs notebooks needs it.

    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.outputs:
            cell.outputs = [nbformat.v4.new_output("stream", name="stderr", text=WITHHELD)]
