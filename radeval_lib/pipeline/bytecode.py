"""Hash-based validation of Python's compiled modules.

By itself it compares times and sizes, and would run the old code of a module that was replaced by one of the
same size with the same time.
"""

from __future__ import annotations

import py_compile
from contextlib import suppress
from importlib.util import cache_from_source
from itertools import chain
from pathlib import Path

from radeval_lib.paths import NOTEBOOKS, ROOT

_BY_CONTENT = (3).to_bytes(4, "little")  # PEP 552: compiled code that is checked by a digest of its source


def compare_contents() -> None:
    """Compile every module of the library, and those beside notebooks, so, where it is not yet; Python keeps
    it so from then on."""
    for source in chain((ROOT / "radeval_lib").rglob("*.py"), NOTEBOOKS.rglob("*.py")):
        # A folder that cannot be written to, or a module that does not parse: the import reports it.
        with suppress(OSError, py_compile.PyCompileError):
            if not _is_by_content(Path(cache_from_source(str(source)))):
                py_compile.compile(
                    str(source), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
                )


def _is_by_content(compiled: Path) -> bool:
    with suppress(FileNotFoundError), compiled.open("rb") as stream:
        return stream.read(8)[4:] == _BY_CONTENT
    return False
