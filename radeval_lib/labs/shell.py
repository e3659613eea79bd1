"""The shell that runs a submission's cells: of a notebook's own kind, but what fails for lack of a network, a
display or a package leaves a remark."""

from __future__ import annotations

from typing import Any

import matplotlib
import matplotlib.pyplot  # before the shell chooses a backend
from ipykernel.inprocess.ipkernel import InProcessInteractiveShell, InProcessKernel
from IPython.core.error import UsageError
from IPython.core.history import HistoryManager
from traitlets import Type

_INSTALLERS = ("pip", "conda", "mamba", "micromamba", "uv")


class RemarkingShell(InProcessInteractiveShell):
    """Skips magics, commands and backends of matplotlib that fail; their cell goes on without them.

    Attributes
    ----------
    remarks : a line on each that was skipped, or failed.
    """

    remarks: list[str]

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """What the magic gives; None, and a remark, where it fails or would install something."""
        if magic_name in _INSTALLERS:
            self.remarks.append(f"%{magic_name} was skipped: nothing is installed here")
            return None
        try:
            return super().run_line_magic(magic_name, line, _stack_depth=_stack_depth + 1)
        except Exception as error:
            self.remarks.append(f"%{magic_name} was skipped: {error}")
            return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """What the magic gives; None, and a remark, where there is no such magic."""
        try:
            return super().run_cell_magic(magic_name, line, cell)
        except UsageError as error:
            self.remarks.append(f"a cell of %%{magic_name} was skipped: {error}")
            return None

    def system(self, cmd: str) -> None:
        """Run a command; a remark where it fails."""
        try:
            self.system_piped(cmd)
        except Exception as error:
            self.remarks.append(f"!{cmd} was skipped: {error}")
        else:
            if code := self.user_ns.get("_exit_code"):
                self.remarks.append(f"!{cmd} failed ({code}), without a network here")


class _Kernel(InProcessKernel):
    shell_class = Type(RemarkingShell)


def kernel_shell() -> RemarkingShell:
    """A shell without a history, in whose process matplotlib keeps its backend if another cannot be had."""
    HistoryManager.enabled = False  # type: ignore[assignment]
    shell: Any = _Kernel().shell
    shell.remarks = []
    choose = matplotlib.use

    def use(backend: str, *, force: bool = True) -> None:
        try:
            choose(backend, force=force)
        except ImportError as error:
            shell.remarks.append(f"matplotlib.use was skipped: {error}")

    matplotlib.use = use
    return shell
