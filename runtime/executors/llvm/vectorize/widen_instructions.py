"""Turn scalar instructions into vector instructions, with one element per lane.

    %y = fmul float %x, %x                         %y = fmul <8 x float> %x, %x
    %z = call float @llvm.fabs.f32(float %y)  ==>  %z = call <8 x float> @llvm.fabs.v8f32(<8 x float> %y)
    %e = call float @agc.exp.f32(float %z)         %e = call <8 x float> @agc.exp.f32.x8(<8 x float> %z)

The project's own functions (libm/) have no branches, so each is emitted again with vector types. Functions with
a slow path for rare arguments (libm/slow_paths.py) bring their own vector forms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..codegen.llvm_types import Register, integer, ir
from ..libm.registry import shared

CASTS = frozenset(
    {"trunc", "zext", "sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp", "bitcast"}
)
_CONVERSIONS = frozenset({"sitofp", "uitofp", "fptosi", "fptoui"})
BINARY = frozenset(
    {"add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "fadd", "fsub", "fmul", "fdiv"}
)
SIMPLE = BINARY | CASTS | {"fneg", "icmp", "fcmp", "select"}
"""Instructions with a vector form that works lane by lane."""

DIVISIONS = frozenset({"udiv", "urem", "sdiv", "srem"})
ALONE = SIMPLE | DIVISIONS
"""Instructions that are hoisted if all operands are loop-invariant. Targets have no vector division of integers."""

_OF_LLVM = (
    "abs", "ceil", "copysign", "fabs", "floor", "fma", "maximum", "maxnum", "minimum", "minnum", "nearbyint", "rint",
    "roundeven", "smax", "smin", "sqrt", "trunc", "umax", "umin",
)  # fmt: skip
INTRINSICS = frozenset(f"llvm.{name}" for name in _OF_LLVM)
"""LLVM intrinsics that work lane by lane."""


@functools.cache
def vector(kind: Any, count: int) -> Any:
    """Return the type of a vector of `count` elements."""
    return ir().VectorType(kind, count)


def is_number(kind: Any) -> bool:
    """Return whether `kind` can be the element type of a vector."""
    if isinstance(kind, ir().IntType):
        return kind.width in (1, 8, 16, 32, 64)
    return isinstance(kind, (ir().HalfType, ir().FloatType, ir().DoubleType))


def width(kind: Any) -> int:
    """Return the bit width of a number type; 0 for other types."""
    if isinstance(kind, ir().IntType):
        return int(kind.width)
    return {"half": 16, "float": 32, "double": 64}.get(str(kind), 0)


def spread(b: Any, value: Register, count: int) -> Register:
    """Return a vector with `value` in all lanes (a splat)."""
    kind = vector(value.type, count)
    if isinstance(value, ir().Constant):
        made = ir().FormattedConstant(kind, "")
        # Set after construction: the constructor of llvmlite would repeat the string for each element.
        made.constant = f"splat ({value.type} {value.get_reference()})"
        return made
    first = b.insert_element(ir().Constant(kind, ir().Undefined), value, integer(32)(0))
    return b.shuffle_vector(first, ir().Constant(kind, ir().Undefined), which([0] * count))


def which(numbers: Sequence[int]) -> Any:
    """Return a shuffle mask."""
    return ir().Constant(vector(integer(32), len(numbers)), [integer(32)(number) for number in numbers])


def counted(b: Any, first: Register, count: int, step: int) -> Register:
    """Return the vector `first`, `first + step`, `first + 2 step`, …"""
    steps = ir().Constant(vector(first.type, count), [first.type(i * step) for i in range(count)])
    return b.add(spread(b, first, count), steps)


def put_together(b: Any, values: Sequence[Register]) -> Register:
    """Return a vector of the given scalars."""
    made = ir().Constant(vector(values[0].type, len(values)), ir().Undefined)
    for lane, value in enumerate(values):
        made = b.insert_element(made, value, integer(32)(lane))
    return made


def deinterleave(b: Any, parts: Sequence[Register], step: int) -> Register:
    """Return each `step`-th element of consecutive vectors `parts`; the last part ends with the last such element."""
    count = parts[0].type.count
    last = (count - 1) * step
    firsts = [*(i * count for i in range(step - 1)), last + 1 - count]
    made = ir().Constant(parts[0].type, ir().Undefined)
    for first, part in zip(firsts, parts, strict=True):
        inside = [0 <= i * step - first < count for i in range(count)]
        places = [count + i * step - first if inside[i] else i for i in range(count)]
        made = b.shuffle_vector(made, part, which(places))
    return made


def reverse_lanes(b: Any, value: Register) -> Register:
    """Return the lanes in reverse order."""
    return b.shuffle_vector(
        value, ir().Constant(value.type, ir().Undefined), which(range(value.type.count - 1, -1, -1))
    )


def taken_together(b: Any, join: Callable[[Any, Register, Register], Register], value: Register) -> Register:
    """Reduce all lanes to one scalar by halving the vector."""
    count = value.type.count
    half = count // 2
    while half:
        places = [i + half if i < half else i for i in range(count)]
        turned = b.shuffle_vector(value, ir().Constant(value.type, ir().Undefined), which(places))
        value = join(b, value, turned)
        half //= 2
    return b.extract_element(value, integer(32)(0))


def widened(b: Any, each: Any, operands: Sequence[Register], count: int) -> Register:
    """Emit the vector form of `each` on these operands; immediate operands stay scalar."""
    llvm, block = ir().instructions, b.block
    if each.opname == "call":
        callee = in_lanes(b.module, each.callee, count)
        made = llvm.CallInstr(block, callee, operands, fastmath=each.fastmath)
    elif each.opname in ("icmp", "fcmp"):
        made = type(each)(block, each.op, *operands, flags=each.flags)
    elif each.opname == "select":
        made = llvm.SelectInstr(block, *operands, flags=each.flags)
    elif each.opname in CASTS:
        made = llvm.CastInstr(block, each.opname, operands[0], vector(each.type, count))
    else:
        made = llvm.Instruction(
            block, vector(each.type, count), each.opname, list(operands), flags=each.flags
        )
    b._insert(made)
    return made


def is_how(each: Any, place: int) -> bool:
    """Return whether an operand is an immediate that selects a mode, as the second of `llvm.abs` is."""
    return each.opname == "call" and place > 0 and each.args[place].type != each.args[0].type


def can_be_in_lanes(each: Any, count: int) -> bool:
    """Return whether a scalar instruction has a vector form."""
    if each.opname == "call":
        return callee_can(each.callee, count)
    kinds = [each.type, *(x.type for x in each.operands)]
    return (each.opname in SIMPLE or _is_division(each)) and all(map(is_number, kinds))


def _is_division(each: Any) -> bool:
    """Return whether an integer of at most 32 bits is divided by a constant, which LLVM turns into a product."""
    if each.opname not in DIVISIONS or not isinstance(each.operands[1], ir().Constant):
        return False
    return bool(each.type.width <= 32)


def is_slow(each: Any) -> bool:
    """Return whether many targets have no single vector instruction for `each`."""
    bits = [x.type.width for x in (each, *each.operands) if isinstance(x.type, ir().IntType)]
    if each.opname in _CONVERSIONS:
        return bool(max(bits) > 32 or (each.opname in ("uitofp", "fptoui") and max(bits) == 32))
    if each.opname in ("shl", "lshr", "ashr"):
        return bool(bits[0] < 32 or (each.opname == "ashr" and bits[0] == 64))
    return each.opname in DIVISIONS or bool(each.opname == "mul" and bits[0] in (8, 64))


def callee_can(function: Any, count: int) -> bool:
    """Return whether a function has a vector form, or can get one."""
    name, _, _ = function.name.rpartition(".")
    if name in INTRINSICS:
        return is_number(function.function_type.return_type)
    if not function.name.startswith("agc.") or function.is_declaration:
        return False
    if f"{function.name}.{count}" in function.module.globals:
        return True
    return len(function.blocks) == 1 and all(
        can_be_in_lanes(each, count) for each in function.blocks[0].instructions if each.opname != "ret"
    )


def in_lanes(module: Any, function: Any, count: int, vectors: int = 1) -> Any:
    """Return the vector form of a function.

    A function of the project can take several vectors per call. Their instructions are interleaved.
    """
    name, _, kind = function.name.rpartition(".")
    if name in INTRINSICS:
        full = f"{name}.v{count}{kind}"
        return module.globals.get(full) or _declared(module, function, count, full)
    full = f"{function.name}.x{count}.{vectors}"
    known = module.globals.get(f"{function.name}.{count}") or module.globals.get(full)
    if known is not None:
        return known
    if function.module is module:
        return _written(module, function, count, vectors, full)
    return shared(_written_once(function, count, vectors, full), module, full)


def _declared(module: Any, function: Any, count: int, full: str) -> Any:
    """Declare LLVM's vector intrinsic."""
    signature = function.function_type
    kinds = [vector(x, count) if x == signature.args[0] else x for x in signature.args]
    return ir().Function(module, ir().FunctionType(vector(signature.return_type, count), kinds), full)


@functools.cache
def _written_once(function: Any, count: int, vectors: int, full: str) -> Any:
    """Return a module with the vector form of a function that all modules share."""
    module = ir().Module()
    _written(module, function, count, vectors, full)
    return module


def _written(module: Any, function: Any, count: int, vectors: int, full: str) -> Any:
    """Emit a function in vector form. For several vectors it returns a structure."""
    kinds = [vector(x, count) for x in function.function_type.args]
    kind = vector(function.function_type.return_type, count)
    result = ir().LiteralStructType([kind] * vectors) if vectors > 1 else kind
    made = ir().Function(module, ir().FunctionType(result, kinds * vectors), full)
    made.linkage = "internal"
    for attribute in ("alwaysinline", "nounwind"):
        made.attributes.add(attribute)
    b = ir().IRBuilder(made.append_basic_block())
    arguments = [made.args[i : i + len(kinds)] for i in range(0, len(made.args), len(kinds))]
    results = written_out(b, function, arguments, count, functools.partial(spread, b, count=count))
    if vectors == 1:
        b.ret(results[0])
        return made
    together = ir().Constant(result, ir().Undefined)
    for i, each in enumerate(results):
        together = b.insert_value(together, each, i)
    b.ret(together)
    return made


def written_out(
    b: Any,
    function: Any,
    arguments: Sequence[Sequence[Register]],
    count: int,
    spreading: Callable[[Register], Register],
) -> list[Register]:
    """Inline a branch-free function for several vectors, with interleaved instructions to hide latency."""
    values = [dict(zip(function.args, given, strict=True)) for given in arguments]
    results: list[Register] = []
    for each in function.blocks[0].instructions:
        operands = each.args if each.opname == "call" else each.operands
        given = [
            [x if is_how(each, i) else of_one.get(x) or spreading(x) for i, x in enumerate(operands)]
            for of_one in values
        ]
        if each.opname == "ret":
            return [of_one[0] for of_one in given]
        if is_formula(each):
            results = written_out(b, each.callee, given, count, spreading)
        else:
            results = [widened(b, each, of_one, count) for of_one in given]
        for of_one, result in zip(values, results, strict=True):
            of_one[each] = result
    raise AssertionError(function)


def is_formula(each: Any) -> bool:
    """Return whether `each` calls a function of the project that has no branches."""
    return each.opname == "call" and each.callee.name.startswith("agc.") and len(each.callee.blocks) == 1
