"""A papermill engine with limits on run time and output."""

from __future__ import annotations

from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, papermill_engines

from radeval_lib.errors import NotebookError
from radeval_lib.study.profiles import Limits

NAME = "limited"


class _Client(PapermillNotebookClient):
    """Counts what cells put out, in characters, and gives up the kernel when it is too much."""

    def __init__(self, *given: Any, most: int, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.most, self.received = most, 0

    def process_message(self, msg: dict[str, Any], *given: Any, **named: Any) -> Any:
        self.received += _size(msg["content"])
        if self.too_much:
            self.task_poll_for_reply.cancel()  # which nbclient takes for a dead kernel, and shuts it down
            return None
        return super().process_message(msg, *given, **named)

    async def _async_handle_timeout(self, timeout: int, cell: Any = None) -> Any:
        self.shutdown_kernel = "immediate"  # it is busy and would not answer
        return await super()._async_handle_timeout(timeout, cell)

    @property
    def too_much(self) -> bool:
        return self.received > self.most


def _size(content: dict[str, Any]) -> int:
    """Return characters of a message from the kernel, of a stream or of data to show."""
    data = content.get("data", {})
    return len(content.get("text", "")) + sum(len(str(value)) for value in data.values())


class LimitedEngine(Engine):
    """papermill's own way to run a notebook, within limits."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, *, where: str, limits: Limits, **settings: Any
    ) -> None:
        """Run the notebook ``where``, which messages name.

        Raises
        ------
        NotebookError
            If a cell runs too long, or all cells put out too much.
        DeadKernelError
            If the kernel dies by itself.
        """
        known = ("kernel_manager_class", "config", "resources")
        client = _Client(
            nb_man,
            most=limits.output_megabytes * 1_000_000,
            kernel_name=kernel_name,
            timeout=limits.cell_minutes * 60,
            startup_timeout=limits.start_seconds,
            **{key: value for key, value in settings.items() if key in known},
        )
        try:
            client.execute()
        except CellTimeoutError:
            raise NotebookError(
                f"a cell ran for more than {limits.cell_minutes} minutes",
                where,
                "Correct it, or raise `limits: cell_minutes` in the profile.",
            ) from None
        except DeadKernelError:
            if not client.too_much:
                raise
            raise NotebookError(
                f"it put out more than {limits.output_megabytes} MB",
                where,
                "Print less, or raise `limits: output_megabytes` in the profile.",
            ) from None


papermill_engines.register(NAME, LimitedEngine)
