"""Control flow: `cond`, `switch` and `while` as JAX has them, with the failed checks of their regions.

i, x = while 0, x [maximum_iterations=10]              fori_loop(0, 10, body, (failed, i, x))
  test: yield true                             ==>
  body: ...

i, x = while 0, x                                      while_loop(lambda s: ~s.failed & test(s), body, …)
  test: i < n
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.shapes import num_elements
from ...ir.graph import Graph, Value
from ...ir.value_types import ListType, TensorType
from ...ops.framework.op_families import Elementwise
from .list_value import ListForm, fitted, form_of, united
from .region_trace import RuleContext
from .rule_registry import NotLoweredError, lowers
from .symbolic_sizes import extent
from .trip_counts import last_values, trip_count

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
    if isinstance(predicate, jax.Array) and _is_cheap(then) and _is_cheap(orelse):
        found = zip(*(site.trace.inner().run(region, arguments) for region in (then, orelse)), strict=True)
        return [jnp.where(predicate, *pair) for pair in found]
    return _branches(site, jnp.asarray(predicate).astype(np.int32), [orelse, then], arguments)


def _is_cheap(region: Graph) -> bool:
    """Return whether to compute a branch in any case: XLA fuses it, and compiles no conditional."""
    from ...optimize.speculation import is_speculatable  # executors import the optimizer lazily

    made = region.live_operations()
    results = [*region.outputs, *(value for operation in made for value in operation.outputs)]
    return (
        all(isinstance(each.op, Elementwise) and is_speculatable(each) for each in made)
        and sum(each.op.cost for each in made) <= _CHEAP
        and all(isinstance(x.spec, TensorType) and num_elements(x.shape) in range(_SMALL) for x in results)
    )


_CHEAP = 8
"""The most additions for one element of a cheap branch."""

_SMALL = 1 << 10
"""The number of elements from which a conditional is worth its time."""


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

    def run(region: Graph, arguments: Sequence[Array]) -> list[Array]:
        inner = site.trace.inner()
        found = inner.run(region, arguments)
        can_fail.append(inner.failed is not False)
        return [jnp.asarray(inner.failed), *map(_declared, found, outputs)]

    traced: list[Callable[..., list[Array]]] = [functools.partial(run, region) for region in regions]
    if any(isinstance(value.spec, ListType) for value in outputs):
        columns = zip(*(jax.eval_shape(branch, list(arguments)) for branch in traced), strict=True)
        forms = [functools.reduce(united, map(form_of, column)) for column in columns]
        traced = [lambda given, branch=branch: list(map(fitted, branch(given), forms)) for branch in traced]
    failed, *results = lax.switch(index, traced, list(arguments))
    if any(can_fail):
        site.trace.fail(failed)
    return results


@lowers("while")
def _(site: RuleContext, *inputs: Array) -> list[Array]:
    loop = _Loop(site, inputs)
    if loop.trips.is_exact:
        most = loop.trips.most
        failed, *state = lax.fori_loop(0, extent(most), lambda _, state: loop.step(state), loop.start)
        if isinstance(most, int):
            for slot, last in last_values(site.operation, inputs, most).items():
                state[slot] = last
    else:
        failed, *state = loop.run(loop.start)
    if loop.can_fail:
        site.trace.fail(failed)
    return state


class _TestFailsError(Exception):
    """The test of a loop has checks; they are evaluated in the body, whose results say whether they failed."""


class _Loop:
    """A loop whose state begins with whether a check has failed."""

    def __init__(self, site: RuleContext, inputs: Sequence[Array]) -> None:
        self._trace = site.trace
        self.test, self._body = site.operation.regions
        count = len(site.operation.outputs)
        self._values = self._body.inputs[:count]
        self._fixed = inputs[count:]
        self.can_fail = False
        self.trips = trip_count(site.operation, inputs)
        start = [jnp.asarray(False), *map(_declared, inputs[:count], self._values)]
        self._forms, self._growths = self._settled(start)
        self.start = self._carried(start)

    def _settled(self, start: list[Array]) -> tuple[list[Any], list[int]]:
        """Return the forms of the state in all iterations, and how many elements an iteration adds to lists."""
        forms = list(map(form_of, start))
        if not any(isinstance(form, ListForm) for form in forms):
            return forms, [0] * len(forms)
        before: list[int] = []
        for _ in range(_ROUNDS):
            given = [_within(value, form) for value, form in zip(start, forms, strict=True)]
            found = list(map(form_of, jax.eval_shape(self._stepped, given)))
            grown = list(map(united, forms, found))
            growths = [_room(after) - _room(form) for form, after in zip(forms, grown, strict=True)]
            if all(map(_have_equal_elements, forms, grown)) and (growths == before or not any(growths)):
                return [self._with_room(*pair) for pair in zip(forms, growths, strict=True)], growths
            forms, before = (
                grown,
                growths,
            )  # a list that has one element from now on grows in the first trial only
        raise NotLoweredError("the forms of its lists depend on each other")

    def _with_room(self, form: Any, growth: int) -> Any:
        if not growth:
            return form
        if self.trips.most is None:
            raise NotLoweredError(
                "a list grows in a loop whose number of iterations is unknown: give the loop `maximum_iterations`"
            )
        return form._replace(most=form.most + self.trips.most * growth)

    def _carried(self, state: Sequence[Array]) -> list[Array]:
        """Return the state in the forms that it has in all iterations, with the bounds before an iteration."""
        parts = zip(state, self._forms, self._growths, strict=True)
        return [_within(value, form, growth) for value, form, growth in parts]

    def _stepped(self, state: Sequence[Array]) -> list[Array]:
        failed, *values = state
        inner = self._trace.inner()
        found = inner.run(self._body, [*values, *self._fixed])
        self.can_fail |= inner.failed is not False
        return [jnp.logical_or(failed, inner.failed), *map(_declared, found, self._values)]

    def step(self, state: Sequence[Array]) -> list[Array]:
        """Return the state after one iteration; later iterations keep `failed`."""
        return self._carried(self._stepped(state))

    def run(self, start: list[Array]) -> Sequence[Array]:
        """Return the state at the end of the loop."""
        most = np.iinfo(np.int64).max if self.trips.most is None else extent(self.trips.most)
        try:
            return self._with_plain_test(start, most)
        except _TestFailsError:
            return self._with_test_in_state(start, most)

    def _tested(self, state: Sequence[Array]) -> tuple[Array, Any]:
        inner = self._trace.inner()
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


_ROUNDS = 4
"""Maximum number of trials until the forms of a loop's lists are known."""


def _declared(value: Array, like: Value) -> Array:
    """Return a tensor with the dtype of its declaration; lists unchanged."""
    return jnp.asarray(value, like.dtype.numpy_dtype) if isinstance(like.spec, TensorType) else value


def _within(value: Any, form: Any, growth: int = 0) -> Any:
    """Return a value in a form; an iteration may add as many elements as `growth` to a list."""
    if not isinstance(form, ListForm):
        return fitted(value, form)
    made = fitted(value, form)
    return made.with_length(made.length, form.most - growth)


def _room(form: Any) -> int:
    return form.most if isinstance(form, ListForm) else 0


def _have_equal_elements(one: Any, other: Any) -> bool:
    return not isinstance(one, ListForm) or one._replace(most=0) == other._replace(most=0)
