"""An Otter plugin that limits the total time of a notebook while it is graded."""

from __future__ import annotations

import os
import re
import signal
from types import FrameType
from typing import Any

from nbformat.v4 import new_code_cell
from otter.plugins import AbstractOtterPlugin

SECONDS = "RADBOOK_LAB_SECONDS"
"""Environment variable with the limit in seconds; by default, 120."""
# Seconds between interruptions after the limit: how long each further test or cell may run.
_REPEAT_SECONDS = 5.0
_CELL = re.compile(r"ipykernel_\d+")  # part of the file name of a cell's code
_LAST_CELL_NAME = "check_if_not_already_checked"  # a name in Otter's last cell, which writes the results


class OutOfTimeError(Exception):
    """The end of a notebook's time, raised in the running cell or in a function that a test calls."""


class TimeLimit(AbstractOtterPlugin):
    """A plugin that interrupts the running cell when the notebook reaches its time limit.

    The tests still run; answers that are not defined by then count as missing.
    """

    def before_execution(self, submission: Any) -> Any:
        """Return the submission with a first cell that starts the time limit."""
        code = "from radeval_lib.labs.time_limit import start_time_limit\nstart_time_limit"
        submission.cells.insert(0, new_code_cell(f"{code}({os.environ.get(SECONDS, 120)})"))
        return submission


def start_time_limit(seconds: int) -> None:
    """Make the notebook's running code raise OutOfTimeError after ``seconds`` seconds, then every 5 s."""

    def interrupt(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            if _CELL.search(frame.f_code.co_filename) and _LAST_CELL_NAME not in frame.f_code.co_names:
                raise OutOfTimeError(f"the notebook took over {seconds} seconds; make its code faster")
            frame = frame.f_back

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_SECONDS)
