"""What work that takes long keeps of itself, so that it goes on after a kill: one folder, replaced whole.

Weights stand there as safetensors, all else as JSON. What other data, settings, code or packages left is
thrown away, and so is what is damaged: work either goes on, and ends with the bytes of work that was never
disturbed, or starts over.
"""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from radeval_lib import atomic, checksums

if TYPE_CHECKING:
    import torch

SECONDS = "RADEVAL_CHECKPOINT_SECONDS"
"""Environment variable: so much work, in seconds, may be lost; what is done sooner is never kept."""
_DEFAULT = 300.0
_SHARE = 0.04  # of the time, which writing may take at most
_ABOUT = "about.json"
_LOG = logging.getLogger(__name__)

Tensors = Mapping[str, "torch.Tensor"]


class Checkpoint:
    """The last state of one piece of work; ``what`` names it and all that it depends on, as JSON can."""

    def __init__(self, folder: Path, what: Mapping[str, Any]) -> None:
        self.folder = folder
        self._what = json.loads(json.dumps(what))
        self._since, self._cost = time.monotonic(), 0.0

    def due(self) -> bool:
        """Whether so much was done since the last one that it is time for another."""
        wait = max(float(os.environ.get(SECONDS) or _DEFAULT), self._cost / _SHARE)
        return time.monotonic() - self._since >= wait

    def write(self, state: Mapping[str, Any], **tensors: Tensors) -> None:
        """Put this in place of what was kept; tensors, on any device, get files of their own by name."""
        from safetensors.torch import save_file

        began = time.monotonic()
        with atomic.new_folder(self.folder) as new:
            for name, held in tensors.items():
                plain = {key: one.detach().cpu().contiguous() for key, one in held.items()}
                save_file(plain, new / f"{name}.safetensors")
            sums = {path.name: checksums.of_file(path) for path in sorted(new.iterdir())}
            about = {"what": self._what, "sha256": sums, "state": state}
            (new / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        self._since = time.monotonic()
        self._cost = self._since - began

    def read(self) -> tuple[dict[str, Any], dict[str, dict[str, torch.Tensor]]] | None:
        """The state and the tensors that were kept of this very work; None where there are none."""
        from safetensors.torch import load_file

        try:
            about = json.loads((self.folder / _ABOUT).read_text(encoding="utf-8"))
            sums: dict[str, str] = about["sha256"]
            if about["what"] == self._what:
                if all(checksums.of_file(self.folder / name) == expected for name, expected in sums.items()):
                    held = {name.partition(".")[0]: load_file(self.folder / name) for name in sums}
                    return about["state"], held
                raise ValueError("a file is not as it was written")
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s starts over: its checkpoint is damaged (%s)", self.folder.name, error)
        shutil.rmtree(self.folder, ignore_errors=True)
        return None


def learned(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """What training changes in a module: parameters that take gradients, each once, and buffers."""
    found = {name: one.detach() for name, one in module.named_parameters() if one.requires_grad}
    return {**found, **dict(module.named_buffers())}


def put_back(module: torch.nn.Module, held: Tensors) -> None:
    """Give a module what it had learned; names and shapes are those of :func:`learned`."""
    for name, one in learned(module).items():
        one.copy_(held[name])


def packed(optimizer: Any) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The state of an optimizer: its tensors by name, and the rest."""
    state = optimizer.state_dict()
    held = {f"{at} {name}": one for at, row in state["state"].items() for name, one in row.items()}
    return held, {"param_groups": state["param_groups"]}


def unpack(optimizer: Any, held: Tensors, rest: Mapping[str, Any]) -> None:
    """Give an optimizer the state of :func:`packed`."""
    rows: dict[int, dict[str, torch.Tensor]] = {}
    for key, one in held.items():
        at, _, name = key.partition(" ")
        rows.setdefault(int(at), {})[name] = one
    optimizer.load_state_dict({"state": rows, **rest})


def chance() -> dict[str, Any]:
    """Where the random numbers of Python, numpy and torch stand."""
    import torch

    numpy: Any = np.random.get_state()
    return {
        "python": random.getstate(),
        "numpy": [numpy[0], numpy[1].tolist(), *numpy[2:]],
        "torch": torch.get_rng_state().tolist(),
        "cuda": [one.tolist() for one in torch.cuda.get_rng_state_all()] if torch.cuda.is_available() else [],
    }


def set_chance(held: Mapping[str, Any]) -> None:
    """Let them go on from there."""
    import torch

    version, keys, following = held["python"]
    random.setstate((version, tuple(keys), following))
    np.random.set_state(tuple(held["numpy"]))
    torch.set_rng_state(torch.tensor(held["torch"], dtype=torch.uint8))
    if held["cuda"]:
        torch.cuda.set_rng_state_all([torch.tensor(one, dtype=torch.uint8) for one in held["cuda"]])
