"""Placeholder texts for traced tensors: each is unique, so that a message can be completed at run time.

    f"bad value {x}"    →    bad value Tensor("x:0", shape=(), dtype=int32)        during the trace
                        →    bad value -3                                          when the graph fails with it

Within one trace two tensors never have the same text: the second `x` is shown as `x_1:0`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .graph import Value


class TensorMention(NamedTuple):
    """A tensor in a text, and its format: "" for `str`, "!r" for `repr`, or ":.3f"."""

    tensor: Any
    form: str


class TensorPlaceholders:
    """The placeholder texts of one trace."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._mentions: dict[str, TensorMention] = {}
        self._formatted: dict[str, str] = {}

    def name(self, value: Value) -> str:
        """Return the name of a value, unique among the values of this trace that were shown."""
        if value not in self._names:
            name, number = value.name, 0
            while name in self._taken:
                number += 1
                name = f"{value.name}_{number}"
            self._taken.add(name)
            self._names[value] = name
        return f"{self._names[value]}:0"

    def text(self, text: str, tensor: Any, form: str, where: str = "") -> str:
        """Record that `text` shows a tensor, formatted on the line `where`, and return `text`."""
        self._mentions[text] = TensorMention(tensor, form)
        if where:
            self._formatted.setdefault(text, where)
        return text

    def check_data(self, message: str) -> None:
        """Raise TypeError if a text that becomes a tensor contains a formatted tensor: it lacks the value."""
        for text, where in self._formatted.items():
            if text in message:
                mention = self._mentions[text]
                raise TypeError(
                    f"unsupported format string passed to SymbolicTensor.__format__: {where} formats a traced "
                    f"tensor ({mention.tensor.dtype.name}) with {mention.form[1:]!r}, and the text becomes a tensor. "
                    "Use tf.strings.as_string(x, precision=2, width=8) there; print, assert and raise take the text."
                )

    def split(self, message: str) -> tuple[list[str], list[TensorMention]]:
        """Return the pieces of text in a message, and the mentions of tensors between them."""
        if not any(text in message for text in self._mentions):
            return [message], []
        longest_first = sorted(self._mentions, key=len, reverse=True)
        parts = re.split("(" + "|".join(map(re.escape, longest_first)) + ")", message)
        return parts[::2], [self._mentions[text] for text in parts[1::2]]
