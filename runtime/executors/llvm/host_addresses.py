"""The table of addresses outside of a module, and the constants of the module.

load host[3]                      the address of an array, a callback or a function, known when the code is loaded
@"constant.0" = [12 x i8] …       a small constant, which is in the text of the module
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.graph import Operation
from .codegen.function_builder import Emitter
from .codegen.llvm_types import Register, constant_at, integer, ir, pointer
from .kernel_callbacks import Callback, Sizes

_EMBEDDED = 1024
"""Maximum size in bytes of a constant that is embedded in the module."""


class HostAddresses:
    """The table of host addresses that are known only when the code is loaded, and the constants of the module."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.variable = ir().GlobalVariable(module, pointer(), "host")
        self.variable.type = pointer()
        self.numbers: dict[str, int] = {}
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self.callbacks: list[Callback] = []
        self._constants: dict[Any, Any] = {}

    @property
    def kind(self) -> Any:
        return ir().ArrayType(pointer(), 0)

    def number(self, name: str) -> int:
        """Return the index of a name in the table."""
        return self.numbers.setdefault(name, len(self.numbers))

    def kernel(self, operation: Operation, shapes: Sequence[Sizes]) -> tuple[str, str]:
        """Register the kernel of an operation as a callback; return the names of its two functions."""
        self.callbacks.append(Callback(operation, shapes))
        number = len(self.callbacks) - 1
        return f"compute {number}", f"hand_over {number}"

    def constant(self, e: Emitter, array: np.ndarray[Any, Any]) -> Register:
        """Return the address of a constant's elements."""
        if array.nbytes > _EMBEDDED:
            name = f"array{id(array)}"
            if name not in self._constants:
                self._constants[name] = f"constant{len(self.arrays)}"
                self.arrays[self._constants[name]] = array
            return e.host(self._constants[name])
        key = (array.tobytes(), array.dtype.itemsize)
        if key not in self._constants:
            kind = ir().ArrayType(integer(8), max(array.nbytes, 1))
            value = ir().Constant(kind, bytearray(array.tobytes() or b"\0"))
            made = constant_at(self._module, f"constant.{len(self._constants)}", value)
            made.align = 64
            self._constants[key] = made
        return self._constants[key]

    def finish(self) -> None:
        """Set the final size of the table."""
        kind = ir().ArrayType(pointer(), max(len(self.numbers), 1))
        self.variable.value_type = kind
        self.variable.initializer = ir().Constant(kind, None)
