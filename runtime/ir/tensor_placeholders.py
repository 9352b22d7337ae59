"""The texts that stand for traced tensors: each tells which tensor it is, so a message can be completed later.

    f"bad value {x}"    →    bad value Tensor("x:0", shape=(), dtype=int32)        while tracing
                        →    bad value -3                                          when the graph fails with it

Within one trace two tensors never have the same text: the second `x` is shown as `x_1:0`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .graph import Value


class Mention(NamedTuple):
    """A tensor in a text, and how it is to be written there: "" as by `str`, "!r" as by `repr`, or ":.3f"."""

    tensor: Any
    form: str


class TensorPlaceholders:
    """What one trace has shown of its tensors."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._mentions: dict[str, Mention] = {}

    def name(self, value: Value) -> str:
        """The name of a value, unlike that of any other value of this trace that was shown."""
        if value not in self._names:
            name, number = value.name, 0
            while name in self._taken:
                number += 1
                name = f"{value.name}_{number}"
            self._taken.add(name)
            self._names[value] = name
        return f"{self._names[value]}:0"

    def text(self, text: str, tensor: Any, form: str) -> str:
        """Remember what a text says; give it back."""
        self._mentions[text] = Mention(tensor, form)
        return text

    def split(self, message: str) -> tuple[list[str], list[Mention]]:
        """The mentions of tensors in a message, and the pieces of text around them."""
        if not any(text in message for text in self._mentions):
            return [message], []
        longest_first = sorted(self._mentions, key=len, reverse=True)
        parts = re.split("(" + "|".join(map(re.escape, longest_first)) + ")", message)
        return parts[::2], [self._mentions[text] for text in parts[1::2]]
