"""A graph of static shapes as one XLA program, which overwrites the state that it is given.

f(v, x) -> y, v.1            program(v, x) = [v.1, y]                   v.1 has the memory of v
f(v, x) -> y, v.1            program(v, x) = [where(failed, v, v.1),    the old state, if a check has failed:
                                              failed, y]                the plan runs again with it
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import starmap
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...ir.graph import Graph
from . import rules  # noqa: F401  (registers the rules)
from .buffers import ARRAY, owner
from .compiler_options import options_for
from .effects import Effects
from .interrupts import deferred_interrupts
from .library import device_of, wide
from .region_trace import DeviceAxis, RegionTrace, reasons


class XlaProgram:
    """A graph of static shapes as one function that JAX compiles.

    `assigned` are the inputs of the whole graph whose new values are the last results; `dropped` are the inputs that
    are constants of the program.
    """

    axis: DeviceAxis | None = None

    def __init__(
        self, graph: Graph, assigned: Sequence[int] = (), dropped: Sequence[int] = (), splits: bool = False
    ) -> None:
        found = reasons(graph)
        if found:
            raise CannotCompileError(found)
        self.graph = graph
        self.assigned = assigned
        self._dropped = frozenset(dropped)
        self.can_fail = False
        self._effects = Effects()
        self._device = device_of(graph)
        platform = jax.default_backend() if self._device is None else self._device.platform
        self._splits = splits and platform == "cpu"  # XLA's compilers for other devices inline all functions
        self._overwritten = self._donors()
        donated = tuple(self._overwritten.values())
        self._jitted = jax.jit(
            self._step, donate_argnums=donated, compiler_options=options_for(graph, platform)
        )
        self._is_warm = False

    @property
    def has_effects(self) -> bool:
        """Return whether the program prints, once it has been traced."""
        return self._effects.exist

    def _donors(self) -> dict[int, int]:
        """Return the numbers of the states whose old values have the same type, and the inputs with these."""
        count = max([len(self.graph.inputs) + len(self._dropped), *self.assigned])
        given = [i for i in range(count) if i not in self._dropped]
        first = len(self.graph.outputs) - len(self.assigned)
        return {
            place: given.index(i)
            for place, i in enumerate(self.assigned)
            if i not in self._dropped
            and self.graph.inputs[given.index(i)].spec == self.graph.outputs[first + place].spec
        }

    def compute(self, *arrays: Any) -> list[Any]:
        """Compute the results with values that JAX traces. The first is whether a check has failed, if one can."""
        trace = RegionTrace(self._effects, self.axis, self._splits)
        with jax.default_matmul_precision("highest"):
            results = list(map(jnp.asarray, trace.run(self.graph, arrays)))
        self.can_fail = trace.failed is not False
        return [trace.failed, *results] if self.can_fail else results

    def _step(self, *arrays: Any) -> list[Any]:
        """Compute the new state, whether a check has failed, and the results."""
        found = self.compute(*arrays)
        first = len(found) - len(self.assigned)
        state = found[first:]
        for place, i in self._overwritten.items():
            old, new = arrays[i], state[place]
            state[place] = jnp.where(found[0], old, new) if self.can_fail else new
        # The values of two variables must not share memory.
        return [*[jnp.copy(x) if any(x is y for y in arrays) else x for x in state], *found[:first]]

    def trace(self) -> None:
        """Let JAX trace the program, which raises `CannotCompileError` if a rule refuses an operation.

        Raise `NeverRunsError` if each run fails.
        """
        try:
            with self._scope():
                self._jitted.trace(*self._specs())
        except NeverRunsError as error:
            raise error.checked(self.graph) from error
        self._effects.is_at_once = not (self.can_fail or self.assigned)

    def _specs(self) -> list[Any]:
        return [jax.ShapeDtypeStruct(value.shape, value.dtype.numpy_dtype) for value in self.graph.inputs]

    def __call__(self, arrays: Sequence[Any], found: list[Any]) -> None:
        """Add the list of all that the program returns to `found`; it overwrites the state in `arrays`."""
        if self._dropped:
            arrays = [array for i, array in enumerate(arrays) if i not in self._dropped]
        arrays = [array if type(array) is ARRAY else owner(array) for array in arrays]
        with self._scope():
            if self._is_warm:  # one call of C code, so an interrupt loses no result
                found.extend(starmap(self._jitted, (arrays,)))
            else:
                self._call_first(arrays, found)

    def _call_first(self, arrays: Sequence[Any], found: list[Any]) -> None:
        """Call the program by JAX's Python code, first or with effects, after all that it prints."""
        self._jitted.lower(*self._specs()).compile()
        with self._effects.lock:
            with deferred_interrupts():
                found.append(self._jitted(*arrays))
            if not self._effects.exist:
                self._is_warm = True
                return
            jax.effects_barrier()
            if self.has_failed(found[0]):
                self._effects.forget()
            else:
                self._effects.finish()

    def has_failed(self, raw: Sequence[Any]) -> bool:
        """Return whether a check has failed."""
        return self.can_fail and bool(raw[len(self.assigned)])

    def state(self, places: Sequence[int], raw: Sequence[Any], old: Sequence[Any]) -> list[Any]:
        """Return the values of some state after a run: the old one if a check has failed."""
        if len(self._overwritten) < len(self.assigned) and self.has_failed(raw):
            return [raw[n] if n in self._overwritten else x for n, x in zip(places, old, strict=True)]
        return [raw[n] for n in places]

    def outputs(self, raw: Sequence[Any]) -> list[Any] | None:
        """Return the outputs of the graph as arrays of NumPy, or None if a check has failed."""
        found = (
            list(map(np.asarray, raw[len(self.assigned) :])) if self.assigned else list(map(np.asarray, raw))
        )
        if raw and not found:
            raw[0].block_until_ready()
        if not self.can_fail:
            return found
        return None if found[0] else found[1:]

    def _scope(self) -> AbstractContextManager[Any]:
        """Return the scope of traces and calls: 64-bit types, and the device that the graph names."""
        if self._device is None:
            return wide()
        scope = ExitStack()
        scope.enter_context(wide())
        scope.enter_context(jax.default_device(self._device))
        return scope
