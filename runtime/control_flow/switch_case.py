"""Choices among several functions: `switch_case` by an index, `case` by the first predicate that is true.

>>> from agc.runtime import constant
>>> x = constant(5)
>>> case([(x < 3, lambda: "small"), (x < 9, lambda: "medium")], default=lambda: "large")
'medium'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import stack
from ..ops.arrays.reshape import reshape
from ..ops.assertions.assert_op import require
from ..ops.framework.region_ops import SWITCH
from ..ops.math.cast import cast
from ..ops.math.comparison import less_equal
from ..ops.reduce.reductions import reduce_any, reduce_sum
from . import conditional
from .functional_api import cond, is_traced

Branch = Callable[[], Any]


@export("switch_case")
def switch_case(
    branch_index: Any, branch_fns: Any, default: Branch | None = None, name: str | None = "switch_case"
) -> Any:
    """Call the function with index `branch_index`; if there is none, call `default`, or else the last function.

    Args:
        branch_index: a scalar integer.
        branch_fns: a list of functions, a list of (number, function) pairs, or a dict; numbers count from 0
            without gaps.

    Raises TypeError when the index is no integer, or a branch no function; ValueError for gaps and no branches.

    >>> from agc.runtime import constant
    >>> switch_case(constant(1), [lambda: "a", lambda: "b", lambda: "c"])
    'b'
    """
    functions = _numbered(branch_fns)
    if default is not None:
        if not callable(default):
            raise TypeError(f"'default' must be callable, not {default!r}")
        functions.append(default)
    index = convert_to_tensor(branch_index)
    if not index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {index.dtype}")
    if not is_traced(index):
        number = int(index)
        return functions[number if 0 <= number < len(functions) else -1]()
    if len(functions) == 1:
        return functions[0]()
    wrapped = [lambda function=function: (function(),) for function in functions]
    return conditional.trace_branches(SWITCH, cast(index, "int32"), wrapped, ["result"])[0]


def _numbered(branch_fns: Any) -> list[Branch]:
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if not pairs:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if not all(isinstance(pair, tuple) for pair in pairs):
        pairs = list(enumerate(pairs))
    pairs.sort(key=lambda pair: pair[0])
    numbers = [number for number, _ in pairs]
    if numbers != list(range(len(pairs))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found "
            f"{{{','.join(map(str, numbers))}}}"
        )
    for _, function in pairs:
        if not callable(function):
            raise TypeError(f"branch functions must be callable, not {function!r}")
    return [function for _, function in pairs]


@export("case")
def case(
    pred_fn_pairs: Any,
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str | None = "case",
) -> Any:
    """Call the function of the first pair with a true predicate, else `default`; return its result.

    Args:
        pred_fn_pairs: (scalar bool, function) pairs.
        default: the function to call when no predicate is true.
        exclusive: whether at most one predicate may be true; all predicates are computed then.
        strict: accepted for compatibility: a list of one result stays a list in any case.

    Raises InvalidArgumentError when no predicate is true and there is no `default`, and when several predicates are
    true despite `exclusive`; TypeError for functions that cannot be called; ValueError when there are no pairs.

    >>> from agc.runtime import constant
    >>> case([(constant(False), lambda: 1)], default=lambda: 2)
    2
    """
    predicates, functions = _pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    if exclusive:
        _require_one_at_most(predicates)
    if default is None:
        default = _required(predicates, functions[-1])
        pairs = list(zip(predicates, functions, strict=True))[:-1]
    else:
        pairs = list(zip(predicates, functions, strict=True))
    chosen = default
    for predicate, function in reversed(pairs):
        chosen = _choice(predicate, function, chosen)
    return chosen()


def _pairs(pred_fn_pairs: Any) -> tuple[list[Any], list[Branch]]:
    if isinstance(pred_fn_pairs, dict):
        pairs = [
            (key.deref() if hasattr(key, "deref") else key, value) for key, value in pred_fn_pairs.items()
        ]
    else:
        pairs = list(pred_fn_pairs)
    if not pairs:
        raise ValueError("pred_fn_pairs must have at least one (predicate, function) pair")
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise TypeError(f"Each entry in pred_fn_pairs must be a 2-tuple, but they are {pairs}")
    for predicate, function in pairs:
        if not callable(function):
            raise TypeError(f"fn for pred {predicate!r} must be callable.")
    return [predicate for predicate, _ in pairs], [function for _, function in pairs]


def _choice(predicate: Any, function: Branch, otherwise: Branch) -> Branch:
    return lambda: cond(predicate, function, otherwise)


def _required(predicates: Sequence[Any], last: Branch) -> Branch:
    """Return a function that calls `last` after a check that one of the predicates is true."""

    def checked() -> Any:
        truths = _vector(predicates)
        message = "assertion failed: [Input error: None of conditions evaluated as True:]"
        require(reduce_any(truths), message, truths)
        return last()

    return checked


def _require_one_at_most(predicates: Sequence[Any]) -> None:
    truths = _vector(predicates)
    message = "assertion failed: [Input error: exclusive=True: more than 1 conditions evaluated as True:]"
    require(less_equal(reduce_sum(cast(truths, "int32")), 1), message, truths)


def _vector(predicates: Sequence[Any]) -> Tensor:
    return stack([reshape(convert_to_tensor(each), ()) for each in predicates])  # type: ignore[no-any-return]
