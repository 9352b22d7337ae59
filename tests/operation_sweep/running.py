"""The calls in each executor. What agrees is put into few graphs, so that LLVM starts a few times only.

The interpreter says what is right: `Wrong` is yielded for each other outcome.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from agc.runtime.core.shapes import compatible
from agc.runtime.core.tensor import EagerTensor
from agc.runtime.dtypes import bool_
from agc.runtime.executors import EXECUTORS, interpret
from agc.runtime.executors.llvm import CannotCompileError, CompilationError, JitFunction, compile_graph
from agc.runtime.functionalize.errors import NeverRunsError
from agc.runtime.ir.graph import Graph, Operation, Value
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from support.operation_examples import REFUSALS

from .cases import Case, as_operation
from .judging import Refusal, difference, outcome

MANY = 48
"""Calls in one graph."""


class Wrong(NamedTuple):
    """An outcome that is not the interpreter's."""

    case: str
    executor: str
    text: str


class Settled(NamedTuple):
    """A call as an operation of a graph, and what the interpreter makes of it."""

    case: Case
    operation: Any
    inputs: list[Value]
    given: list[Any]
    wanted: Any

    @property
    def graph(self) -> Graph:
        return Graph("one", self.inputs, [self.operation], list(self.operation.outputs))


def compared(
    cases: Iterable[Case],
    executors: Sequence[str],
    begin: Callable[[str], None],
    many: int = MANY,
    counts: Counter[str] | None = None,
) -> Iterator[Wrong]:
    """Compare the calls; `begin` is told what comes next, as it may be the last that this process does.

    `counts` is told how many calls each executor has run.
    """
    counts = Counter() if counts is None else counts
    settled: list[Settled] = []
    for number, case in enumerate(cases):
        begin(f"{case}, made")
        found = _settled(case, number)
        eager = outcome(lambda case=case: _eagerly(case))
        if isinstance(found, Refusal):
            if not isinstance(eager, Refusal) or _is_internal(eager):
                yield Wrong(str(case), "eager", f"{_text(eager)}, but graphs refuse it: {found}")
            continue
        if _is_internal(found.wanted):
            yield Wrong(str(case), "interpret", str(found.wanted))
        text = _unlike_rule(found)
        if text:
            yield Wrong(str(case), "rule", text)
        if not isinstance(found.wanted, Refusal) or not isinstance(eager, Refusal):
            text = difference(eager, found.wanted)
            if text:
                yield Wrong(str(case), "eager", text)
        settled.append(found)
        counts["eager"] += 1
    failing = [each for each in settled if isinstance(each.wanted, Refusal)]
    running = [each for each in settled if not isinstance(each.wanted, Refusal)]
    for executor in executors:
        for each in failing:
            yield from _together([each], executor, begin)
        kept = [each for each in running if _takes(each, executor)]
        counts[executor] += len(kept) + len(failing)
        for start in range(0, len(kept), many):
            yield from _together(kept[start : start + many], executor, begin)


def _is_internal(found: Any) -> bool:
    """Whether an error is one that users should not see."""
    return isinstance(found, Refusal) and found.kind not in (
        "ValueError", "TypeError", "InvalidArgumentError", "UnimplementedError", "NotFoundError", "OutOfRangeError",
        "DataLossError", "FailedPreconditionError", "ResourceExhaustedError",
    )  # fmt: skip


def _text(found: Any) -> str:
    return str(found) if isinstance(found, Refusal) else "a result"


def _eagerly(case: Case) -> Any:
    tensors = [EagerTensor(array) for array in case.arrays]
    found = case.op.run(tensors, case.attrs)
    return [tensor._array for tensor in (found if isinstance(found, (list, tuple)) else [found])]


def _settled(case: Case, number: int) -> Settled | Refusal:
    try:
        operation, inputs = as_operation(case, number)
    except Exception as error:
        return Refusal(error)
    given = [case.arrays[i] for i in case.own]
    graph = Graph("one", inputs, [operation], list(operation.outputs))
    return Settled(case, operation, inputs, given, outcome(lambda: interpret(graph, list(given))))


def _unlike_rule(found: Settled) -> str | None:
    """How results differ from what the rule of the operation says of them."""
    if not isinstance(found.wanted, Refusal):
        for array, value in zip(found.wanted, found.operation.outputs, strict=True):
            if array.dtype != value.dtype.numpy_dtype or not compatible(array.shape, value.shape):
                return f"{array.dtype}{array.shape} is not {value.spec}"
    return None


def _takes(each: Settled, executor: str) -> bool:
    """Whether an executor takes the call: rules may want to know shapes, native code may have none for it."""
    rewritten = _rewritten(each.graph, each.given, EXECUTORS_SWEPT[executor][0])
    if rewritten is None:
        return False
    if executor.startswith("plan"):
        return True
    graph, given = rewritten
    if executor == "xla":
        return _is_lowered_by_xla(graph, given)
    try:
        compile_graph.lowered(compile_graph.prepared(graph)[0], [value.spec for value in graph.inputs])
    except CannotCompileError:
        return executor == "automatic"
    except Exception:  # which it will be found to be when it is run
        return True
    return True


def _is_lowered_by_xla(graph: Graph, given: Sequence[Any]) -> bool:
    from agc.runtime.executors.xla import XlaFunction  # imports JAX

    try:
        XlaFunction(graph).demand(given)
    except CompilationError:
        return False
    except Exception:  # which it will be found to be when it is run
        return True
    return True


def _together(group: Sequence[Settled], executor: str, begin: Callable[[str], None]) -> Iterator[Wrong]:
    """Run calls in one graph; each in one of its own where they do not get on."""
    begin(f"{executor}: {group[0].case} to {group[-1].case}")
    replace, run = EXECUTORS_SWEPT[executor]
    operations = [each.operation for each in group]
    inputs = [value for each in group for value in each.inputs]
    given = [_strided(array) for each in group for array in each.given]
    whole = Graph("sweep", inputs, operations, [value for made in operations for value in made.outputs])
    rewritten = _rewritten(whole, given, replace)
    if rewritten is None:
        return
    found = outcome(lambda: run(*rewritten))
    if isinstance(found, Refusal) and len(group) > 1:
        for each in group:
            yield from _together([each], executor, begin)
        return
    if isinstance(found, Refusal) and found.kind == "CompilationError":
        return
    results = iter([] if isinstance(found, Refusal) else found)
    for each in group:
        own = found if isinstance(found, Refusal) else [next(results) for _ in each.operation.outputs]
        text = difference(*_finite_ones(own, each) if executor == "xla" else (own, each.wanted))
        if text:
            yield Wrong(str(each.case), executor, text)


def _finite_ones(own: Any, each: Settled) -> tuple[Any, Any]:
    """The outcomes to compare: XLA has NaN in other parts of complex numbers that are not finite."""
    if isinstance(own, Refusal) or isinstance(each.wanted, Refusal):
        return own, each.wanted
    given = [*each.given, *each.wanted]
    if not any(array.dtype.kind == "c" for array in given) or all(map(_is_finite, given)):
        return own, each.wanted
    with np.errstate(all="ignore"):
        kept = [np.isfinite(one) & np.isfinite(other) for one, other in zip(own, each.wanted, strict=True)]
    if not all(map(_is_finite, each.given)):
        kept = [np.zeros_like(mask) for mask in kept]
    return tuple(
        [[np.where(mask, x, 0) for mask, x in zip(kept, side, strict=True)] for side in (own, each.wanted)]
    )


def _is_finite(array: Any) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def _strided(array: Any) -> Any:
    """The same elements, which do not stand side by side in memory."""
    if array.ndim and array.size:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return array


def _natively(graph: Graph, given: Sequence[Any]) -> Any:
    native = JitFunction(graph)
    return native.run(list(given))


def _with_varying_sizes(graph: Graph, given: Sequence[Any]) -> Any:
    """The results of code in which each size greater than 1 is a register of its own."""
    native, numbers = JitFunction(graph), itertools.count(1)
    pattern = tuple(tuple(-next(numbers) if size > 1 else size for size in x.shape) for x in given)
    try:
        native.generalized(given, pattern)
    except NeverRunsError:
        pass  # the run raises the error of the operation
    except CannotCompileError as refusal:
        raise compile_graph.refused(graph, refusal) from None
    return native.run(list(given))


def _by_xla(graph: Graph, given: Sequence[Any]) -> Any:
    """The results of a program; the plan must not run what has no error."""
    from agc.runtime.executors.xla import XlaFunction  # imports JAX

    program, fails = XlaFunction(graph), []

    def fail(arguments: Sequence[Any]) -> Any:
        results = XlaFunction.fail(program, arguments)
        fails.append(len(results))
        return results

    program.fail = fail  # type: ignore[method-assign]
    results = program.run(list(given))
    if fails:
        raise AssertionError("the program gave up, and the plan found nothing wrong")
    return results


def _automatically(graph: Graph, given: Sequence[Any]) -> Any:
    """The results behind all calls that are measured; those of each of these calls agree with them, or it says so."""
    runner = EXECUTORS["automatic"](graph)
    owner = getattr(runner, "__self__", None)
    first = runner(list(given))
    end = time.monotonic() + 60
    while owner.chosen_for(list(given)) is None and time.monotonic() < end:
        found = outcome(lambda: runner(list(given)))
        text = difference(found, outcome(lambda: first))
        if text:
            raise AssertionError(f"a later call differs: {text}")
        if owner._trial(list(given)).native is None:
            time.sleep(0.001)
    return runner(list(given))


Rewritten = tuple[Graph, list[Any]] | None
"""A graph and what it is given; None where a rule wants to know more of the shapes."""


def _rewritten(graph: Graph, given: Sequence[Any], replace: Callable[..., Any]) -> Rewritten:
    """The graph with something else for its inputs: `replace(value, array)` gives operands, operations and arrays."""
    known: dict[Any, Any] = {}
    inputs: list[Value] = []
    operations: list[Any] = []
    arrays: list[Any] = []
    for value, array in zip(graph.inputs, given, strict=True):
        known[value], new, made, values = replace(value, array)
        inputs, operations, arrays = inputs + new, operations + made, arrays + values
    for old in graph.operations:
        operands = tuple(known.get(operand, operand) for operand in old.inputs)
        try:
            specs = old.op.infer_all(list(operands), old.attrs)
        except REFUSALS:
            return None
        outputs = tuple(Value(value.name, spec) for value, spec in zip(old.outputs, specs, strict=True))
        operations.append(Operation(old.op, operands, old.attrs, outputs))
        known.update(zip(old.outputs, outputs, strict=True))
    return Graph(graph.name, inputs, operations, [known[value] for value in graph.outputs]), arrays


def _of_ranks(value: Value, array: Any) -> Any:
    new = Value(value.name, TensorType(value.dtype, (None,) * array.ndim))
    return new, [new], [], [array]


def _of_nothing(value: Value, array: Any) -> Any:
    new = Value(value.name, TensorType(value.dtype, None))
    return new, [new], [], [array]


def _masked(value: Value, array: Any) -> Any:
    """An input whose first size shows only while the graph runs, which goes through a mask."""
    if not array.ndim:
        return value, [value], [], [array]
    mask = Value(f"{value.name}_mask", TensorType(bool_, array.shape[:1]))
    found = Value(f"{value.name}_rows", TensorType(value.dtype, (None, *array.shape[1:])))
    made = Operation(REGISTRY["boolean_mask"], (value, mask), {"axis": 0}, (found,))
    return found, [value, mask], [made], [array, np.ones(array.shape[:1], bool)]


def _as_known(value: Value, array: Any) -> Any:
    return value, [value], [], [array]


EXECUTORS_SWEPT: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "plan": (_as_known, lambda graph, given: EXECUTORS["plan"](graph)(list(given))),
    "plan of known ranks": (_of_ranks, lambda graph, given: EXECUTORS["plan"](graph)(list(given))),
    "plan of unknown ranks": (_of_nothing, lambda graph, given: EXECUTORS["plan"](graph)(list(given))),
    "native": (_as_known, _natively),
    "native of unknown sizes": (_masked, lambda graph, given: JitFunction(graph).run(list(given))),
    "native of varying sizes": (_of_ranks, _with_varying_sizes),
    "automatic": (_as_known, _automatically),
    "xla": (_as_known, _by_xla),
}
"""How inputs are replaced, and what runs the graph."""
