"""Assertions about the values of tensors: `tf.debugging.assert_equal` and related functions.

Known values are checked at once, also during tracing; other values each time the graph runs.

>>> assert_less(convert_to_tensor([1, 2]), 3)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ... import errors
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import EagerTensor, Tensor
from ...ir.builder import current, eagerly
from ..framework.effects_as_operations import returns_operation
from ..math import comparison
from ..math.elementwise import abs as absolute
from ..reduce import reductions
from .assert_op import called, require

Holds = Callable[[Any, Any], Any]


class BinaryAssertion(Protocol):
    """The signature of assertions about two tensors."""

    def __call__(
        self,
        x: Any,
        y: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None: ...


class UnaryAssertion(Protocol):
    """The signature of assertions about one tensor."""

    def __call__(
        self, x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None: ...


def _binary(name: str, sign: str, holds: Holds) -> BinaryAssertion:
    @returns_operation
    def check(
        x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        x, y = _pair(x, y)
        said = [message] if message else []
        _check(
            lambda: holds(x, y),
            {"x": x, "y": y},
            [*said, f"Condition x {sign} y did not hold element-wise:"],
            lambda truths: _differing(f"Condition x {sign} y did not hold.", said, x, y, truths, summarize),
            summarize,
        )

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""Raise InvalidArgumentError unless `x {sign} y` for all elements, with broadcasting.

    Args:
        x, y: tensors of one dtype.
        message: what to say first.
        summarize: how many elements the message shows, 3 by default; -1 for all.

    >>> {name}([2, 2], {2 if "=" in sign and "!" not in sign else {"<": 3}.get(sign, 1)})
    """
    return check


def _unary(name: str, sign: str, holds: Holds) -> UnaryAssertion:
    @returns_operation
    def check(
        x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        x = convert_to_tensor(x)
        said = [f"{message}.  "] if message else []
        lines = [*said, f"Condition x {sign} 0 did not hold element-wise:"]
        _check(lambda: holds(x, 0), {"x": x}, lines, None, summarize)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""Raise InvalidArgumentError unless `x {sign} 0` for all elements.

    Args:
        x: a tensor of numbers.
        message: what to say first.
        summarize: how many elements the message shows, 3 by default; -1 for all.

    >>> {name}({"[-1, -2]" if "<" in sign else "[1, 2]"})
    """
    return check


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    y = y if isinstance(y, Tensor) else convert_to_tensor(y, dtype_hint=getattr(x, "dtype", None))
    x = x if isinstance(x, Tensor) else convert_to_tensor(x, dtype_hint=y.dtype)
    return x, y


def _check(
    holds: Callable[[], Any],
    operands: dict[str, Tensor],
    lines: Sequence[str],
    eager_text: Callable[[np.ndarray[Any, Any]], str] | None,
    summarize: int | None,
) -> None:
    """Check known values at once, others when the graph runs."""
    if not all(isinstance(operand, EagerTensor) for operand in operands.values()):
        data: list[Any] = list(lines)
        for name, operand in operands.items():
            data += [f"{name} ({called(operand)}) = ", operand]
        limit = 3 if summarize is None else summarize
        require(reductions.reduce_all(holds()), "assertion failed:", data, summarize=limit)
        return
    with eagerly():
        truths = holds()._array
    if truths.all():
        return
    if current() is None and eager_text is not None:
        raise errors.InvalidArgumentError(eager_text(truths))
    shown = [f"{name} ({called(operand)}) = \n{operand.numpy()}" for name, operand in operands.items()]
    raise errors.InvalidArgumentError("\n".join([*lines, *shown]))


def _differing(
    title: str, said: Sequence[str], x: Any, y: Any, truths: np.ndarray[Any, Any], summarize: int | None
) -> str:
    """Return a message with the indices and values at which two known tensors fail."""
    limit = 3 if summarize is None else x.numpy().size + y.numpy().size if summarize < 0 else summarize
    one, other = np.asarray(x._array), np.asarray(y._array)
    lines = [*said, title]
    if one.shape == other.shape and one.ndim:
        wrong = np.argwhere(~truths)[:limit]
        coordinates = tuple(wrong.T)
        lines += [
            f"Indices of first {len(wrong)} different values:",
            str(wrong),
            "Corresponding x values:",
            str(one[coordinates]),
            "Corresponding y values:",
            str(other[coordinates]),
        ]
    for name, array in (("x", one), ("y", other)):
        first = array.ravel()[:limit]
        lines += [f"First {len(first)} elements of {name}:", str(first)]
    return "\n".join(lines)


assert_equal = export("debugging.assert_equal", "assert_equal")(
    _binary("assert_equal", "==", comparison.equal)
)
_assert_none_equal = _binary("assert_none_equal", "!=", comparison.not_equal)
assert_less = export("debugging.assert_less", "assert_less")(_binary("assert_less", "<", comparison.less))
assert_less_equal = export("debugging.assert_less_equal")(
    _binary("assert_less_equal", "<=", comparison.less_equal)
)
assert_greater = export("debugging.assert_greater", "assert_greater")(
    _binary("assert_greater", ">", comparison.greater)
)
assert_greater_equal = export("debugging.assert_greater_equal")(
    _binary("assert_greater_equal", ">=", comparison.greater_equal)
)


@export("debugging.assert_none_equal")
@returns_operation
def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> None:
    """Raise InvalidArgumentError unless `x != y` for all elements; `summarize` precedes `message`, as in
    TensorFlow.

    >>> assert_none_equal([1, 2], [3, 4])
    """
    _assert_none_equal(x, y, message, summarize, name)


assert_positive = export("debugging.assert_positive")(_unary("assert_positive", ">", comparison.greater))
assert_negative = export("debugging.assert_negative")(_unary("assert_negative", "<", comparison.less))
assert_non_negative = export("debugging.assert_non_negative")(
    _unary("assert_non_negative", ">=", comparison.greater_equal)
)
assert_non_positive = export("debugging.assert_non_positive")(
    _unary("assert_non_positive", "<=", comparison.less_equal)
)


@export("debugging.assert_near")
@returns_operation
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless `|x - y| <= atol + rtol * |y|` for all elements.

    Args:
        x, y: tensors of one floating dtype (ValueError for others).
        rtol, atol: by default 10 times the epsilon of the dtype.
        message, summarize: as for `assert_equal`.

    >>> assert_near(1.0, 1.0 + 1e-7)
    """
    x, y = _pair(x, y)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise ValueError(f"assert_near takes floating dtypes, not {x.dtype.name}: use assert_equal")
    epsilon = 10 * float(np.finfo(x.dtype.numpy_dtype).eps)
    relative, least = (epsilon if rtol is None else rtol), (epsilon if atol is None else atol)
    said = [f"{message}.  "] if message else []
    lines = [*said, f"x and y not equal to tolerance rtol = {relative}, atol = {least}"]

    def near() -> Any:
        return comparison.less_equal(absolute(x - y), least + relative * absolute(y))

    _check(near, {"x": x, "y": y}, lines, None, summarize)
