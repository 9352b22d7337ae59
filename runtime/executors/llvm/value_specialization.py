"""Value specialization: compile a graph for the values of integers that shapes depend on, as for shapes of tensors.

    graph f(h: array float32[2], n: int32[])          f with n = 2 and 3 elements in h

../../functionalize/value_specialization.py chooses the inputs; lists are specialized by their lengths.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...functionalize.value_specialization import first_possible, may_be_shape
from ...functionalize.varying_shapes import VaryingType
from ...ir.graph import Constant, Graph
from ...ir.value_types import ListType, TensorType
from .compile_graph import lowered
from .list_abi import described
from .parallel_codegen import Tasks


def lowered_for(
    graph: Graph,
    arguments: Sequence[Any],
    assigned: Sequence[int],
    by_value: tuple[int, ...],
    is_measured: bool,
    sizes_first: bool,
    tasks: Tasks | None,
    varying: Sequence[VaryingType | None],
) -> tuple[Any, tuple[int, ...]]:
    """Compile a graph for these inputs. Return the unit, and the inputs it is specialized for, `by_value` included.

    Lists are specialized by length. With `sizes_first`, dynamic sizes are preferred if possible. With `tasks`,
    LLVM begins with complete functions. `varying` has the types of inputs with dynamic sizes.
    """

    def attempt(chosen: Sequence[int], with_sizes: bool) -> Any:
        known = [
            (varying[i] if varying else None) or _known(value.spec, argument, i in chosen)
            for i, (value, argument) in enumerate(zip(graph.inputs, arguments, strict=True))
        ]
        return lowered(graph, known, assigned, is_measured, with_sizes, tasks=tasks)

    if varying:
        return attempt((), with_sizes=True), ()
    if sizes_first:
        with contextlib.suppress(CannotCompileError):
            return attempt((), with_sizes=True), ()
    candidates = [i for i, value in enumerate(graph.inputs) if _may_be_known(value.spec, arguments[i])]
    try:
        return first_possible(functools.partial(attempt, with_sizes=False), by_value, candidates)
    except NeverRunsError:
        raise
    except CannotCompileError:
        return first_possible(functools.partial(attempt, with_sizes=True), by_value, candidates)


def _known(spec: Any, argument: Any, by_value: bool) -> Any:
    """Return the type or constant that an input is specialized to."""
    if isinstance(spec, ListType):
        return described(argument, spec, by_value)[1]
    array = getattr(argument, "_array", argument)
    return Constant(np.asarray(array)) if by_value else TensorType(spec.dtype, np.shape(array))


def _may_be_known(spec: Any, argument: Any) -> bool:
    if isinstance(spec, ListType):
        return isinstance(spec.element, TensorType)
    return may_be_shape(spec, argument)
