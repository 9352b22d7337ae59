"""A mathematical function: its formula, its error bounds, and its definition in a module.

    FUNCTIONS["exp"].declare(module, double)    ==>    define internal double @agc.exp.f64(double %x) alwaysinline …

The definition is added on first use, so that only used functions are compiled. The function has no
branches and reads no memory, so that LLVM can vectorize a loop around its calls.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import weakref
from collections.abc import Callable
from typing import NamedTuple

from llvmlite import ir

from ..processor import fuses
from .formula_builder import FormulaContext, Number

NAMES = {"float": "f32", "double": "f64"}

Formula = Callable[..., Number]

FEW = 8
"""The number of scalar calls up to which LLVM may inline them. Each inlined call copies the whole formula."""
_calls: weakref.WeakKeyDictionary[ir.Function, int] = weakref.WeakKeyDictionary()


class LibmFunction(NamedTuple):
    """A function of floats that can be emitted into a module.

    `module` of this package has its formula, under the same name. `ulp` bounds the error of float32 and float64
    results, in units in the last place of the exact result.
    """

    name: str
    module: str
    ulp: tuple[float, float]
    arity: int = 1

    @property
    def formula(self) -> Formula:
        found: Formula = getattr(importlib.import_module(f".{self.module}", __package__), self.name)
        return found

    @property
    def manual(self) -> str:
        return inspect.getdoc(self.formula) or ""

    def bound(self, dtype: str) -> float:
        """Return the error bound for "float32" or "float64"."""
        return self.ulp[("float32", "float64").index(dtype)]

    def declare(self, module: ir.Module, real: ir.Type) -> ir.Function:
        """Return the function on floats of type `real`, defined in the module if necessary."""
        known = module.globals.get(self._name(real))
        if isinstance(known, ir.Function):
            return known
        alone = _written_once(self, str(real))
        if alone.metadata:  # metadata is numbered separately in each module
            return self.write(module, real)
        return shared(alone, module, self._name(real))

    def write(self, module: ir.Module, real: ir.Type) -> ir.Function:
        """Define the function in a module."""
        function, _ = self._named(module, real, "")
        function.attributes.add("alwaysinline")
        builder = ir.IRBuilder(function.append_basic_block())
        code = FormulaContext(builder, real, fused=fuses())
        builder.ret(self.formula(*map(code.number, function.args)).value)
        return function

    def apart(self, module: ir.Module, real: ir.Type) -> ir.Function:
        """Return a wrapper for scalar calls, which are inlined only if the module has few of them."""
        function, is_new = self._named(module, real, ".apart")
        if is_new:
            builder = ir.IRBuilder(function.append_basic_block())
            builder.ret(builder.call(self.declare(module, real), function.args))
        calls = _calls[function] = _calls.get(function, 0) + 1
        if calls > FEW:
            function.attributes.add("noinline")
        return function

    def _name(self, real: ir.Type) -> str:
        return f"agc.{self.name}.{NAMES[str(real)]}"

    def _named(self, module: ir.Module, real: ir.Type, more: str) -> tuple[ir.Function, bool]:
        """Return a function of the module, and whether its body is missing."""
        name = self._name(real) + more
        known = module.globals.get(name)
        if isinstance(known, ir.Function):
            return known, False
        function = ir.Function(module, ir.FunctionType(real, [real] * self.arity), name)
        function.linkage = "internal"
        function.attributes.add("nounwind")
        return function, True


REALS = {"float": ir.FloatType(), "double": ir.DoubleType()}


@functools.cache
def _written_once(function: LibmFunction, real: str) -> ir.Module:
    """Return a module with a function and its callees, which other modules share: it is emitted and printed once."""
    module = ir.Module()
    function.write(module, REALS[real])
    return module


def shared(alone: ir.Module, module: ir.Module, name: str) -> ir.Function:
    """Add a function and its callees to another module. The shared function is immutable."""
    for each, value in alone.globals.items():
        module.globals.setdefault(each, value)
    return module.globals[name]
