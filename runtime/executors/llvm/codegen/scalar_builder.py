"""Emits scalar code: constants, choices, and calls of intrinsics and external functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dynamic_sizes import Size
from .llvm_types import ComplexPair, Element, Register, integer, ir, word

WORD = 64

_FOLDED = {"smin": min, "smax": max}
"""Intrinsics of indices that are computed where all arguments are constants."""


class Arithmetic:
    """Emitter of scalar instructions. `b` is llvmlite's IRBuilder."""

    def __init__(self, module: Any, b: Any) -> None:
        self.module = module
        self.b = b

    def word(self, value: int) -> Register:
        """Return a 64-bit integer for counts and indices."""
        if isinstance(value, Size):
            return value.written(self)
        return word(value)

    def choose(self, test: Register, x: Element, y: Element) -> Element:
        """Return `x` if `test` is true, else `y`."""
        if isinstance(x, ComplexPair):
            return ComplexPair(self.b.select(test, x.re, y.re), self.b.select(test, x.im, y.im))
        return self.b.select(test, x, y)

    def intrinsic(self, name: str, *arguments: Register, flags: Sequence[str] = ()) -> Register:
        """Call the intrinsic `llvm.NAME` for the type of its first argument, with these fast-math flags."""
        kind = arguments[0].type
        if name in _FOLDED and kind == integer(WORD) and all(map(is_known, arguments)):
            return self.word(_FOLDED[name](argument.constant for argument in arguments))
        suffix = f"i{kind.width}" if hasattr(kind, "width") else kind.intrinsic_name
        return self.call(f"llvm.{name}.{suffix}", kind, *arguments, flags=flags)

    def call(self, name: str, result: Any, *arguments: Register, flags: Sequence[str] = ()) -> Register:
        """Call a function by name, and declare it if necessary."""
        kinds = [argument.type for argument in arguments]
        return self.b.call(self.function_named(name, result, kinds), arguments, fastmath=flags)

    def function_named(self, name: str, result: Any, kinds: Sequence[Any]) -> Any:
        """Return a function of the module by name; declare it if necessary."""
        function = self.module.globals.get(name)
        if function is None:
            function = ir().Function(self.module, ir().FunctionType(result, kinds), name)
        return function


def is_known(x: Register) -> bool:
    """Return whether a register is a constant."""
    return isinstance(x, ir().Constant)


def counted(x: Register) -> int:
    """Return the trip count in a register: an int if it is a constant, else a dynamic size."""
    return int(x.constant) if is_known(x) else Size.of(x)
