"""Trace the branches of `cond` and `switch` into one operation.

    then → (x, y)  ┐   one structure, one dtype       x, y = cond test, …
    else → (x, 0)  ┘   for each variable        ==>     then … yield x, y
                                                        else … yield x, 0

Values that are the same Python object on every path stay Python. A variable that some path leaves undefined
is carried with a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.api import StagingError
from agc.autograph.staging import Maybe, Pending, Undefined, deciding

from .. import dtypes
from ..core import weak_types
from ..core.symbolic_tensor import SymbolicTensor, WeakDtypeError, adapting, weak_origin
from ..core.tensor import Tensor
from ..core.tensor_array import TensorArray
from ..ir.builder import Builder
from ..ir.graph import Operand, Value
from ..ir.op_def import OpDef
from ..ir.value_types import AnySpec, ListType
from ..ops.framework.composite_dispatch import is_rows
from ..ops.math.cast import cast
from . import exceptions, state_leaves
from .diagnostics import advice_for_objects, assigned, staging_error
from .list_staging import lists_agree
from .regions import active, as_maybe, blank_like, close_regions, common_spec, hint, repacked


def trace_branches(
    op: OpDef,
    selector: Any,
    functions: Sequence[Callable[[], tuple[Any, ...]]],
    names: Sequence[str],
    is_logic: bool = False,
    blocks: Sequence[Callable[..., Any]] = (),
) -> Any:
    """Record `cond` or `switch`, and return its results; each function returns one result for each of `names`.

    With `is_logic` the branches are the operands of `and` or `or`: a truth value becomes 0 or 1 if another branch
    returns a number. `blocks` are the user's functions, if `functions` wrap them. Errors show the lines in them
    that assign.
    """
    try:
        return _recorded(op, selector, functions, names, is_logic)
    except _DisagreementError as error:
        raise error.told(blocks or functions) from None


def _recorded(
    op: OpDef,
    selector: Any,
    functions: Sequence[Callable[[], tuple[Any, ...]]],
    names: Sequence[str],
    is_logic: bool,
) -> Any:
    outer = active()
    labels = ("then", "else") if len(functions) == 2 else tuple(f"branch_{i}" for i in range(len(functions)))
    builders = [Builder(label, outer) for label in labels]
    with deciding():
        results = _traced(builders, functions)
    if results is None:
        _record_branches(op, selector, builders, [[] for _ in builders], ())
        raise exceptions.RegionNeverReturns
    if is_logic or not all(map(state_leaves.are_plain, results)):
        columns = zip(names, zip(*results, strict=True), strict=True)
        agreed = [
            _agreed(name, _index_dtypes(builders, lists_agree(name, builders, list(column))))
            for name, column in columns
        ]
        if is_logic:
            agreed = [_numbers(builders, column) for column in agreed]
        results = list(map(list, zip(*agreed, strict=True)))
    return _record_branches(op, selector, builders, results, names)


def _traced(
    builders: Sequence[Builder], functions: Sequence[Callable[[], tuple[Any, ...]]]
) -> list[list[Any]] | None:
    """Call each function in its builder, and return the results; None if no branch returns.

    A branch that raises, or reads a variable without a value, fails in the graph if it is taken. Its results are
    blanks with the types of another branch.
    """
    given: list[list[Any] | None] = []
    for builder, function in zip(builders, functions, strict=True):
        with builder:
            try:
                given.append(list(function()))
            except BaseException as error:
                exceptions.end(error)
                given.append(None)
    alive = next((result for result in given if result is not None), None)
    if alive is None:
        return None
    return [list(map(blank_like, alive)) if result is None else result for result in given]


def _numbers(builders: Sequence[Builder], column: list[Any]) -> list[Any]:
    """Return the column with its truth values cast to numbers, if one of its scalars is a number."""
    if not all(isinstance(leaf, Tensor) or state_leaves.is_weak(leaf) for leaf in column):
        return column
    operands = [state_leaves.carried(leaf) for leaf in column]
    if any(operand.shape.rank != 0 for operand in operands):
        return column
    number = next((operand.dtype for operand in operands if not operand.dtype.is_bool), None)
    if number is None or number is dtypes.string:
        return column
    numbers = []
    for builder, leaf, operand in zip(builders, column, operands, strict=True):
        with builder:
            numbers.append(cast(operand, number) if operand.dtype.is_bool else leaf)
    return numbers


def _index_dtypes(builders: Sequence[Builder], column: list[Any]) -> list[Any]:
    """Return the column with the indices of its IndexedSlices cast to int64, where they have different dtypes."""
    if len({value.indices.dtype for value in column if is_rows(value)}) < 2:
        return column
    cast_column = []
    for builder, value in zip(builders, column, strict=True):
        with builder:
            if is_rows(value):
                value = type(value)(value.values, cast(value.indices, dtypes.int64), value.dense_shape)
            cast_column.append(value)
    return cast_column


def _agreed(name: str, values: list[Any]) -> list[Any]:
    """Return the values of one variable in all branches, converted to one structure."""
    real = [value for value in values if not isinstance(value, Undefined) or isinstance(value, Maybe)]
    if not real:
        return values
    agreed = [blank_like(real[0]) if isinstance(value, Pending) else value for value in values]
    if any(isinstance(value, Undefined) for value in agreed):
        agreed = [as_maybe(name, value, real[0]) for value in agreed]
    for other in agreed[1:]:
        if not state_leaves.same_structure(agreed[0], other):
            raise _DisagreementError(
                "AGC202",
                f"the branches give `{name}` different structures",
                name,
                values,
                [state_leaves.shown(value) for value in values],
                why="a value that a graph selects has the same structure in every branch",
                fix=f"give `{name}` as many items and the same keys in every branch",
            )
    return [state_leaves.widened(agreed[0], *agreed[1:]), *agreed[1:]]


def _record_branches(
    op: OpDef, selector: Any, builders: list[Builder], results: list[list[Any]], names: Sequence[str]
) -> tuple[Any, ...]:
    outer = active()
    paths = [
        path
        for name, value in zip(names, results[0], strict=True)
        for path, _ in state_leaves.flatten_named(name, value)
    ]
    columns = list(zip(*map(state_leaves.flatten_all, results), strict=True))
    static = list(map(_static_leaf, paths, columns))
    carried = [i for i, leaf in enumerate(static) if leaf is None]
    unified = [_unified(paths[i], builders, columns[i]) for i in carried]
    outputs = [[operands[branch] for operands, _ in unified] for branch in range(len(builders))]
    regions, captured = close_regions(builders, outputs)
    operands = [outer.operand(selector), *captured]
    specs = [spec for _, spec in unified]
    values = outer.add(op, operands, {}, specs, regions, [hint(paths[i]) for i in carried])
    flat = [leaf and leaf.value for leaf in static]
    for i, value in zip(carried, values, strict=True):
        flat[i] = _result(columns[i], value, outer)
    return repacked(results[0], flat)


def _result(column: Sequence[Any], value: Value, builder: Builder) -> Any:
    """Return the result for a column; a choice between values of weak dtype is weak, too."""
    result = state_leaves.rewrapped(state_leaves.covering(*column), value, builder)
    weak_types.mark(result, column)
    origin = weak_origin(column)
    if origin is not None:
        result._weak_from = origin
    return result


class _DisagreementError(Exception):
    """An internal error: the branches return incompatible values. `trace_branches` converts it to the user's error."""

    def __init__(
        self,
        code: str,
        title: str,
        path: str,
        values: Sequence[Any],
        described: Sequence[str],
        why: str,
        fix: str,
    ) -> None:
        super().__init__(title)
        self.code, self.title, self.path, self.why, self.fix = code, title, path, why, fix
        self.values, self.described = values, described

    def told(self, blocks: Sequence[Callable[..., Any]]) -> StagingError:
        notes = [
            assigned(block, self.path, value, said)
            for block, value, said in zip(blocks, self.values, self.described, strict=True)
        ]
        return staging_error(
            self.code, self.title, self.why, self.fix, label="the graph decides", notes=notes
        )


class _Static:
    """A Python object that is the same in every branch."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _static_leaf(path: str, column: Sequence[Any]) -> _Static | None:
    first = column[0]
    if (not state_leaves.is_carried(first) or state_leaves.is_weak(first)) and (
        all(state_leaves.same_static(first, other) for other in column[1:])
    ):
        return _Static(first)
    if state_leaves.are_plain(column):
        return None
    for leaf in column:
        if not state_leaves.can_be_carried(leaf):
            instance = (
                ": a number such as -1, or zeros, in place of None" if any(x is None for x in column) else ""
            )
            different = " and ".join(dict.fromkeys(state_leaves.describe(leaf) for leaf in column))
            raise _DisagreementError(
                "AGC203",
                f"the branches give `{path}` values that a graph cannot choose between: {different}",
                path,
                column,
                [state_leaves.describe(leaf) for leaf in column],
                why="the graph decides which branch runs, so both must give a tensor, or the same Python object",
                fix=advice_for_objects(column)
                or f"give `{path}` a tensor of one dtype in every branch{instance}",
            )
    return None


def _unified(path: str, builders: list[Builder], column: Sequence[Any]) -> tuple[list[Operand], AnySpec]:
    """Return the operands of one variable in the graphs of the branches, and the type that covers them.

    As in loops, the writes of one branch refine the element shape of a TensorArray that infers shapes.
    """
    firm = [state_leaves.dtype_of(leaf) for leaf in column if not weak_types.numbers_in(leaf)]
    wanted = next((dtype for dtype in firm if dtype is not None), None) or _widest(column)
    operands: list[Operand] = []
    for builder, leaf in zip(builders, column, strict=True):
        if type(leaf) is SymbolicTensor and leaf.dtype is wanted:  # the common case
            operands.append(builder.operand(leaf))
            continue
        with builder:
            try:
                argument = state_leaves.carried(leaf, wanted)
            except TypeError:
                raise _dtypes_differ(path, column) from None
        operands.append(state_leaves.operand_in(builder, argument))
    spec = operands[0].spec
    for operand in operands[1:]:
        common = common_spec(spec, operand.spec)
        if common is None:
            raise _dtypes_differ(path, column)
        spec = common
    if isinstance(spec, ListType) and all(
        isinstance(leaf, TensorArray) and leaf._infer_shape for leaf in column
    ):
        specs = [operand.spec for operand in operands]
        spec = next((each for each in specs if all(other.covers(each) for other in specs)), spec)
    return operands, spec


def _widest(column: Sequence[Any]) -> dtypes.DType | None:
    """Return the widest dtype of the Python numbers in a column; None for a mix of truth values and numbers."""
    numbers = [number for leaf in column for number in weak_types.numbers_in(leaf) or (leaf,)]
    numbers = [number for number in numbers if state_leaves.is_weak(number)]
    order = [bool, int, float, complex]
    widest = max((order.index(type(leaf)) for leaf in numbers if type(leaf) in order), default=None)
    mixed = {type(leaf) is bool for leaf in numbers} == {True, False}
    return None if widest is None or mixed else dtypes.as_dtype(order[widest])


def _dtypes_differ(path: str, column: Sequence[Any]) -> Exception:
    given = " and ".join(state_leaves.describe(leaf) for leaf in column)
    found = adapting(column, (leaf.dtype for leaf in column if isinstance(leaf, Tensor)))
    if found is not None:
        weak, dtype = found
        return WeakDtypeError(f"the branches give `{path}` different dtypes", weak._weak_from, dtype)
    has_text = any(
        isinstance(leaf, (str, bytes)) or getattr(leaf, "dtype", None) is dtypes.string for leaf in column
    )
    convert = "strings.as_string" if has_text else f"cast({path}, ...)"
    return _DisagreementError(
        "AGC201",
        f"the branches give `{path}` different types: {given}",
        path,
        column,
        [state_leaves.describe(leaf) for leaf in column],
        why="a value in a graph has one dtype, and two tensors are never promoted silently",
        fix=f"make them agree, for instance with tf.{convert} in one of the branches",
    )
