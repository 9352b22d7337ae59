"""Functional control flow: `cond` and `while_loop`; see switch_case.py for `switch_case` and `case`.

Outside of graphs they run Python; in a graph they record one operation with regions. AutoGraph stages
`if`, `while` and `for` to the same operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from agc.autograph.staging import has_fields

from .. import nest
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.symbolic_tensor import SymbolicTensor
from ..core.variable import Variable
from ..ir.builder import current, eagerly
from ..ops.framework.region_ops import COND
from . import conditional, loop_options, regions
from . import while_loop as loops


@export("cond")
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return `true_fn()` if `pred` is true, else `false_fn()`; a graph decides at run time, and runs one of them.

    Args:
        pred: a scalar bool, as a tensor or a Python value.
        true_fn, false_fn: functions without arguments that return the same structure, dtypes and kinds of values.

    Raises TypeError when a function is missing or, in a graph, when the results do not fit each other; ValueError when
    `pred` is None.

    >>> from agc.runtime import constant
    >>> cond(constant(3) > 2, lambda: constant(1), lambda: constant(0)).numpy()
    np.int32(1)
    """
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if pred is None:
        raise ValueError("None values not supported: 'pred' must be a bool or a scalar tensor.")
    if not is_traced(pred):
        return true_fn() if pred else false_fn()
    test = regions.truth(pred, "tf.cond")
    functions = [lambda: (true_fn(),), lambda: (false_fn(),)]
    return conditional.trace_branches(COND, test, functions, ["result"])[0]


def is_traced(value: Any) -> bool:
    """Return whether the value is known only at run time: a traced tensor, or a variable while tracing."""
    return isinstance(value, SymbolicTensor) or (hasattr(value, "content_spec") and current() is not None)


@export("while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
    checkpoint_every: Any = None,
) -> Any:
    """Replace `loop_vars` by `body(*loop_vars)` while `cond(*loop_vars)` is true; return the last ones.

    Args:
        cond: takes the loop variables, returns a scalar bool.
        body: takes the loop variables, returns a list or tuple of the same structure (or the only variable itself).
        loop_vars: a tuple, list or other nest of tensors, TensorArrays, numbers and Python objects.
        shape_invariants: shapes (TensorShape or a type spec) in the structure of `loop_vars`, for shapes that change.
            Missing ones are found by tracing: a dimension that changes becomes unknown.
        maximum_iterations: the maximum number of iterations.
        checkpoint_every: for gradients, keep the state of every so many iterations only, and recompute the iterations
            between; with "auto" n iterations take memory for about the square root of 2 n. With None every iteration
            keeps its residuals. No effect outside of graphs, where tapes record each operation.
        parallel_iterations, back_prop, swap_memory: accepted for compatibility.

    Raises TypeError when `cond` or `body` cannot be called; TypeError (ValueError) in a graph when the body changes
    dtypes or structure.

    >>> while_loop(lambda i: i < 10, lambda i: (i * 2,), (1,))
    (<tf.Tensor: shape=(), dtype=int32, numpy=16>,)
    """
    for name_of_function, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{name_of_function}' must be callable.")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    every = loop_options.checkpoints({"checkpoint_every": checkpoint_every})
    state = tuple(loop_vars)
    step = _as_tuple(body, state)
    if maximum_iterations is not None:
        test, counted = _limited(cond, step, maximum_iterations)
        last = _run(
            (0, *state),
            test,
            counted,
            ["iteration", *_names(body, state)],
            _shapes(shape_invariants, state, 1),
            every,
        )
        return nest.rebuilt(loop_vars, list(last[1:]))
    last = _run(state, cond, step, _names(body, state), _shapes(shape_invariants, state, 0), every)
    return nest.rebuilt(loop_vars, list(last))


def _run(
    state: tuple[Any, ...],
    test: Callable[..., Any],
    body: Callable[..., Any],
    names: Sequence[str],
    shapes: Any,
    every: Any,
) -> tuple[Any, ...]:
    if current() is None:
        while test(*state):
            state = body(*state)
        return tuple(nest.map_structure(_eager_leaf, state))
    state = nest.map_structure(_read_variable, state)
    return loops.Loop(test, body, state, names, shapes, None, every).record()


def _eager_leaf(leaf: Any) -> Any:
    is_number = isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic))
    return convert_to_tensor(leaf) if is_number else _read_variable(leaf)


def _read_variable(leaf: Any) -> Any:
    is_variable = isinstance(leaf, Variable) or hasattr(type(leaf), "__tf_tensor__")
    return convert_to_tensor(leaf) if is_variable else leaf


def _as_tuple(body: Callable[..., Any], state: tuple[Any, ...]) -> Callable[..., tuple[Any, ...]]:
    # The body may return the only variable itself, if that is a nest.
    may_be_nest = len(state) == 1 and nest.is_nested(state[0])

    def stepped(*state: Any) -> tuple[Any, ...]:
        result = body(*state)
        has_variables = len(state) > 1 and has_fields(type(result)) and hasattr(result, "__iter__")
        is_sequence = isinstance(result, (tuple, list)) and (not may_be_nest or len(result) == 1)
        after = tuple(result) if is_sequence or has_variables else (result,)
        if len(after) != len(state):
            raise ValueError(
                f"while_loop: `body` returns {len(after)} values, but there are {len(state)} `loop_vars`"
            )
        return after

    return stepped


def _limited(
    test: Callable[..., Any], body: Callable[..., tuple[Any, ...]], limit: Any
) -> tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]:
    with eagerly():
        bound = limit if is_traced(limit) else convert_to_tensor(limit, "int32")

    def limited_test(iteration: Any, *state: Any) -> Any:
        return cond(iteration < bound, lambda: test(*state), lambda: False)

    return limited_test, lambda iteration, *state: (iteration + 1, *body(*state))


def _names(body: Callable[..., Any], state: tuple[Any, ...]) -> list[str]:
    code = getattr(body, "__code__", None)
    own = code.co_varnames[: code.co_argcount] if code is not None else ()
    return list(own) if len(own) == len(state) else [f"var_{i}" for i in range(len(state))]


def _shapes(invariants: Any, state: tuple[Any, ...], extra: int) -> list[Any] | None:
    """Return the shape invariant of each leaf of the state, None where there is none; `extra` leaves come first."""
    if invariants is None:
        return None
    said, flat = _flat_shapes(invariants), nest.flatten(state)
    if not any(map(nest.is_composite, flat)):
        return [None] * extra + [getattr(shape, "shape", shape) for shape in said]
    pairs = zip(flat, said, strict=True)
    return [None] * extra + [shape for leaf, one in pairs for shape in loop_options.shapes_of(leaf, one)]


def _flat_shapes(invariants: Any) -> list[Any]:
    if isinstance(invariants, (list, tuple)) and not all(
        isinstance(item, (int, type(None))) for item in invariants
    ):
        return [shape for item in invariants for shape in _flat_shapes(item)]
    return [invariants]
