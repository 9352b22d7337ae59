"""Control flow: `cond`, `switch` and `while` as JAX has them, with the failed checks of their regions.

i, x = while 0, x [maximum_iterations=10]              fori_loop(0, 10, body, (failed, i, x))
  test: yield true                             ==>
  body: ...

i, x = while 0, x                                      while_loop(lambda s: ~s.failed & test(s), body, …)
  test: i < n
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...ir.graph import Constant, Graph, Value
from .region_trace import RegionTrace, RuleContext
from .rule_registry import lowers

Array = Any


@lowers("call", "fused")
def _(site: RuleContext, *inputs: Array) -> Sequence[Array]:
    (callee,) = site.operation.regions
    return site.trace.run(callee, inputs)


@lowers("custom_gradient")
def _(site: RuleContext, inputs: Sequence[Array]) -> Sequence[Array]:
    return inputs[: site.attrs["results"]]


@lowers("cond")
def _(site: RuleContext, predicate: Array, *arguments: Array) -> Sequence[Array]:
    then, orelse = site.operation.regions
    return _branches(site, jnp.asarray(predicate).astype(np.int32), [orelse, then], arguments)


@lowers("switch")
def _(site: RuleContext, index: Array, *arguments: Array) -> Sequence[Array]:
    regions = site.operation.regions
    last = len(regions) - 1
    inside = jnp.logical_and(index >= 0, index <= last)
    chosen = jnp.where(inside, index, last).astype(np.int32)
    return _branches(site, chosen, regions, arguments)


def _branches(
    site: RuleContext, index: Array, regions: Sequence[Graph], arguments: Sequence[Array]
) -> list[Array]:
    """Run the region with this number. Each returns whether a check has failed, before its results."""
    outputs = site.operation.outputs
    can_fail = []

    def branch(region: Graph) -> Any:
        def run(arguments: Sequence[Array]) -> list[Array]:
            inner = RegionTrace()
            found = inner.run(region, arguments)
            can_fail.append(inner.failed is not False)
            return [jnp.asarray(inner.failed), *map(fitted, found, outputs)]

        return run

    failed, *results = lax.switch(index, [branch(region) for region in regions], list(arguments))
    if any(can_fail):
        site.trace.fail(failed)
    return results


@lowers("while")
def _(site: RuleContext, *inputs: Array) -> list[Array]:
    loop = _Loop(site, inputs)
    start = [jnp.asarray(False), *loop.start]
    most = site.attrs.get("maximum_iterations")
    (going,) = loop.test.outputs
    if most is not None and isinstance(going, Constant) and bool(going.value):
        failed, *state = lax.fori_loop(0, int(most), lambda _, state: loop.step(state), start)
    else:
        failed, *state = loop.run(start, np.iinfo(np.int64).max if most is None else int(most))
    if loop.can_fail:
        site.trace.fail(failed)
    return state


class _TestFailsError(Exception):
    """The test of a loop has checks; they are evaluated in the body, whose results say whether they failed."""


class _Loop:
    """A loop whose state begins with whether a check has failed."""

    def __init__(self, site: RuleContext, inputs: Sequence[Array]) -> None:
        self.test, self._body = site.operation.regions
        count = len(site.operation.outputs)
        self.specs = self._body.inputs[:count]
        self.start = list(map(fitted, inputs[:count], self.specs))
        self._fixed = inputs[count:]
        self.can_fail = False

    def step(self, state: Sequence[Array]) -> list[Array]:
        """Return the state after one iteration; later iterations keep `failed`."""
        failed, *values = state
        inner = RegionTrace()
        found = inner.run(self._body, [*values, *self._fixed])
        self.can_fail |= inner.failed is not False
        return [jnp.logical_or(failed, inner.failed), *map(fitted, found, self.specs)]

    def run(self, start: list[Array], most: int) -> Sequence[Array]:
        """Return the state at the end of the loop, after `most` iterations at the latest."""
        try:
            return self._with_plain_test(start, most)
        except _TestFailsError:
            return self._with_test_in_state(start, most)

    def _tested(self, state: Sequence[Array]) -> tuple[Array, Any]:
        inner = RegionTrace()
        (going,) = inner.run(self.test, [*state[1:], *self._fixed])
        return jnp.asarray(going, bool), inner.failed

    def _with_plain_test(self, start: list[Array], most: int) -> Sequence[Array]:
        def goes(both: Any) -> Array:
            number, state = both
            going, failed = self._tested(state)
            if failed is not False:
                raise _TestFailsError
            return (number < most) & ~state[0] & going

        return lax.while_loop(goes, lambda both: (both[0] + 1, self.step(both[1])), (np.int64(0), start))[1]

    def _with_test_in_state(self, start: list[Array], most: int) -> Sequence[Array]:
        def tested(state: list[Array]) -> tuple[Array, list[Array]]:
            going, failed = self._tested(state)
            return going, [jnp.logical_or(state[0], failed), *state[1:]]

        def goes(whole: Any) -> Array:
            number, going, state = whole
            return (number < most) & ~state[0] & going

        def step(whole: Any) -> Any:
            number, _, state = whole
            return (number + 1, *tested(self.step(state)))

        self.can_fail = True
        return lax.while_loop(goes, step, (np.int64(0), *tested(start)))[2]


def fitted(value: Array, like: Value) -> Array:
    """Return a value in the form that the state of a loop and the results of branches have."""
    return jnp.asarray(value, like.dtype.numpy)
