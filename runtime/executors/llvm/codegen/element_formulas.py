"""Lower elementwise operations that declare a formula: an expression of one result element.

elu: m.where(x < 0, m.expm1(x), x)      ==>      %n = fcmp olt float %x, 0.0
                                                 %e = call float @agc.expm1.f32(float %x)
                                                 %r = select i1 %n, float %e, float %x
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....ir.graph import Operation
from ....ir.op_def import OpDef
from .llvm_types import Element, Register, ir
from .rule_registry import ELEMENTWISE, LOWERINGS, MOVING, ElementRule, Site, load

if TYPE_CHECKING:
    from ..libm.formula_builder import Number
    from .function_builder import Emitter


def call_function(e: Emitter, name: str, *numbers: Register) -> Register:
    """Emit a call of a libm/ function on floats."""
    from ..libm import FUNCTIONS

    kind = numbers[0].type
    if str(kind) == "half":
        single = ir().FloatType()
        return e.b.fptrunc(call_function(e, name, *(e.b.fpext(number, single) for number in numbers)), kind)
    found = FUNCTIONS[name]
    return e.b.call((found.declare if e.is_in_nest else found.apart)(e.module, kind), numbers)


class ElementFunctions:
    """The functions that formulas call, as methods: `where`, `abs`, `sqrt`, and those of libm/."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter

    def where(self, test: Number, x: Number | float, y: Number | float) -> Number:
        return test.where(x, y)

    def abs(self, x: Number) -> Number:
        return x.magnitude()

    def sqrt(self, x: Number) -> Number:
        return x.sqrt()

    def __getattr__(self, name: str) -> Callable[..., Number]:
        from ..libm import FUNCTIONS

        if name not in FUNCTIONS:
            raise AttributeError(f"libm has no function {name!r}; it has {', '.join(FUNCTIONS)}")

        def function(*numbers: Number) -> Number:
            values = [number.value for number in numbers]
            return numbers[0].code.number(call_function(self._emitter, name, *values))

        return function


def rule_of_formula(formula: Callable[..., Any]) -> ElementRule:
    """Return the elementwise rule that emits a formula on floats."""

    def write(e: Emitter, site: Site, *elements: Element) -> Element:
        from ..libm.formula_builder import FormulaContext

        code = FormulaContext(e.b, elements[0].type, fused=False)
        return formula(ElementFunctions(e), *map(code.number, elements), **site.attrs).value

    return ElementRule(write, lambda operation: False, _takes_floats)


def _takes_floats(operation: Operation) -> str | None:
    if operation.inputs[0].dtype.kind == "f":
        return None
    return "its formula is compiled for floating-point numbers only"


def element_rule(op: OpDef) -> ElementRule | None:
    """Return the elementwise rule of an operation, or that of its formula; None if it has neither."""
    load(op.name)
    if op.name not in ELEMENTWISE and op.formula is not None:
        ELEMENTWISE[op.name] = rule_of_formula(op.formula)
    return ELEMENTWISE.get(op.name)


def computes(op: OpDef) -> bool:
    """Return whether a rule lowers an operation and computes with elements."""
    return (element_rule(op) is not None or op.name in LOWERINGS) and op.name not in MOVING
