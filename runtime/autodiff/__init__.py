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

from ..core.missing_names import explain as _explain, places as _places


_LATE = _places({
    ".custom_gradients": "custom_gradient grad_pass_through recompute_grad",
    ".forward_mode": "ForwardAccumulator",
    ".graph_gradients": "gradients hessians",
    ".tape": "GradientTape",
    ".targets": "UnconnectedGradients",
})

__all__ = [
    *_LATE,
]

_explain(__name__, late=_LATE)
