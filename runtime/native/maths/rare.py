"""What only few arguments need: a call that loops over arrays keep, without giving up their lanes.

    y = rarely(x, limit, …)    ==>    %y = call double @agc.sin.far.f64(double %x)        one number
                                      %y = call <4 x double> @agc.sin.far.f64.4(…)        four: tests whether any is far

A branch, or a loop over digits of π, would keep LLVM from vectorising a loop. A call does not, if the function says by
its attribute `vector-function-abi-variant` which functions compute several of it at once. Those look at all lanes
together, and give them back untouched unless one of them needs more. Inlined after the loops are vectorised
(they say `alwaysinline`, the scalar one `noinline`), all that is left of the call is that test.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from .numbers import FORMATS, Code, Number

BITS = (128, 256, 512)
"""How wide vectors may be."""


def rarely(x: Number, limit: float, name: str, formula: Callable[[Number], Number]) -> Number:
    """The formula of `x`, in float64, where the magnitude of `x` is above the limit; anything elsewhere."""
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
    function = ir.Function(module, ir.FunctionType(real, [real]), full)
    function.linkage = "internal"
    (x,) = function.args
    lanes = [bits // FORMATS[str(real)][0] for bits in BITS]
    variants = ",".join(f"_ZGV_LLVM_N{count}v_{full}({full}.{count})" for count in lanes)
    # llvmlite lists the attributes that it knows; this one is known to LLVM only.
    set.add(function.attributes, f'"vector-function-abi-variant"="{variants}"')
    for attribute in ("noinline", "nounwind", "readnone"):
        function.attributes.add(attribute)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    code = Code(builder, real, fused=fused)
    far, near = function.append_basic_block("far"), function.append_basic_block("near")
    builder.cbranch((code.number(x).magnitude() > limit).value, far, near).set_weights([1, 1 << 20])
    builder.position_at_end(far)
    double = ir.DoubleType()
    wide = x if real == double else builder.fpext(x, double)
    result = formula(Code(builder, double, fused=fused).number(wide)).value
    builder.ret(result if real == double else builder.fptrunc(result, real))
    ir.IRBuilder(near).ret(x)
    for count in lanes:
        define_lanes(module, function, count, limit)
    return function


def define_lanes(module: ir.Module, scalar: ir.Function, count: int, limit: float) -> None:
    """The function on several numbers at once."""
    kind = ir.VectorType(scalar.args[0].type, count)
    function = ir.Function(module, ir.FunctionType(kind, [kind]), f"{scalar.name}.{count}")
    function.linkage = "weak_odr"  # kept until loops are vectorised, though nothing calls it before
    for attribute in ("alwaysinline", "nounwind", "readnone"):
        function.attributes.add(attribute)
    (x,) = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    far, near = function.append_basic_block("far"), function.append_basic_block("near")
    marks = (Code(builder, kind, fused=False).number(x).magnitude() > limit).value
    together = builder.bitcast(marks, ir.IntType(count))
    builder.cbranch(builder.icmp_unsigned("!=", together, together.type(0)), far, near).set_weights(
        [1, 1 << 20]
    )
    builder.position_at_end(far)
    result: ir.Value = x
    for lane in range(count):
        place = ir.IntType(32)(lane)
        value = builder.call(scalar, [builder.extract_element(x, place)])
        result = builder.insert_element(result, value, place)
    builder.ret(result)
    ir.IRBuilder(near).ret(x)
