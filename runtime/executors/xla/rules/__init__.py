"""The rules of operations, by families; importing the package registers them."""

from .. import kernel_substitutes, structured
from . import (
    collectives,
    convolution,
    elementwise,
    gather_scatter,
    indexing,
    linalg,
    lists,
    losses,
    padding,
    random,
    reductions,
    refused,
    reshaping,
    state,
    traced_kernels,
    windows,
)

__all__ = [
    "collectives", "convolution", "elementwise", "gather_scatter", "indexing", "kernel_substitutes", "linalg",
    "lists", "losses", "padding", "random", "reductions", "refused", "reshaping", "state", "structured",
    "traced_kernels", "windows",
]  # fmt: skip
