"""Binary arithmetic: operands of one dtype, which broadcast.

Integers wrap around on overflow. Division of an integer by zero and a negative power of an integer are
errors.

>>> divide([7, -7], 2).numpy().tolist(), floordiv([7, -7], 2).numpy().tolist()
([3.5, -3.5], [3, -4])
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import Tensor
from ...core.type_spec import MeetsCompositeError
from ...ir.traits import (
    BANDWIDTH_BOUND,
    CHEAP,
    COMMUTATIVE,
    ELEMENTWISE,
    INLINE_SCALAR,
    INTEGER_ERRORS,
    MODULAR,
)
from ...ir.value_types import TensorType
from ..arrays.creation import ones_like, zeros_like
from ..arrays.reshape import fitted
from ..arrays.select_kernel import selected
from ..arrays.where_ops import choose
from ..framework import composite_dispatch, intervals, static_values
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Inputs, Name, op
from ..framework.op_families import (
    CURVED,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REAL,
    SIGNED,
    STRINGS,
    Array,
    binary,
    on_numbers,
    require_dtype,
)
from .cast import cast
from .comparison import not_equal
from .elementwise import abs, as_real, conj, log, log1p, reciprocal, rsqrt, sign, sqrt, square


def _nonzero(x: Array, y: Array) -> Array:
    """Return `y`, a divisor of the integers `x`; InvalidArgumentError if any is divided by zero."""
    if not (y.all() if y.ndim else y) and x.size:
        raise errors.InvalidArgumentError("Integer division by zero")
    return y


@on_numbers
def _floordiv(x: Array, y: Array) -> Array:
    if x.dtype.kind == "f":
        return np.floor(x / y)  # not x // y, which NumPy derives from the exact quotient: 1 // 0.1 is 9
    return x // _nonzero(x, y)


@on_numbers
def _floormod(x: Array, y: Array) -> Array:
    return np.remainder(x, y) if x.dtype.kind == "f" else x % _nonzero(x, y)


def truncated(x: Array, y: Array) -> Array:
    """Divide integers, rounding towards zero."""
    return (x - np.fmod(x, y)) // y


def _truncatediv(x: Array, y: Array) -> Array:
    return np.trunc(x / y) if x.dtype.kind == "f" else truncated(x, _nonzero(x, y))


def _truncatemod(x: Array, y: Array) -> Array:
    return np.fmod(x, y if x.dtype.kind == "f" else _nonzero(x, y))


def _pow(x: Array, y: Array) -> Array:
    if x.dtype.kind == "i" and (y < 0).any() and x.size:
        raise errors.InvalidArgumentError("Integers to negative integer powers are not allowed")
    if x.dtype.char in "fd" and y.ndim == 0:  # NumPy has fast code for the powers 2 and 1/2 only
        exponent = float(y)
        if exponent == 2 or exponent == 3:
            return x * x if exponent == 2 else x * x * x
    return np.power(_without_odd_roots(x, y), y)


def _without_odd_roots(x: Array, y: Array) -> Array:
    """Replace -0 and -inf by 0 and inf where `y` is 1/2: NumPy may take `sqrt`, which is -0 and NaN there."""
    if x.dtype.kind == "f" and (is_half := y == 0.5).any():
        is_odd = is_half & ((x == 0) | (x == -np.inf))
        return np.where(is_odd, np.abs(x), x) if is_odd.any() else x
    return x


def _divide_no_nan(x: Array, y: Array) -> Array:
    return selected(y != 0, x / y, x.dtype.type(0))


def _multiply_no_nan(x: Array, y: Array) -> Array:
    return selected(y != 0, x * y, x.dtype.type(0))


def _xlogy(x: Array, y: Array) -> Array:
    return selected(x != 0, x * np.log(y), x.dtype.type(0))


def _xdivy(x: Array, y: Array) -> Array:
    return selected(x != 0, x / y, x.dtype.type(0))


@on_numbers
def _squared_difference(x: Array, y: Array) -> Array:
    difference = x - y
    return difference * np.conj(difference) if difference.dtype.kind == "c" else difference * difference


@on_numbers
def _add(x: Array, y: Array) -> Array:
    total = x + y
    return np.array(total, object) if type(total) is bytes else total  # of two scalar strings


add = binary("add", _add, NUMERIC | STRINGS, "`x + y`; strings are joined.", "[1, 2], 10", "[11, 12]",
             expression="{0} + {1}", traits=COMMUTATIVE | MODULAR | CHEAP | BANDWIDTH_BOUND, ufunc=np.add,
             scalar={"iuf": "{0} + {1}"}, interval=intervals.add, export=("math.add", "add"))  # fmt: skip
subtract = binary("subtract", operator.sub, NUMERIC, "`x - y`.", "[1, 2], 10", "[-9, -8]",
                  expression="{0} - {1}", traits=MODULAR | CHEAP | BANDWIDTH_BOUND, ufunc=np.subtract,
                  scalar={"iuf": "{0} - {1}"}, interval=intervals.subtract,
                  export=("math.subtract", "subtract"))  # fmt: skip
multiply = binary("multiply", operator.mul, NUMERIC, "`x * y`.", "[1, 2], 10", "[10, 20]",
                  expression="{0} * {1}", traits=COMMUTATIVE | MODULAR | CHEAP | BANDWIDTH_BOUND,
                  ufunc=np.multiply, scalar={"iuf": "{0} * {1}"}, interval=intervals.multiply,
                  export=("math.multiply", "multiply"))  # fmt: skip
realdiv = binary("realdiv", operator.truediv, CURVED,
                 "`x / y` of numbers that are not integers; see `divide`.", "[1., -1.], 0.", "[inf, -inf]",
                 expression="{0} / {1}", traits=BANDWIDTH_BOUND, cost=4, ufunc=np.divide,
                 scalar={"f": "{0} / {1} if {1} else {kernel}({0}, {1})"}, export=("realdiv",))  # fmt: skip
floordiv = binary("floordiv", _floordiv, REAL, "`x / y`, rounded down.", "[7, -7], 2", "[3, -4]",
                  traits=ELEMENTWISE | INTEGER_ERRORS | CHEAP, cost=8, ufunc=np.floor_divide,
                  out={"f": ("np.divide({0}, {1}, out={o})", "np.floor({o}, out={o})")},
                  scalar={"iu": "{0} // {1}"},
                  numpy_scalar={"iu": "{0} // {1} if {1} else {kernel}({0}, {1})"},
                  interval=intervals.floordiv, export=("math.floordiv",))  # fmt: skip
floormod = binary("floormod", _floormod, REAL, "The remainder of `floordiv`, with the sign of `y`.",
                  "[7, -7], 3", "[1, 2]", traits=ELEMENTWISE | INTEGER_ERRORS | CHEAP | INLINE_SCALAR, cost=8,
                  ufunc=np.remainder, out={"f": ("np.remainder({0}, {1}, out={o})",)},
                  scalar={"iu": "{0} % {1}", "f": "{0} % {1} if {1} else {kernel}({0}, {1})"},
                  numpy_scalar={"iu": "{0} % {1} if {1} else {kernel}({0}, {1})"},
                  interval=intervals.floormod, export=("math.floormod", "math.mod"))  # fmt: skip
truncatediv = binary("truncatediv", _truncatediv, REAL, "`x / y`, rounded towards zero.", "[7, -7], 2",
                     "[3, -3]", traits=ELEMENTWISE | INTEGER_ERRORS, cost=8,
                     out={"f": ("np.divide({0}, {1}, out={o})", "np.trunc({o}, out={o})")},
                     export=("truncatediv",))  # fmt: skip
truncatemod = binary("truncatemod", _truncatemod, REAL, "The remainder of `truncatediv`, with the sign of `x`.",
                     "[7, -7], 3", "[1, -1]", traits=ELEMENTWISE | INTEGER_ERRORS, cost=8,
                     out={"f": ("np.fmod({0}, {1}, out={o})",)}, export=("truncatemod",))  # fmt: skip
pow = binary("pow", _pow, SIGNED | CURVED, "`x` to the power `y`.", "[2, 3], 3", "[8, 27]",
             traits=ELEMENTWISE | INTEGER_ERRORS, cost=60, out={"f": ("{o}[...] = {kernel}",)},
             export=("math.pow", "pow"))  # fmt: skip
_LARGER = {
    "iu": "{0} if {0} >= {1} else {1}",
    "f": "{0} if {0} > {1} else {1} if {1} > {0} else {kernel}({0}, {1})",
}
maximum = binary("maximum", np.maximum, REAL, "The larger element; NaN where either is NaN.", "[1, 5], 3", "[3, 5]",
                 traits=CHEAP | BANDWIDTH_BOUND, scalar=_LARGER, numpy_scalar=_LARGER,
                 interval=intervals.maximum, export=("math.maximum", "maximum"))  # fmt: skip
_SMALLER = {
    "iu": "{0} if {0} <= {1} else {1}",
    "f": "{0} if {0} < {1} else {1} if {1} < {0} else {kernel}({0}, {1})",
}
minimum = binary("minimum", np.minimum, REAL, "The smaller element; NaN where either is NaN.", "[1, 5], 3", "[1, 3]",
                 traits=CHEAP | BANDWIDTH_BOUND, scalar=_SMALLER, numpy_scalar=_SMALLER,
                 interval=intervals.minimum, export=("math.minimum", "minimum"))  # fmt: skip
squared_difference = binary("squared_difference", _squared_difference, NUMERIC, "`(x - y) * conj(x - y)`.",
                            "[1, 5], 3", "[4, 4]", traits=COMMUTATIVE | ELEMENTWISE,
                            out={"f": ("np.subtract({0}, {1}, out={o})", "np.multiply({o}, {o}, out={o})")},
                            export=("math.squared_difference",))  # fmt: skip
atan2 = binary("atan2", np.arctan2, FLOATS, "The angle of the point (x, y).", "[0., 0.], [1., 2.]",
               "[0.0, 0.0]", parameters=("y", "x"), cost=30, formula=lambda m, y, x: m.atan2(y, x),
               export=("math.atan2", "atan2"))  # fmt: skip
real_divide_no_nan = binary("divide_no_nan", _divide_no_nan, CURVED, "`x / y`, and 0 where `y` is 0.",
                            "[3., 3.], [2., 0.]", "[1.5, 0.0]", traits=ELEMENTWISE, cost=5)  # fmt: skip
multiply_no_nan = binary("multiply_no_nan", _multiply_no_nan, CURVED, "`x * y`, and 0 where `y` is 0.",
                         "[3., float('inf')], [2., 0.]", "[6.0, 0.0]", traits=ELEMENTWISE, cost=2,
                         export=("math.multiply_no_nan",))  # fmt: skip
xlogy = binary("xlogy", _xlogy, CURVED, "`x * log(y)`, and 0 where `x` is 0.", "[0., 2.], [0., 1.]",
               "[0.0, 0.0]", traits=ELEMENTWISE, cost=16, export=("math.xlogy",))  # fmt: skip
xdivy = binary("xdivy", _xdivy, CURVED, "`x / y`, and 0 where `x` is 0.", "[0., 3.], [0., 2.]", "[0.0, 1.5]",
               traits=ELEMENTWISE, cost=5, export=("math.xdivy",))  # fmt: skip

# Sizes are computed while a graph is built, if they are known.
for _sizes, _compute in (
    (add, operator.add), (subtract, operator.sub), (multiply, operator.mul), (floordiv, operator.floordiv),
    (floormod, operator.mod), (maximum, max), (minimum, min),
):  # fmt: skip
    _sizes.elements(static_values.computed(_compute))

# Gradient functions. A broadcast operand gets the sum of the cotangents of its copies; see `fitted`.

add.gradient(lambda dy, z, x, y: (fitted(dy, x), fitted(dy, y)))
subtract.gradient(lambda dy, z, x, y: (fitted(dy, x), lambda: fitted(-dy, y)))
multiply.gradient(lambda dy, z, x, y: (lambda: fitted(dy * conj(y), x), lambda: fitted(dy * conj(x), y)))
realdiv.gradient(
    lambda dy, z, x, y: (
        lambda: fitted(dy / conj(y), x),
        lambda: fitted(-dy * conj(x) / conj(y) / conj(y), y),
    )
)
floordiv.no_gradient("it is piecewise constant")
floormod.gradient(lambda dy, z, x, y: (fitted(dy, x), lambda: fitted(-dy * floordiv(x, y), y)))
truncatediv.no_gradient("it is piecewise constant")
truncatemod.gradient(lambda dy, z, x, y: (fitted(dy, x), lambda: fitted(-dy * truncatediv(x, y), y)))
maximum.gradient(lambda dy, z, x, y: _to_the_chosen(dy, x, y, x >= y))
minimum.gradient(lambda dy, z, x, y: _to_the_chosen(dy, x, y, x <= y))
squared_difference.gradient(lambda dy, z, x, y: _of_squared_difference(dy, x, y))
atan2.gradient(
    lambda dy, z, y, x: (
        lambda: fitted(dy * (x / (x * x + y * y)), y),
        lambda: fitted(dy * (-y / (x * x + y * y)), x),
    )
)
real_divide_no_nan.gradient(
    lambda dy, z, x, y: (
        lambda: fitted(real_divide_no_nan(dy, conj(y)), x),
        lambda: fitted(dy * real_divide_no_nan(real_divide_no_nan(-conj(x), conj(y)), conj(y)), y),
    )
)
multiply_no_nan.gradient(
    lambda dy, z, x, y: (
        lambda: fitted(multiply_no_nan(dy, conj(y)), x),
        lambda: fitted(multiply_no_nan(conj(x), dy), y),
    )
)
# Derivatives are infinite at the ends of the domain. `multiply_no_nan` keeps zero cotangents there at zero,
# such as those that `where` returns for the branch not taken.
sqrt.gradient(lambda dy, y, x: multiply_no_nan(0.5 * reciprocal(conj(y)), dy))
rsqrt.gradient(lambda dy, y, x: multiply_no_nan(-0.5 * conj(y) ** 3, dy))
reciprocal.gradient(lambda dy, y, x: multiply_no_nan(-square(conj(y)), dy))
log.gradient(lambda dy, y, x: multiply_no_nan(reciprocal(conj(x)), dy))
log1p.gradient(lambda dy, y, x: multiply_no_nan(reciprocal(conj(x) + 1), dy))
xlogy.gradient(
    lambda dy, z, x, y: (
        lambda: fitted(dy * xlogy(_is_not_zero(x), conj(y)), x),
        lambda: fitted(dy * xdivy(conj(x), conj(y)), y),
    )
)
xdivy.gradient(
    lambda dy, z, x, y: (
        lambda: fitted(dy * xdivy(_is_not_zero(x), conj(y)), x),
        lambda: fitted(dy * xdivy(-conj(x), square(conj(y))), y),
    )
)


def _is_not_zero(x: Any) -> Any:
    return cast(not_equal(x, 0), x.dtype)


def _to_the_chosen(dy: Any, x: Any, y: Any, first: Any) -> tuple[Any, Any]:
    """Return the cotangents of `x` and `y` if the result is one of them; of equal elements `x` gets it."""
    return (
        lambda: fitted(choose(first, dy, zeros_like(dy)), x),
        lambda: fitted(choose(first, zeros_like(dy), dy), y),
    )


def _of_squared_difference(dy: Any, x: Any, y: Any) -> tuple[Any, Any]:
    to_x = as_real(dy) * 2 * (x - y)
    return fitted(to_x, x), lambda: fitted(-to_x, y)


@sign.gradient
def _(dy: Any, y: Any, x: Any) -> Any:
    """Return zeros for real numbers; for complex ones the component of `dy` orthogonal to `y`."""
    if not x.dtype.is_complex:
        return zeros_like(x)
    return real_divide_no_nan(y * as_real(dy * conj(y) * -1j) * 1j, cast(abs(x), x.dtype))


@pow.gradient
def _(dy: Any, z: Any, x: Any, y: Any) -> Any:
    """Differentiate the power.

    The exponent gets 0 where the base is 0 or negative and has no logarithm, as in TensorFlow.
    """

    def to_base() -> Any:
        power = conj(y)
        return fitted(dy * power * pow(conj(x), power - 1), x)

    def to_exponent() -> Any:
        base = conj(x)
        is_positive = not_equal(base, 0) if x.dtype.is_complex else base > 0
        safe = choose(is_positive, base, ones_like(base))
        return fitted(dy * conj(z) * choose(is_positive, log(safe), zeros_like(base)), y)

    return to_base, to_exponent


mod = floormod

_QUOTIENTS = {dtype: dtypes.float32 if dtype.size <= 2 else dtypes.float64 for dtype in INTEGERS} | {
    dtype: dtype for dtype in CURVED
}


@export("math.divide", "math.truediv", "divide", "truediv")
@cached_dispatch
@composite_dispatch.elementwise_on(2)
def divide(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Return `x / y` as in Python 3: integers give float64 (those of 8 and 16 bits float32).

    >>> divide([1, 3], 2)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0.5, 1.5])>
    """
    fits = y.dtype is x.dtype if isinstance(y, Tensor) and isinstance(x, Tensor) else not is_tensor_like(y)
    if fits and name is None and isinstance(x, Tensor) and x.dtype in CURVED:
        return realdiv(x, y)  # type: ignore[no-any-return]  # fast path
    try:
        x, y = _fractions(x, y)
    except MeetsCompositeError as met:
        return composite_dispatch.apply(divide, (x, y, name), met)  # type: ignore[no-any-return]
    return realdiv(x, y) if name is None else realdiv(x, y, name)  # type: ignore[no-any-return]


truediv = divide


@export("math.divide_no_nan")
@cached_dispatch
@dispatching_composites("divide_no_nan", element_operands=2)
def divide_no_nan(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Return `x / y`, and 0 where `y` is 0; integers are treated as by `divide`.

    >>> divide_no_nan([3., 3.], [2., 0.]).numpy().tolist()
    [1.5, 0.0]
    """
    x, y = _fractions(x, y)
    return real_divide_no_nan(x, y, name)  # type: ignore[no-any-return]


def _fractions(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    hint = y.dtype if is_tensor_like(y) and not is_tensor_like(x) else None
    x = convert_to_tensor(x, hint)
    y = convert_to_tensor(y, None if is_tensor_like(y) else x.dtype)
    if x.dtype is not y.dtype:
        raise TypeError(
            f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}: convert one with tf.cast"
        )
    wanted = _QUOTIENTS.get(x.dtype)
    if wanted is None:
        raise TypeError(f"Invalid dtype {x.dtype!r} in __truediv__. Expected one of {set(_QUOTIENTS)}")
    return cast(x, wanted), cast(y, wanted)


@export("math.add_n", "add_n")
@op
def add_n(inputs: Inputs, name: Name = None) -> TensorType:
    """Return the sum of tensors of one shape.

    >>> add_n([[1, 2], [10, 20], [100, 200]]).numpy().tolist()
    [111, 222]
    """
    if not inputs:
        raise ValueError("add_n needs at least one tensor")
    require_dtype(inputs[0], NUMERIC, "add_n")
    return TensorType(inputs[0].dtype, functools.reduce(shapes.merge, [tensor.shape for tensor in inputs]))


@add_n.kernel
def _(inputs: list[Array]) -> Array:
    first, *rest = [x.shape for x in inputs]
    if rest.count(first) < len(rest):
        raise errors.InvalidArgumentError("Inputs to operation AddN must have the same size and shape")
    return functools.reduce(operator.add, inputs)


@add_n.specialize
def _(inputs: list[Any]) -> Any:
    """Return the sum alone for arrays of one shape."""
    are_equal = shapes.is_static(inputs[0].shape) and all(x.shape == inputs[0].shape for x in inputs)
    return (lambda *arrays: functools.reduce(operator.add, arrays)) if are_equal else None


add_n.gradient(lambda dy, y, inputs: [dy] * len(inputs))
