"""Faster linear layers on a CPU: weights laid out once as oneDNN wants them.

torch multiplies through MKL by default, which on some processors (AMD's among them) takes a slow path;
oneDNN with packed weights is about twice as fast there. The sums are the same up to the order of their terms.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_LOG = logging.getLogger(__name__)
_TOLERANCE = 1e-4


def pack(module: torch.nn.Module) -> int:
    """Let the linear layers of ``module`` use packed weights wherever inference on a CPU calls them.

    Each layer is tried on random numbers first and left as it is if its results differ by more than
    rounding, or if this build of torch cannot do it. The weights themselves stay, for saving and training.
    """
    import torch

    if not torch.backends.mkldnn.is_available():
        return 0
    return sum(_packed(layer) for layer in module.modules() if type(layer) is torch.nn.Linear)


def _packed(layer: torch.nn.Linear) -> bool:
    import torch

    weight, bias, plain = layer.weight, layer.bias, layer.forward
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return False
    try:
        with torch.inference_mode():
            packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach().clone(), None)
            # A generator of its own, so that no other random choice changes.
            sample = torch.randn(3, layer.in_features, generator=torch.Generator().manual_seed(0))
            tried = torch.ops.mkldnn._linear_pointwise(sample, packed, bias, "none", [], "")
            usual = plain(sample)
    except (RuntimeError, NotImplementedError, AttributeError, TypeError) as error:
        _LOG.debug("linear layer left as it is: %s", error)
        return False
    if not torch.allclose(tried, usual, rtol=_TOLERANCE, atol=_TOLERANCE * float(usual.abs().max())):
        return False

    def forward(x: torch.Tensor) -> torch.Tensor:
        usable = torch.is_inference_mode_enabled() and x.device.type == "cpu" and x.dtype == torch.float32
        if not usable or not x.numel():
            return plain(x)
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")
        return result

    layer.forward = forward  # type: ignore[method-assign, assignment]
    return True
