"""Remarks about tensors: the mask that a layer gives its output, the logits that probabilities are made of.

A tensor has no place for them; so they are kept in a table, as long as the tensor lives.

>>> from agc import runtime as tf
>>> x = tf.constant([1.0])
>>> masks = Notes()
>>> masks[x] = "a mask"
>>> masks.get(x), masks.get(tf.constant([1.0]))
('a mask', None)
"""

from __future__ import annotations

import weakref
from typing import Any


class Notes:
    """One kind of remark: `notes[tensor] = remark`, `notes.get(tensor)`; None where there is none."""

    def __init__(self) -> None:
        self._remarks: dict[int, tuple[Any, Any]] = {}

    def __setitem__(self, tensor: Any, remark: Any) -> None:
        key = id(tensor)
        remarks = self._remarks
        remarks[key] = weakref.ref(tensor, lambda _: remarks.pop(key, None)), remark

    def __delitem__(self, tensor: Any) -> None:
        if self.get(tensor) is not None:
            del self._remarks[id(tensor)]

    def get(self, tensor: Any) -> Any:
        """The remark about this very tensor."""
        found = self._remarks.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None


masks = Notes()
"""Which steps of a sequence count: bool tensors, of layers such as `Embedding(mask_zero=True)`."""

logits = Notes()
"""What `softmax` and `sigmoid` were computed of: a crossentropy of their results is more exact with it."""
