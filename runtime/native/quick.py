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
from ..kinds import kind_for
from ..tensor import EagerTensor
from ..variable import Variable
from . import library
from .calls import Row, Words
from .dispatch import DISPATCH_HEADER, IS_ALIVE, IS_OBJECT, IS_TENSOR, MOST
from .loading import Kernel, builtin
from .objects import Method

_TAKES_ARRAY_AND_KEYWORDS = 0x82  # METH_FASTCALL | METH_KEYWORDS
_DOC = b"call($self, /, *args, **kwargs)\n--\n\nRun the graph for the arguments; trace it first when there is none yet."

TENSOR = object()
"""Stands for an argument that is a tensor."""


def has_room_for(kernel: Kernel, program: Sequence[Row]) -> bool:
    """Whether a kernel has no more inputs and results than a call can have."""
    return max(len(kernel.inputs) + len(kernel.results), len(program)) <= MOST


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
        self._method = Method(b"call", library.address("agc_dispatch"), _TAKES_ARRAY_AND_KEYWORDS, _DOC)
        self._needed = (variables, needed)
        self._words = words = Words()
        tensors = sum(argument is TENSOR for argument in arguments)
        outputs = kernel.results[: len(kernel.results) - len(kernel.assigned)]
        kinds = [(words.id(kind_for(spec.dtype, spec.shape)),) for spec in outputs]  # type: ignore[arg-type]
        table = {
            **words.of_kernel(kernel, failed), "arguments": len(arguments), "tensors": tensors,
            "outputs": len(outputs), "program": len(program), "busy": id(busy), "tensor": id(EagerTensor),
            "attribute": words.id(sys.intern("_array")), "kind_rows": words.rows(kinds),
            "argument_rows": words.rows([self._argument(each) for each in arguments]),
            "variable_rows": words.rows(self._variables(kernel, variables, tensors)),
            "program_rows": words.rows(program),
        }  # fmt: skip
        self._table = np.array([table[name] for name in DISPATCH_HEADER], np.int64)

    def call(self, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """The built-in function; `fallback` has all other calls."""
        return builtin(self._method, (fallback, self._table, self))

    def _argument(self, argument: Any) -> Row:
        if argument is TENSOR:
            return IS_TENSOR, 0
        return IS_ALIVE if type(argument) is weakref.ref else IS_OBJECT, self._words.id(argument)

    def _variables(self, kernel: Kernel, variables: Sequence[Variable], tensors: int) -> list[Row]:
        first = len(kernel.results) - len(kernel.assigned)
        new = {place: first + number for number, place in enumerate(kernel.assigned)}
        return [(id(variable), new.get(tensors + i, -1)) for i, variable in enumerate(variables)]
