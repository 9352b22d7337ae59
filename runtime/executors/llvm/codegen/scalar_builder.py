"""Emits scalar code: index arithmetic, and calls of intrinsics and external functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dynamic_sizes import Size
from .llvm_types import ComplexPair, Element, Register, ir, pointer, word

WORD = 64


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

    def plus(self, x: Register, y: Register) -> Register:
        """Emit the sum of two indices."""
        if is_known(x) and is_known(y):
            return self.word(x.constant + y.constant)
        if is_known(x) and x.constant == 0:
            return y
        if is_known(y) and y.constant == 0:
            return x
        return self.b.add(x, y, flags=("nsw",))

    def minus(self, x: Register, y: Register) -> Register:
        """Emit the difference of two indices."""
        if is_known(y):
            return self.plus(x, self.word(-y.constant))
        return self.b.sub(x, y, flags=("nsw",))

    def times(self, x: Register, factor: int) -> Register:
        """Emit the product of an index and a constant or dynamic size."""
        if is_known(x):
            return self.word(x.constant * factor)
        return x if factor == 1 else self.b.mul(x, self.word(factor), flags=("nsw",))

    def over(self, x: Register, divisor: int) -> tuple[Register, Register]:
        """Emit quotient and remainder of a non-negative index."""
        if divisor == 0:  # only in loops with zero iterations
            return self.word(0), self.word(0)
        if is_known(x) and (x.constant == 0 or not isinstance(divisor, Size)):
            return self.word(x.constant // int(divisor)), self.word(x.constant % int(divisor))
        if divisor == 1:
            return x, self.word(0)
        return self.b.udiv(x, self.word(divisor)), self.b.urem(x, self.word(divisor))

    def choose(self, test: Register, x: Element, y: Element) -> Element:
        """Return `x` if `test` is true, else `y`."""
        if isinstance(x, ComplexPair):
            return ComplexPair(self.b.select(test, x.re, y.re), self.b.select(test, x.im, y.im))
        return self.b.select(test, x, y)

    def intrinsic(self, name: str, *arguments: Register, flags: Sequence[str] = ()) -> Register:
        """Call the intrinsic `llvm.NAME` for the type of its first argument, with these fast-math flags."""
        kind = arguments[0].type
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


class Callee:
    """An address that llvmlite can call as a function of a given type."""

    calling_convention = ""

    def __init__(self, address: Register, kind: Any) -> None:
        self._address = address
        self.function_type = kind
        self.type = pointer()

    def get_reference(self) -> str:
        """Return the operand text in LLVM IR."""
        return str(self._address.get_reference())
