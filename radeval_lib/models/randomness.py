"""The random number generators of this process: drawn from a seed for a while, or kept and restored."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from ``seed`` on the CPU, where new weights are drawn; after the block, torch draws what
    it would have drawn without it."""
    import torch

    held = torch.get_rng_state()
    torch.default_generator.manual_seed(int(seed))
    try:
        yield
    finally:
        torch.set_rng_state(held)


def rng_state() -> dict[str, Any]:
    """Return the states of the random number generators of Python, numpy and torch."""
    import torch

    numpy: Any = np.random.get_state()
    return {
        "python": random.getstate(),
        "numpy": (numpy[0], numpy[1].tolist(), *numpy[2:]),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def set_rng_state(held: Mapping[str, Any]) -> None:
    """Restore the generators to what :func:`rng_state` gave."""
    import torch

    random.setstate(held["python"])
    np.random.set_state(held["numpy"])
    torch.set_rng_state(held["torch"])
    if held["cuda"]:
        torch.cuda.set_rng_state_all(held["cuda"])
