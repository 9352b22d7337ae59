"""The table of operations that take ragged tensors, and their implementations."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

ON_ELEMENTS: Mapping[str, int] = {
    "as_string": 1, "bitcast": 1, "cast": 1, "check_numerics": 1, "clip_by_value": 3, "complex": 2, "divide": 2,
    "divide_no_nan": 2, "dropout": 1, "elu": 1, "gelu": 1, "identity": 1, "imag": 1, "leaky_relu": 1, "ones_like": 1,
    "real": 1, "regex_full_match": 1, "regex_replace": 1, "relu": 1, "relu6": 1, "saturate_cast": 1, "selu": 1,
    "sigmoid_cross_entropy_with_logits": 2, "silu": 1, "softsign": 1, "stop_gradient": 1, "string_length": 1,
    "string_lower": 1, "string_strip": 1, "string_to_number": 1, "string_upper": 1, "substr": 1, "to_hash_bucket": 1,
    "to_hash_bucket_fast": 1, "to_hash_bucket_strong": 1, "unicode_transcode": 1, "where": 3, "zeros_like": 1,
}  # fmt: skip
"""Elementwise operations that are no `Elementwise`, with the number of leading arguments that are elements."""

_MODULES = ("concat_stack", "misc_ops", "gather_and_mask", "reductions")
"""Modules with a table `OPERATIONS`."""


def every() -> Iterator[Mapping[str, Callable[..., Any]]]:
    """Yield the tables of all modules."""
    for module in _MODULES:
        yield importlib.import_module(f"{__package__}.{module}").OPERATIONS
