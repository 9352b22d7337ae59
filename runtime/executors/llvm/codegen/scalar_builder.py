"""Writes numbers: indexes that count, and calls of LLVM's and others' functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dynamic_sizes import Size
from .llvm_types import Element, Pair, Register, ir, pointer, word

WORD = 64


class Arithmetic:
    """What is written of numbers. `b` is llvmlite's builder."""

    def __init__(self, module: Any, b: Any) -> None:
        self.module = module
        self.b = b

    def word(self, value: int) -> Register:
        """A 64-bit integer, which counts and indexes."""
        if isinstance(value, Size):
            return value.written(self)
        return word(value)

    def plus(self, x: Register, y: Register) -> Register:
        """The sum of two indexes."""
        if is_known(x) and is_known(y):
            return self.word(x.constant + y.constant)
        if is_known(x) and x.constant == 0:
            return y
        if is_known(y) and y.constant == 0:
            return x
        return self.b.add(x, y, flags=("nsw",))

    def minus(self, x: Register, y: Register) -> Register:
        """The difference of two indexes."""
        if is_known(y):
            return self.plus(x, self.word(-y.constant))
        return self.b.sub(x, y, flags=("nsw",))

    def times(self, x: Register, factor: int) -> Register:
        """An index times a known number."""
        if is_known(x):
            return self.word(x.constant * factor)
        return x if factor == 1 else self.b.mul(x, self.word(factor), flags=("nsw",))

    def over(self, x: Register, divisor: int) -> tuple[Register, Register]:
        """Quotient and remainder of an index, which is not negative."""
        if divisor == 0:  # of nothing, in loops without rounds
            return self.word(0), self.word(0)
        if is_known(x) and (x.constant == 0 or not isinstance(divisor, Size)):
            return self.word(x.constant // int(divisor)), self.word(x.constant % int(divisor))
        if divisor == 1:
            return x, self.word(0)
        return self.b.udiv(x, self.word(divisor)), self.b.urem(x, self.word(divisor))

    def choose(self, test: Register, x: Element, y: Element) -> Element:
        """`x` where the test holds, else `y`."""
        if isinstance(x, Pair):
            return Pair(self.b.select(test, x.re, y.re), self.b.select(test, x.im, y.im))
        return self.b.select(test, x, y)

    def intrinsic(self, name: str, *arguments: Register) -> Register:
        """Call LLVM's function `llvm.NAME` for the type of its arguments."""
        kind = arguments[0].type
        suffix = f"i{kind.width}" if hasattr(kind, "width") else kind.intrinsic_name
        return self.call(f"llvm.{name}.{suffix}", kind, *arguments)

    def call(self, name: str, result: Any, *arguments: Register) -> Register:
        """Call a function by its name, declared here if it is not yet."""
        kinds = [argument.type for argument in arguments]
        return self.b.call(self.function_named(name, result, kinds), arguments)

    def function_named(self, name: str, result: Any, kinds: Sequence[Any]) -> Any:
        """A function of the module, declared now if it is not yet."""
        function = self.module.globals.get(name)
        if function is None:
            function = ir().Function(self.module, ir().FunctionType(result, kinds), name)
        return function


def is_known(x: Register) -> bool:
    """Whether a register is a constant."""
    return isinstance(x, ir().Constant)


class Callee:
    """An address that llvmlite calls as a function of some type."""

    calling_convention = ""

    def __init__(self, address: Register, kind: Any) -> None:
        self._address = address
        self.function_type = kind
        self.type = pointer()

    def get_reference(self) -> str:
        """How LLVM's language names it."""
        return str(self._address.get_reference())
