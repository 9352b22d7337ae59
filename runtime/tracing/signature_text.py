"""Signatures of traced functions as text.

my_relu(x, alpha=0.1)
  Args:
    x: float32 Tensor, shape=(2,)
  Returns:
    float32 Tensor, shape=(2,)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import nest
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the call as text: tensors as the parameter's name, Python values with the value of the trace."""
    texts = [key if _holds_spec(value) else f"{key}={value!r}" for key, value in arguments.items()]
    return f"{name}({', '.join(texts)})"


def _holds_spec(value: Any) -> bool:
    return any(isinstance(leaf, TypeSpec) for leaf in nest.flatten(value))


def signature_text(name: str, arguments: Mapping[str, Any], results: Any) -> str:
    """Return the call, the arguments that are tensors, and the results as text."""
    lines = [call_text(name, arguments)]
    tensors = {key: value for key, value in arguments.items() if _holds_spec(value)}
    if tensors:
        lines.append("  Args:")
        for key, value in tensors.items():
            lines += _entry(f"    {key}: ", value)
    lines.append("  Returns:")
    lines += _entry("    ", results)
    return "\n".join(lines)


def _entry(head: str, value: Any) -> list[str]:
    """Return the lines of a value after `head`; the leaves of a nest get numbers and a line each."""
    if not nest.is_nested(value):
        return [head + _leaf_text(value)]
    flat = nest.flatten(value)
    numbered = nest.pack_sequence_as(value, [_Number(i + 1) for i in range(len(flat))])
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    return [f"{head}{numbered}", *(f"{indent}<{i + 1}>: {_leaf_text(leaf)}" for i, leaf in enumerate(flat))]


class _Number:
    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"<{self.number}>"


def _leaf_text(leaf: Any) -> str:
    if isinstance(leaf, TensorSpec):
        return f"{leaf.dtype.name} Tensor, shape={leaf.shape}"
    return repr(leaf)
