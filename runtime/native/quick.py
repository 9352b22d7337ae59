"""The shortest way from a call to a kernel: the table that says what the built-in function looks at (dispatch.py).

def f(model, x, n): return {"y": …}         f(model, x, 3)

arguments    the object model, a tensor, the object 3
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

from ..busy import busy
from ..ir.specs import Spec
from ..kinds import kind_for
from ..tensor import EagerTensor
from ..variable import Variable
from .dispatch import (
    HEADER,
    IS_ALIVE,
    IS_OBJECT,
    IS_TENSOR,
    MOST,
    dispatcher,
)  # fmt: skip
from .loading import Kernel, builtin
from .memory import LARGEST, Spares, size_of
from .objects import Method

_TAKES_ARRAY_AND_KEYWORDS = 0x82  # METH_FASTCALL | METH_KEYWORDS
_DOC = b"call($self, /, *args, **kwargs)\n--\n\nRun the graph for the arguments; trace it first when there is none yet."

TENSOR = object()
"""Stands for an argument that is a tensor."""

Row = tuple[int, ...]


def has_room_for(kernel: Kernel, program: Sequence[Row]) -> bool:
    """Whether a kernel has no more inputs and results than a call can have, and gives arrays that can be kept."""
    count = max(len(kernel.inputs) + len(kernel.results), len(program))
    return count <= MOST and all(size_of(spec) <= LARGEST for spec in kernel.results)


class Quick:
    """One kind of calls of a function. `program` puts the results together: tensors, objects, and how many of them
    become a tuple, a list or a dict."""

    def __init__(
        self,
        kernel: Kernel,
        arguments: Sequence[Any],
        variables: Sequence[Variable],
        program: Sequence[Row],
        failed: Callable[..., Any],
        needed: Sequence[Any],
    ) -> None:
        address, code = dispatcher()
        self._method = Method(b"call", address, _TAKES_ARRAY_AND_KEYWORDS, _DOC)
        self._needed = [kernel, code, failed, variables, needed]
        self._rows: list[Any] = []
        tensors = sum(argument is TENSOR for argument in arguments)
        words = {
            "kernel": kernel.address, "is_long": kernel.is_long, "arguments": len(arguments), "tensors": tensors,
            "inputs": len(kernel.inputs), "results": len(kernel.results),
            "outputs": len(kernel.results) - len(kernel.assigned), "failed": id(failed), "program": len(program),
            "busy": id(busy), "tensor": id(EagerTensor), "ndarray": id(np.ndarray),
            "attribute": self._id(sys.intern("_array")),
            "argument_rows": self._table([self._argument(each) for each in arguments]),
            "variable_rows": self._table(self._variables(kernel, variables, tensors)),
            "input_rows": self._table([self._input(spec) for spec in kernel.inputs]),
            "result_rows": self._table(self._results(kernel)),
            "program_rows": self._table(program),
        }  # fmt: skip
        self._head = np.array([words[name] for name in HEADER], np.int64)

    def call(self, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """The built-in function; `fallback` has all other calls."""
        return builtin(self._method, (fallback, self._head, self))

    def _table(self, rows: Sequence[Row]) -> int:
        """Where such rows stand."""
        made = np.array(rows, np.int64) if rows else np.zeros(1, np.int64)
        self._rows.append(made)
        return made.ctypes.data

    def _id(self, thing: Any) -> int:
        """The address of an object that is kept."""
        self._needed.append(thing)
        return id(thing)

    def _argument(self, argument: Any) -> Row:
        if argument is TENSOR:
            return IS_TENSOR, 0
        return IS_ALIVE if type(argument) is weakref.ref else IS_OBJECT, self._id(argument)

    def _variables(self, kernel: Kernel, variables: Sequence[Variable], tensors: int) -> list[Row]:
        first = len(kernel.results) - len(kernel.assigned)
        new = {place: first + number for number, place in enumerate(kernel.assigned)}
        return [(id(variable), new.get(tensors + i, -1)) for i, variable in enumerate(variables)]

    def _input(self, spec: Spec) -> Row:
        assert spec.shape is not None
        return self._id(np.dtype(spec.dtype.name)), len(spec.shape), self._sizes(spec)

    def _sizes(self, spec: Spec) -> int:
        return self._table([tuple(spec.shape or ())] if spec.shape else [])  # type: ignore[arg-type]

    def _results(self, kernel: Kernel) -> list[Row]:
        outputs = len(kernel.results) - len(kernel.assigned)
        rows: list[Row] = []
        spares = Spares(2 * len(kernel.results))
        self._needed.append(spares)
        first = spares.table.ctypes.data
        for number, spec in enumerate(kernel.results):
            assert spec.shape is not None
            kept = -1 if number < outputs else kernel.assigned[number - outputs]
            kind = self._id(kind_for(spec.dtype, spec.shape))  # type: ignore[arg-type]
            spare, later = first + 16 * number, first + 16 * number + 8
            if number in kernel.spares:
                spare = later = kernel.spares[number]
            rows.append((spec.dtype.numpy.num, len(spec.shape), self._sizes(spec), spare, later, kept, kind))
        return rows
