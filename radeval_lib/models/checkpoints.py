"""Resumable checkpoints: the state of one long computation, in one folder that is replaced atomically.

Its state stands there in a file that torch reads without running code (``weights_only``). What other data,
settings, code or packages left is thrown away, and so is what is damaged: work either goes on, and ends with
the bytes of work that was never disturbed, or starts over.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib import atomic, checksums
from radeval_lib.errors import ModelError

if TYPE_CHECKING:
    import torch

SECONDS = "RADEVAL_CHECKPOINT_SECONDS"
"""Environment variable: so much work, in seconds, may be lost; what is done sooner is never kept."""
_DEFAULT = 300.0  # seconds, where the variable is not set
_SHARE = 0.04  # of the time, which writing may take at most
_ABOUT, _STATE = "about.json", "state.pt"
_LOG = logging.getLogger(__name__)


class Checkpoint:
    """The last state of one piece of work; ``what`` names it and all that it depends on, as JSON can.

    A :class:`ModelError` where :data:`SECONDS` is not a number.
    """

    def __init__(self, folder: Path, what: Mapping[str, Any]) -> None:
        self.folder = folder
        given = os.environ.get(SECONDS) or _DEFAULT
        try:
            self._seconds = float(given)
        except ValueError:
            wrong = f"{SECONDS} is {given!r}"
            raise ModelError(wrong, "environment", "Give a number of seconds.") from None
        self._fingerprint = json.loads(json.dumps(what))
        self._since, self._cost = time.monotonic(), 0.0

    def due(self) -> bool:
        """Whether so much was done since the last one that it is time for another."""
        wait = max(self._seconds, self._cost / _SHARE)
        return time.monotonic() - self._since >= wait

    def write(self, state: Mapping[str, Any]) -> None:
        """Put this in place of what was kept: tensors, texts, numbers, lists, tuples and dicts of these."""
        import torch

        began = time.monotonic()
        with atomic.new_folder(self.folder) as new:
            torch.save(dict(state), new / _STATE)
            about = {"what": self._fingerprint, "sha256": checksums.of_file(new / _STATE)}
            (new / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        self._since = time.monotonic()
        self._cost = self._since - began

    def read(self) -> dict[str, Any] | None:
        """The state that was kept of this very work, tensors on the CPU; None where there is none."""
        import torch

        try:
            about = json.loads((self.folder / _ABOUT).read_text(encoding="utf-8"))
            if about["what"] == self._fingerprint:
                if about["sha256"] != checksums.of_file(self.folder / _STATE):
                    raise ValueError("it is not as it was written")
                state: dict[str, Any] = torch.load(
                    self.folder / _STATE, map_location="cpu", weights_only=True
                )
                return state
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s starts over: its checkpoint is damaged (%s)", self.folder.name, error)
        shutil.rmtree(self.folder, ignore_errors=True)
        return None


def trainable_state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The trainable state of a module: parameters that take gradients, each once, and buffers."""
    found = {name: one.detach() for name, one in module.named_parameters() if one.requires_grad}
    return {**found, **dict(module.named_buffers())}


def load_trainable_state(module: torch.nn.Module, held: Mapping[str, torch.Tensor]) -> None:
    """Restore a module from a state; names and shapes are those of :func:`trainable_state`."""
    for name, one in trainable_state(module).items():
        one.copy_(held[name])
