"""Where a model computes, and how precisely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from radeval_lib.errors import ModelError, check_choice

if TYPE_CHECKING:
    import torch


def device_of(device: str) -> torch.device:
    """Let ``auto`` take the GPU where there is one."""
    import torch

    if device not in ("auto", "cpu", "cuda"):
        raise ModelError(f"unknown device {device!r}", "device", "Choices: auto, cpu, cuda.")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ModelError("no GPU that torch can use", "device", "Use device=auto or device=cpu.")
    return torch.device(device)


Precision = Literal["auto", "float32", "bfloat16"]


def precision_of(device: torch.device, precision: Precision) -> Precision:
    """Return what a model computes in: ``auto`` takes bfloat16 on a GPU and float32 on a CPU."""
    check_choice(precision, Precision, "precision", ModelError)
    if precision == "auto":
        return "bfloat16" if device.type == "cuda" else "float32"
    return precision
