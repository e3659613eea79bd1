"""Restricted text, which may be computed on but not shown; and the outputs of a run that can read such text.

An exception of Python or of a library may repeat a value (``could not convert string to float: '<a
report>'``), and a cell may have printed anything before the guard could read it. So if such a run fails, its
outputs are neither kept nor shown. Only errors of :mod:`radeval_lib.errors` and
:mod:`radeval_lib.data.errors` are, because they hold no text of data; a metric's or judge's reason for not
scoring a text is withheld too.
"""

from __future__ import annotations

from typing import Any, NoReturn

from radeval_lib import errors
from radeval_lib.data import errors as data_errors
from radeval_lib.data.errors import RestrictedTextError

WITHHELD = "Withheld: restricted data were within reach of this run."


class RestrictedText:
    """Text from a data set that may not be redistributed.

    It can be compared, hashed and measured. Printing, formatting, pickling or exporting it raises
    :class:`RestrictedTextError`; :meth:`reveal` gives the text to code that computes on it.
    """

    __slots__ = ("_text", "source")

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self.source = source

    def reveal(self) -> str:
        """Return the text itself, for a computation that must not carry it to a page or a file."""
        return self._text

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise RestrictedTextError(
            f"text of {self.source!r} may not be redistributed, so it is not shown or exported",
            remedy="Show numbers computed from it; code that computes on the text calls .reveal().",
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
    """Return the plain text of ``text``, whether it is restricted or not, for computation."""
    return text.reveal() if isinstance(text, RestrictedText) else text


def mark(text: str, source: str, restricted: bool) -> Text:
    """Return ``text``, as a :class:`RestrictedText` of the data set ``source`` if ``restricted`` is true."""
    return RestrictedText(text, source) if restricted else text


def is_safe_error(name: str) -> bool:
    """Return whether ``name`` is an error class without text of data: one of :mod:`radeval_lib.errors` or
    :mod:`radeval_lib.data.errors`."""
    kinds = [getattr(module, name, None) for module in (errors, data_errors)]
    return any(isinstance(kind, type) and issubclass(kind, errors.RadevalError) for kind in kinds)


def without_outputs(notebook: Any) -> None:
    """Replace the outputs of each of a notebook's cells by :data:`WITHHELD`, in place."""
    import nbformat  # here, since only what runs notebooks needs it

    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.outputs:
            cell.outputs = [nbformat.v4.new_output("stream", name="stderr", text=WITHHELD)]
