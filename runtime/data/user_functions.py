"""Functions of the user's in a pipeline: converted, traced once for the spec of the elements, run for each row.

    ds.map(lambda x, y: x + y)      elements are tuples, which are the arguments
    ds.map(lambda d: d["x"])        everything else is one argument

What fails names the transformation and the number of the element, besides the user's line.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from agc.autograph import api, staging

from .. import errors
from ..core.tensor import EagerTensor, Reference
from ..executors import EXECUTORS
from ..ir.graph import Graph
from ..kernels.random import seeds
from ..ops.framework.op import wrap
from ..tracing.trace import trace
from .element_spec import Row, leaf_specs, normalised, spec_of
from .pipeline_stage import PipelineStage, Symbolic


class Traced(Symbolic):
    """A function as a graph. Attributes: `spec` of its result; `what` it is for."""

    def __init__(self, function: Callable[..., Any], specs: Sequence[Any], what: str, kind: str) -> None:
        if not callable(function):
            raise ValueError(
                f"Argument `{kind}` must be a callable. Received {kind}={function!r} (of type {type(function)})"
            )
        self.what = what
        self.kind = kind
        found: list[Any] = []

        def call(*args: Any) -> Any:
            result = function_now(*args)
            result = normalised(tuple(result) if isinstance(result, list) else result)
            found.append(spec_of(result))
            return result

        arguments = {f"args_{i}": spec for i, spec in enumerate(specs)}
        try:
            with staging.live(), api.converting_reachable(function, arguments), api.checking_may_alias():
                function_now = api.converted(function)
                traced = trace(call, _positional, arguments, _name_of(function), None)
        except BaseException as error:
            api.strip_frames(error)
            raise
        self.ends = traced.ends
        self.spec = found[-1] if found else None
        self.graph: Graph = traced.graph
        self.extra = [
            item.deref() if isinstance(item, Reference) else wrap(item, traced.owner)  # type: ignore[arg-type]
            for item in traced.captured
        ]
        self._texts = [i for i, output in enumerate(self.graph.outputs) if output.dtype.kind in "SV"]

    @functools.cached_property
    def _runner(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        return EXECUTORS["plan"](self.graph)

    def start(self) -> Callable[[Row], Row]:
        """The function on rows."""
        extra = [item._array if isinstance(item, EagerTensor) else item for item in self.extra]
        run = self._runner
        plain = run if not extra else lambda row: run([*row, *extra])
        if not self._texts:
            return plain
        texts = [(i, self.graph.outputs[i].dtype.numpy) for i in self._texts]
        return functools.partial(_with_arrays, plain, texts)

    def restart(self) -> None:
        """Let the random numbers start anew."""
        for operation in self.graph.walk():
            if "stream" in operation.attrs:
                seeds.restart(operation.attrs["stream"])

    def failed(self, error: Exception, index: int) -> Exception:
        """The error, which says where in the pipeline it happened."""
        text = f"in element {index} of {self.what}"
        if isinstance(error, errors.OpError):
            error.message = f"{error.message}\n  {text}"
            error.args = (error.message,)
        else:
            error.add_note(f"  {text}")
        return error


def _with_arrays(run: Callable[[Row], Row], texts: list[tuple[int, Any]], row: Row) -> Row:
    """Strings of rank 0 come from graphs as bytes; in rows they are arrays."""

    result = list(run(row))
    for i, kind in texts:
        if type(result[i]) is not np.ndarray:
            result[i] = np.asarray(result[i], kind)
    return result


def _positional(arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return tuple(arguments.values()), {}


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return name if name.isidentifier() else "lambda_"


def arguments_of(spec: Any) -> list[Any]:
    """The specs of the arguments for an element: a tuple is unpacked (a namedtuple is not)."""
    return list(spec) if type(spec) is tuple else [spec]


def width(spec: Any) -> int:
    """How many leaves rows of this spec have."""
    return len(leaf_specs(spec))


class Calls:
    """A function on the rows of a walk, which counts them."""

    __slots__ = ("index", "run", "traced")

    def __init__(self, traced: Traced) -> None:
        self.traced = traced
        self.run = traced.start()
        self.index = -1

    def __call__(self, row: Row) -> Row:
        self.index += 1
        try:
            return self.run(row)
        except Exception as error:
            raise self.traced.failed(error, self.index) from error.__cause__

    def at(self, index: int, row: Row) -> Row:
        """The same for the row with this number, in any order."""
        try:
            return self.run(row)
        except Exception as error:
            raise self.traced.failed(error, index) from error.__cause__


def functions_of(stage: PipelineStage) -> list[Traced]:
    """The functions of a stage, and of all before it."""
    found: list[Traced] = []
    for part in vars(stage).values():
        for item in part if isinstance(part, list) else (part,):
            if isinstance(item, Traced):
                found.append(item)
            elif isinstance(item, PipelineStage):
                found += functions_of(item)
    return found
