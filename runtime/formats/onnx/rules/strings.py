"""Strings, which ONNX joins, compares, and matches with regular expressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import InexpressibleError
from ..registry import exports
from .shapes import constant


@exports("string_join")
def _(e: Any, operation: Any, *parts: Any) -> Any:
    separator = operation.attrs["separator"]
    between = separator if isinstance(separator, bytes) else str(separator).encode()
    total = parts[0]
    for part in parts[1:]:
        if between:
            total = e("StringConcat", total, e.const(np.array(between, object), dtypes.string))
        total = e("StringConcat", total, part)
    return total


@exports("string_lower", "string_upper")
def _(e: Any, operation: Any, x: Any) -> Any:
    action = "LOWER" if operation.type == "string_lower" else "UPPER"
    flat = e(
        "StringNormalizer", e.reshape(x, [-1]), case_change_action=action, is_case_sensitive=1, locale="C"
    )
    return e.reshape(flat, e.shape_of(x))


@exports("regex_full_match")
def _(e: Any, operation: Any, x: Any, pattern: Any) -> Any:
    text = bytes(constant(pattern, "the pattern").item())
    return e("RegexFullMatch", x, dtype=dtypes.bool_, pattern=text.decode())


@exports("string_to_number")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.cast(x, operation.outputs[0].dtype)


@exports("as_string")
def _(e: Any, operation: Any, x: Any) -> Any:
    plain = {"precision": -1, "scientific": False, "shortest": False, "width": -1, "fill": ""}
    if x.dtype.kind not in "iu" or any(operation.attrs[key] != value for key, value in plain.items()):
        raise InexpressibleError("ONNX writes integers only, without a format")
    return e.cast(x, dtypes.string)
