"""One limit of time for a whole notebook while Otter grades it, as a plugin of Otter."""

from __future__ import annotations

import os
import re
import signal
from types import FrameType
from typing import Any

from nbformat.v4 import new_code_cell
from otter.plugins import AbstractOtterPlugin

SECONDS = "RADBOOK_LAB_SECONDS"
"""The environment variable that sets the limit; 120 if it is not set."""
_AGAIN = 5.0  # seconds until the next interruption: a test of what is defined has so long, later cells too
_CELL = re.compile(r"ipykernel_\d+")  # in the file name of a cell's code
_OTTERS_LAST = "check_if_not_already_checked"  # in Otter's last cell, which writes the results


class OutOfTimeError(Exception):
    """The interruption of a cell, or of a function that a test calls, when the notebook's time is used up."""


class TimeLimit(AbstractOtterPlugin):
    """Interrupts running code when the limit is used up. Tests of what is defined continue; anything not
    defined by then counts as missing."""

    def before_execution(self, submission: Any) -> Any:
        """Return the submission after a cell that starts the limit."""
        start = "from radeval_lib.labs.time_limit import start_time_limit\nstart_time_limit"
        submission.cells.insert(0, new_code_cell(f"{start}({os.environ.get(SECONDS, 120)})"))
        return submission


def start_time_limit(seconds: int) -> None:
    """Raise an OutOfTimeError in the notebook's code after ``seconds`` seconds, then every 5."""

    def interrupt(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            if _CELL.search(frame.f_code.co_filename) and _OTTERS_LAST not in frame.f_code.co_names:
                raise OutOfTimeError(f"the notebook's limit of {seconds} seconds is used up")
            frame = frame.f_back

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
