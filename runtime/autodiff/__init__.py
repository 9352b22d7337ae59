"""Reverse-mode differentiation: a backward sweep over the records of a tape, by the VJP of each operation.

    with GradientTape() as tape:            records        y = multiply x, x
        y = x * x                                          z = sin y
        z = sin(y)
    tape.gradient(z, x)                     sweep          dz → dy = dz * cos(y) → dx = dy * x + dy * x

VJPs consist of operations, so a gradient can be recorded, traced and differentiated again.
"""
# Namespace autodiff: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from .forward_mode import ForwardAccumulator
from .graph_gradients import gradients, hessians
from .tape import GradientTape
from .targets import UnconnectedGradients

__all__ = [
    "ForwardAccumulator", "GradientTape", "UnconnectedGradients", "custom_gradient", "grad_pass_through",
    "gradients", "hessians", "recompute_grad",
]

_explain(__name__)
