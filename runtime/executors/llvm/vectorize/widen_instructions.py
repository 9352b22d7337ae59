"""Instructions on numbers become instructions on vectors: eight floats at once, in as many lanes.

    %y = fmul float %x, %x                         %y = fmul <8 x float> %x, %x
    %z = call float @llvm.fabs.f32(float %y)  ==>  %z = call <8 x float> @llvm.fabs.v8f32(<8 x float> %y)
    %e = call float @agc.exp.f32(float %z)         %e = call <8 x float> @agc.exp.f32.x8(<8 x float> %z)

Our own functions (maths/) are formulas without branches: for lanes they are written once more. Those that have a branch
for what is rare (libm/slow_paths.py) come with forms for lanes.
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
"""What is done in lanes as it is done alone."""

DIVISIONS = frozenset({"udiv", "urem", "sdiv", "srem"})
ALONE = SIMPLE | DIVISIONS
"""What is done once where it is the same in all rounds; no machine divides integers in lanes."""

_OF_LLVM = (
    "abs", "ceil", "copysign", "fabs", "floor", "fma", "maximum", "maxnum", "minimum", "minnum", "nearbyint", "rint",
    "roundeven", "smax", "smin", "sqrt", "trunc", "umax", "umin",
)  # fmt: skip
INTRINSICS = frozenset(f"llvm.{name}" for name in _OF_LLVM)
"""LLVM's functions that do in each lane what they do alone."""


@functools.cache
def vector(kind: Any, count: int) -> Any:
    """The type of so many numbers of a kind."""
    return ir().VectorType(kind, count)


def is_number(kind: Any) -> bool:
    """Whether lanes can hold numbers of this type."""
    if isinstance(kind, ir().IntType):
        return kind.width in (1, 8, 16, 32, 64)
    return isinstance(kind, (ir().HalfType, ir().FloatType, ir().DoubleType))


def width(kind: Any) -> int:
    """The bits of a number; 0 for what is none."""
    if isinstance(kind, ir().IntType):
        return int(kind.width)
    return {"half": 16, "float": 32, "double": 64}.get(str(kind), 0)


def spread(b: Any, value: Register, count: int) -> Register:
    """The same number in all lanes."""
    kind = vector(value.type, count)
    if isinstance(value, ir().Constant):
        made = ir().FormattedConstant(kind, "")
        made.constant = f"splat ({value.type} {value.get_reference()})"  # llvmlite would take it apart before
        return made
    first = b.insert_element(ir().Constant(kind, ir().Undefined), value, integer(32)(0))
    return b.shuffle_vector(first, ir().Constant(kind, ir().Undefined), which([0] * count))


def which(numbers: Sequence[int]) -> Any:
    """Which lanes of one or two vectors another one has."""
    return ir().Constant(vector(integer(32), len(numbers)), [integer(32)(number) for number in numbers])


def counted(b: Any, first: Register, count: int, step: int) -> Register:
    """An integer and those that follow it."""
    steps = ir().Constant(vector(first.type, count), [first.type(i * step) for i in range(count)])
    return b.add(spread(b, first, count), steps)


def put_together(b: Any, values: Sequence[Register]) -> Register:
    """Numbers, each in its lane."""
    made = ir().Constant(vector(values[0].type, len(values)), ir().Undefined)
    for lane, value in enumerate(values):
        made = b.insert_element(made, value, integer(32)(lane))
    return made


def deinterleave(b: Any, parts: Sequence[Register], step: int) -> Register:
    """Every so many of elements that stand in vectors one behind the other, the last of which ends with the last."""
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
    """The lanes from the last to the first."""
    return b.shuffle_vector(
        value, ir().Constant(value.type, ir().Undefined), which(range(value.type.count - 1, -1, -1))
    )


def taken_together(b: Any, join: Callable[[Any, Register, Register], Register], value: Register) -> Register:
    """All lanes as one number, half of them with the other half at a time."""
    count = value.type.count
    half = count // 2
    while half:
        places = [i + half if i < half else i for i in range(count)]
        turned = b.shuffle_vector(value, ir().Constant(value.type, ir().Undefined), which(places))
        value = join(b, value, turned)
        half //= 2
    return b.extract_element(value, integer(32)(0))


def widened(b: Any, each: Any, operands: Sequence[Register], count: int) -> Register:
    """An instruction, in lanes, on these operands; those that choose how it works are numbers."""
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
    """Whether an operand chooses how an instruction works, as the second of `llvm.abs` does."""
    return each.opname == "call" and place > 0 and each.args[place].type != each.args[0].type


def can_be_in_lanes(each: Any, count: int) -> bool:
    """Whether an instruction on numbers has a form for lanes."""
    if each.opname == "call":
        return callee_can(each.callee, count)
    kinds = [each.type, *(x.type for x in each.operands)]
    return (each.opname in SIMPLE or _is_division(each)) and all(map(is_number, kinds))


def _is_division(each: Any) -> bool:
    """Whether a small integer is divided by a known number, which is a product."""
    if each.opname not in DIVISIONS or not isinstance(each.operands[1], ir().Constant):
        return False
    return bool(each.type.width <= 32)


def is_slow(each: Any) -> bool:
    """Whether many machines have no instruction for it in lanes, and take several instead."""
    bits = [x.type.width for x in (each, *each.operands) if isinstance(x.type, ir().IntType)]
    if each.opname in _CONVERSIONS:
        return bool(max(bits) > 32 or (each.opname in ("uitofp", "fptoui") and max(bits) == 32))
    if each.opname in ("shl", "lshr", "ashr"):
        return bool(bits[0] < 32 or (each.opname == "ashr" and bits[0] == 64))
    return each.opname in DIVISIONS or bool(each.opname == "mul" and bits[0] in (8, 64))


def callee_can(function: Any, count: int) -> bool:
    """Whether a function has a form for lanes, or can get one."""
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
    """The form of a function for lanes; of our own formulas for several vectors at once, in turns, as well."""
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
    """LLVM's function for lanes."""
    signature = function.function_type
    kinds = [vector(x, count) if x == signature.args[0] else x for x in signature.args]
    return ir().Function(module, ir().FunctionType(vector(signature.return_type, count), kinds), full)


@functools.cache
def _written_once(function: Any, count: int, vectors: int, full: str) -> Any:
    """A module with the form for lanes of a formula that all modules share."""
    module = ir().Module()
    _written(module, function, count, vectors, full)
    return module


def _written(module: Any, function: Any, count: int, vectors: int, full: str) -> Any:
    """A formula in lanes, for several vectors: what it gives for them is a structure then."""
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
    """What a formula gives for several vectors, whose instructions take turns: none waits for the one before it."""
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
    """Whether an instruction calls a function of our own that has no branches."""
    return each.opname == "call" and each.callee.name.startswith("agc.") and len(each.callee.blocks) == 1
