"""Control flow as functions: `cond`, `while_loop`, `switch_case`, `case`.

Outside of graphs they just run Python; in a graph they record one operation with regions. AutoGraph stages
`if`, `while` and `for` to the same operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import branches, loops, nest, regions
from .convert import convert_to_tensor
from .ir.builder import current, eagerly
from .ops.casting import cast
from .ops.structure import COND, SWITCH
from .tensor import SymbolicTensor


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` if `pred` is true, else `false_fn()`; in a graph the run decides, and only that one runs.

    Args:
        pred: a scalar bool, as a tensor or a Python value.
        true_fn, false_fn: functions without arguments that return the same structure, dtypes and kinds of values.

    Raises TypeError when a function is missing or, in a graph, when the results do not fit each other.

    >>> from agc.runtime import constant
    >>> cond(constant(3) > 2, lambda: constant(1), lambda: constant(0)).numpy()
    np.int32(1)
    """
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if not is_traced(pred):
        return true_fn() if pred else false_fn()
    test = regions.truth(pred, "tf.cond")
    functions = [lambda: (true_fn(),), lambda: (false_fn(),)]
    return branches.choice(COND, test, functions, ["result"])[0]


def is_traced(value: Any) -> bool:
    """Whether a graph decides on this value: it is a traced tensor, or a variable while a graph is being built."""
    return isinstance(value, SymbolicTensor) or (hasattr(value, "content_spec") and current() is not None)


def switch_case(
    branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """Call the function with number `branch_index`; when there is none, `default`, or else the last one.

    Args:
        branch_index: a scalar int32.
        branch_fns: a list of functions, a list of (number, function) pairs, or a dict; numbers count from 0
            without gaps.

    >>> from agc.runtime import constant
    >>> switch_case(constant(1), [lambda: "a", lambda: "b", lambda: "c"])
    'b'
    """
    functions = _numbered(branch_fns)
    if default is not None:
        if not callable(default):
            raise TypeError(f"'default' must be callable, not {default!r}")
        functions.append(default)
    if not is_traced(branch_index):
        index = int(branch_index)
        return functions[index if 0 <= index < len(functions) else -1]()
    if len(functions) == 1:
        return functions[0]()
    selector = cast(branch_index, "int32")
    wrapped = [lambda function=function: (function(),) for function in functions]
    return branches.choice(SWITCH, selector, wrapped, ["result"])[0]


def _numbered(branch_fns: Any) -> list[Callable[[], Any]]:
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if not pairs:
        raise ValueError("switch_case needs at least one branch")
    if not all(isinstance(pair, tuple) for pair in pairs):
        pairs = list(enumerate(pairs))
    pairs.sort(key=lambda pair: pair[0])
    if [number for number, _ in pairs] != list(range(len(pairs))):
        raise ValueError(
            f"branch indices must be 0 .. {len(pairs) - 1} without gaps, not {[n for n, _ in pairs]}"
        )
    for _, function in pairs:
        if not callable(function):
            raise TypeError(f"branch functions must be callable, not {function!r}")
    return [function for _, function in pairs]


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str | None = None,
) -> Any:
    """The function of the first pair whose predicate is true, else `default`.

    Args:
        pred_fn_pairs: (scalar bool, function) pairs. `exclusive` is accepted; the first true one is taken.
        default: without it, the last function stands for the case that no predicate is true.

    >>> from agc.runtime import constant
    >>> x = constant(5)
    >>> case([(x < 3, lambda: "small"), (x < 9, lambda: "medium")], default=lambda: "large")
    'medium'
    """
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise ValueError("case needs at least one (predicate, function) pair")
    if default is None:
        default = pairs.pop()[1]
    chosen = default
    for predicate, function in reversed(pairs):
        chosen = _choice(predicate, function, chosen)
    return chosen()


def _choice(predicate: Any, function: Callable[[], Any], otherwise: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: cond(predicate, function, otherwise)


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
) -> Any:
    """Replace `loop_vars` by `body(*loop_vars)` while `cond(*loop_vars)` is true; return the last ones.

    Args:
        cond: takes the loop variables, returns a scalar bool.
        body: takes them, returns a list or tuple of the same structure (one variable may stand alone).
        loop_vars: a tuple, list or other nest of tensors, TensorArrays, numbers and Python objects.
        shape_invariants: shapes (TensorShape or TensorSpec) in the structure of `loop_vars`, for those that change.
            What is left out is found by tracing: a dimension that changes becomes unknown.
        maximum_iterations: stop after so many rounds at the latest.
        parallel_iterations, back_prop, swap_memory: accepted for compatibility.

    Raises TypeError (ValueError) in a graph when the body changes dtypes or structure.

    >>> while_loop(lambda i: i < 10, lambda i: (i * 2,), (1,))
    (<tf.Tensor: shape=(), dtype=int32, numpy=16>,)
    """
    if not loop_vars:
        raise ValueError("'loop_vars' must be a nonempty list or tuple")
    state = tuple(loop_vars)
    step = _as_tuple(body, len(state))
    if maximum_iterations is not None:
        test, counted = _limited(cond, step, maximum_iterations)
        last = _run(
            (0, *state), test, counted, ["iteration", *_names(body, state)], _shapes(shape_invariants, 1)
        )
        return nest.rebuilt(loop_vars, list(last[1:]))
    last = _run(state, cond, step, _names(body, state), _shapes(shape_invariants, 0))
    return nest.rebuilt(loop_vars, list(last))


def _run(
    state: tuple[Any, ...],
    test: Callable[..., Any],
    body: Callable[..., Any],
    names: Sequence[str],
    shapes: Any,
) -> tuple[Any, ...]:
    if current() is None:
        state = nest.map_structure(_eager_leaf, state)
        while test(*state):
            state = body(*state)
        return tuple(state)
    return loops.Loop(test, body, state, names, shapes).record()


def _eager_leaf(leaf: Any) -> Any:
    return convert_to_tensor(leaf) if isinstance(leaf, (bool, int, float, complex)) else leaf


def _as_tuple(body: Callable[..., Any], count: int) -> Callable[..., tuple[Any, ...]]:
    def stepped(*state: Any) -> tuple[Any, ...]:
        result = body(*state)
        is_sequence = isinstance(result, (tuple, list)) and (count > 1 or len(result) == 1)
        after = tuple(result) if is_sequence else (result,)
        if len(after) != count:
            raise ValueError(f"The body returns {len(after)} values for {count} loop variables")
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


def _shapes(invariants: Any, extra: int) -> list[Any] | None:
    if invariants is None:
        return None
    flat = [getattr(shape, "shape", shape) for shape in _flat_shapes(invariants)]
    return [None] * extra + flat


def _flat_shapes(invariants: Any) -> list[Any]:
    if isinstance(invariants, (list, tuple)) and not all(
        isinstance(item, (int, type(None))) for item in invariants
    ):
        return [shape for item in invariants for shape in _flat_shapes(item)]
    return [invariants]


__all__ = ["case", "cond", "switch_case", "while_loop"]
