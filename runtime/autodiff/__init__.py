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


_LATE = {
    "ForwardAccumulator": ".forward_mode",
    "GradientTape": ".tape",
    "UnconnectedGradients": ".targets",
    "custom_gradient": ".custom_gradients",
    "grad_pass_through": ".custom_gradients",
    "gradients": ".graph_gradients",
    "hessians": ".graph_gradients",
    "recompute_grad": ".custom_gradients",
}

__all__ = [
    *_LATE,
]

_explain(__name__, late=_LATE)
