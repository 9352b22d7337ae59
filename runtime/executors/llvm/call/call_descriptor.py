"""Call descriptors: the tables that drive the native fast path of a call (dispatch_stub.py).

def f(model, x, n): return {"y": …}         f(model, [x], n=3)

names        n
parts        the object model, a list of 1, the object 3; in the list, a tensor
inputs       the array of x, then those of variables: float32[2, 3], float32[3]
results      float32[2], for the tensor, with its kind
program      push "y", push tensor 0, make a dict of 1
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.abstract_value import kind_for
from ....core.argument_pattern import ArgumentPattern
from ....core.fast_path_guard import busy
from ....core.tensor import EagerTensor
from ....core.variable import Variable
from .. import runtime_library
from ..loader import Kernel
from .call_codegen import Row, Words
from .cpython_layout import Method, builtin
from .dispatch_stub import DISPATCH, DISPATCH_HEADER
from .unpack_arguments import IN_DICT, IN_LIST, IN_TUPLE, IS_ALIVE, IS_ARRAY, IS_OBJECT, IS_TENSOR, MOST

_TAKES_ARRAY_AND_KEYWORDS = 0x82  # METH_FASTCALL | METH_KEYWORDS
_DOC = b"call($self, /, *args, **kwargs)\n--\n\nRun the graph for the arguments; trace it first when there is none yet."


_MODES: dict[type, int] = {
    EagerTensor: IS_TENSOR, np.ndarray: IS_ARRAY, object: IS_OBJECT, weakref.ref: IS_ALIVE,
    tuple: IN_TUPLE, list: IN_LIST, dict: IN_DICT,
}  # fmt: skip


def has_room_for(kernel: Kernel, parts: Sequence[ArgumentPattern], program: Sequence[Row]) -> bool:
    """Return whether a call fits the fixed limits on inputs, results, parts and program steps."""
    return max(len(kernel.inputs) + len(kernel.results), len(_all(parts)), len(program)) <= MOST


def _all(parts: Sequence[ArgumentPattern]) -> list[ArgumentPattern]:
    """Return the parts in breadth-first order, nested ones included."""
    found = list(parts)
    for part in found:
        found.extend(part.parts)
    return found


class NativeFastPath:
    """The native fast path for one kind of calls of a function.

    `program` builds the structured result on a stack: it pushes tensors and objects, and makes tuples, lists
    and dicts.
    """

    def __init__(
        self,
        kernel: Kernel,
        parts: Sequence[ArgumentPattern],
        names: Sequence[str],
        variables: Sequence[Variable],
        program: Sequence[Row],
        failed: Callable[..., Any],
        needed: Sequence[Any],
    ) -> None:
        self._method = Method(b"call", runtime_library.address(DISPATCH), _TAKES_ARRAY_AND_KEYWORDS, _DOC)
        self._needed = (variables, needed)
        self._words = words = Words()
        every = _all(parts)
        tensors = sum(part.kind in (EagerTensor, np.ndarray) for part in every)
        outputs = kernel.results[: len(kernel.results) - len(kernel.assigned)]
        kinds = [(words.id(kind_for(spec.dtype, spec.shape)),) for spec in outputs]  # type: ignore[arg-type]
        table = {
            **words.of_kernel(kernel, failed, wraps=True), "positional": len(parts) - len(names), "named": len(names),
            "parts": len(every), "tensors": tensors, "outputs": len(outputs), "program": len(program),
            "busy": id(busy), "tensor": id(EagerTensor), "attribute": words.id(sys.intern("_array")),
            "kind_rows": words.rows(kinds), "name_rows": self._ids(names),
            "part_rows": words.rows(list(map(self._part, every))),
            "variable_rows": words.rows(self._variables(kernel, variables, tensors)),
            "program_rows": words.rows(program),
        }  # fmt: skip
        self._table = np.array([table[name] for name in DISPATCH_HEADER], np.int64)

    def call(self, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """Return the built-in function for the calls; `fallback` handles all other calls."""
        return builtin(self._method, (fallback, self._table, self))

    def _ids(self, things: Sequence[Any]) -> int:
        """Return the address of a table with the addresses of objects."""
        return self._words.rows([(self._words.id(thing),) for thing in things])

    def _part(self, part: ArgumentPattern) -> Row:
        mode = _MODES[part.kind]
        if mode in (IS_OBJECT, IS_ALIVE):
            return mode, 0, self._words.id(part.thing), 0
        keys = self._ids(part.thing) if mode == IN_DICT else 0
        return mode, id(part.kind), keys, len(part.parts) if mode >= IN_TUPLE else part.number

    def _variables(self, kernel: Kernel, variables: Sequence[Variable], tensors: int) -> list[Row]:
        first = len(kernel.results) - len(kernel.assigned)
        new = {place: first + number for number, place in enumerate(kernel.assigned)}
        return [(id(variable), new.get(tensors + i, -1)) for i, variable in enumerate(variables)]
