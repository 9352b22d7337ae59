"""User functions in a pipeline: converted, traced once for the spec of the elements, run for each row.

    ds.map(lambda x, y: x + y)      a tuple element is unpacked into arguments
    ds.map(lambda d: d["x"])        every other element is one argument

Errors name the transformation and the index of the element, in addition to the user's line.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from agc.autograph import api, staging

from .. import errors, nest
from ..core.tensor import EagerTensor, Reference
from ..executors import EXECUTORS
from ..ir.graph import Graph
from ..kernels.random import seeds
from ..ops.framework.op import wrap
from ..tracing.trace import trace
from ..tracing.variable_creation import VariableCreator
from .element_spec import Row, leaf_specs, normalized, spec_of
from .pipeline_stage import PipelineStage, Symbolic


class Traced(Symbolic):
    """A function as a graph. Attributes: the `spec` of its result; `what`, the transformation."""

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
            result = normalized(tuple(result) if isinstance(result, list) else result)
            found.append(spec_of(result))
            return result

        arguments = {f"args_{i}": spec for i, spec in enumerate(specs)}
        creator = VariableCreator([leaf for spec in nest.flatten(specs) for leaf in spec.flatten()])
        with staging.live(), api.converting_reachable(function, arguments), api.checking_may_alias():
            function_now = api.converted(function)
            try:
                traced = trace(call, _positional, arguments, _name_of(function), creator)
            except TypeError as error:
                if not _takes(function, specs):
                    error.add_note(
                        f"  {what} calls it with the components of an element: {', '.join(map(repr, specs))}"
                    )
                raise
            if creator.made:  # as in tf.function, the next trace must not create variables again
                traced = trace(call, _positional, arguments, _name_of(function), None)
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
        """Return the function that maps a row to a row."""
        extra = [item._array if isinstance(item, EagerTensor) else item for item in self.extra]
        run = self._runner
        plain = run if not extra else lambda row: run([*row, *extra])
        if not self._texts:
            return plain
        texts = [(i, self.graph.outputs[i].dtype.numpy_dtype) for i in self._texts]
        return functools.partial(_with_arrays, plain, texts)

    def restart(self) -> None:
        """Restart the function's random streams."""
        for operation in self.graph.walk():
            if "stream" in operation.attrs:
                seeds.restart(operation.attrs["stream"])

    def failed(self, error: Exception, index: int) -> Exception:
        """Return the error with the transformation and the element's index added."""
        text = f"in element {index} of {self.what}"
        if isinstance(error, errors.OpError):
            error.message = f"{error.message}\n  {text}"
            error.args = (error.message,)
        else:
            error.add_note(f"  {text}")
        return error


def _takes(function: Callable[..., Any], specs: Sequence[Any]) -> bool:
    """Return whether a function can be called with as many positional arguments; True if that is unknown."""
    import inspect  # only errors need it

    try:
        inspect.signature(function).bind(*specs)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def _with_arrays(run: Callable[[Row], Row], texts: list[tuple[int, Any]], row: Row) -> Row:
    """Run the graph, and convert its scalar strings from bytes to arrays, the form of rows."""

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
    """Return the specs of the arguments for an element: a tuple is unpacked (a namedtuple is not)."""
    return list(spec) if type(spec) is tuple else [spec]


def width(spec: Any) -> int:
    """Return the number of leaves of rows with this spec."""
    return len(leaf_specs(spec))


class Calls:
    """A function applied to the rows of an iteration, which counts them."""

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
        """Apply the function to the row with this index, in any order."""
        try:
            return self.run(row)
        except Exception as error:
            raise self.traced.failed(error, index) from error.__cause__


def functions_of(stage: PipelineStage) -> list[Traced]:
    """Return the functions of a stage and of its sources."""
    found: list[Traced] = []
    for part in vars(stage).values():
        for item in part if isinstance(part, list) else (part,):
            if isinstance(item, Traced):
                found.append(item)
            elif isinstance(item, PipelineStage):
                found += functions_of(item)
    return found
