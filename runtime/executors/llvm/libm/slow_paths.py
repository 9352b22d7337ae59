"""Slow paths for rare arguments: a call in a loop that still lets LLVM vectorize the loop.

    y = rarely(x, limit, …)    ==>    %y = call double @agc.sin.far.f64(double %x)        scalar
                                      %y = call <4 x double> @agc.sin.far.f64.4(…)        tests whether any lane is far

A branch, or a call of the C library, would keep LLVM from vectorizing a loop. A call does not, if the attribute
`vector-function-abi-variant` of the function names its vector variants. A variant tests all lanes together and
returns them unchanged unless one of them needs the slow path. The variants are `alwaysinline` and the scalar function
is `noinline`. Inlining after loop vectorization leaves only the test in the loop.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from llvmlite import ir

from ..processor import features
from .formula_builder import FORMATS, FormulaContext, Number


@functools.cache
def widths() -> tuple[int, ...]:
    """Return the vector widths in bits that this machine supports."""
    return (128, 256, 512) if features().get("avx512f") else (128, 256)


def rarely(x: Number, limit: float, name: str, formula: Callable[[Number], Number]) -> Number:
    """Return `formula(x)`, computed in float64, where |x| > limit; elsewhere the result is unspecified."""
    code = x.code
    module = code.builder.module
    full = f"agc.{name}.f{code.size}"
    function = module.globals.get(full) or define(module, full, code.scalar, limit, formula, code.fused)
    return code.number(code.builder.call(function, [x.value]))


def define(
    module: ir.Module,
    full: str,
    real: ir.Type,
    limit: float,
    formula: Callable[[Number], Number],
    fused: bool,
) -> ir.Function:
    """Define the function that loops call, which tests whether its argument is beyond the limit."""
    slow = define_formula(module, f"{full}.formula", real, formula, fused)
    function = added(module, full, real, "noinline")
    lanes = [bits // FORMATS[str(real)][0] for bits in widths()]
    variants = ",".join(f"_ZGV_LLVM_N{count}v_{full}({full}.{count})" for count in lanes)
    # llvmlite rejects attributes outside its own list, which lacks this one.
    set.add(function.attributes, f'"vector-function-abi-variant"="{variants}"')
    define_test(function, limit, lambda builder, x: builder.call(slow, [x]))
    for count in lanes:
        several = added(module, f"{full}.{count}", ir.VectorType(real, count), "alwaysinline")
        several.linkage = "weak_odr"  # kept until loops are vectorized, although it has no caller until then
        define_test(several, limit, functools.partial(each_lane, slow, count))
    return function


def added(module: ir.Module, name: str, kind: ir.Type, *attributes: str) -> ir.Function:
    """Add a side-effect-free function with one parameter of type `kind`."""
    function = ir.Function(module, ir.FunctionType(kind, [kind]), name)
    function.linkage = "internal"
    for attribute in ("nounwind", "readnone", *attributes):
        function.attributes.add(attribute)
    return function


def define_formula(
    module: ir.Module, name: str, real: ir.Type, formula: Callable[[Number], Number], fused: bool
) -> ir.Function:
    """Define the scalar slow path. It has no vector variants, since those would call themselves."""
    function = added(module, name, real, "noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    (x,) = function.args
    double = ir.DoubleType()
    wide = x if real == double else builder.fpext(x, double)
    result = formula(FormulaContext(builder, double, fused=fused).number(wide)).value
    builder.ret(result if real == double else builder.fptrunc(result, real))
    return function


def define_test(
    function: ir.Function, limit: float, beyond: Callable[[ir.IRBuilder, ir.Value], ir.Value]
) -> None:
    """Emit the body: compute the slow path beyond the limit, else return the argument."""
    (x,) = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    far, near = function.append_basic_block("far"), function.append_basic_block("near")
    mark = (FormulaContext(builder, x.type, fused=False).number(x).magnitude() > limit).value
    if isinstance(x.type, ir.VectorType):
        together = builder.bitcast(mark, ir.IntType(x.type.count))
        mark = builder.icmp_unsigned("!=", together, together.type(0))
    builder.cbranch(mark, far, near).set_weights([1, 1 << 20])
    builder.position_at_end(far)
    builder.ret(beyond(builder, x))
    ir.IRBuilder(near).ret(x)


def each_lane(slow: ir.Function, count: int, builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    result: ir.Value = x
    for lane in range(count):
        position = ir.IntType(32)(lane)
        value = builder.call(slow, [builder.extract_element(x, position)])
        result = builder.insert_element(result, value, position)
    return result
