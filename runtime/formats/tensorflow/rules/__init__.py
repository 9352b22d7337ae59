"""Rules by family of operations; see `rule_registry`."""

from . import (
    arrays,
    convolution,
    images,
    indexing,
    linalg,
    lists,
    math,
    neural,
    pooling,
    ragged,
    randomness,
    reductions,
    signal,
    state,
    strings,
)

__all__ = [
    "arrays", "convolution", "images", "indexing", "linalg", "lists", "math", "neural", "pooling", "ragged",
    "randomness", "reductions", "signal", "state", "strings",
]  # fmt: skip
