"""Staging of `for` over datasets and iterators, and of Python's built-in functions on them.

    for x in ds:                         i = iterator d
        total += x                       total = while total, i
                                           test: yield iterator_advance i
                                           body: x = iterator_current i
                                                 yield add total, x

After a `break` the next element has not been taken: another loop over the same iterator continues with it.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

from agc.autograph import staging
from agc.autograph.api import converted

from ..autograph_backend import GraphBackend
from ..control_flow import loop_options, while_loop
from ..control_flow.functional_api import cond
from ..ir.builder import current
from ..ops.math import comparison
from ..python_semantics.builtins import BUILTINS
from . import ops
from .dataset import Dataset
from .element_spec import leaf_specs
from .iterator import Iterator

_NOTHING: Any = object()


class DatasetBackend(GraphBackend):
    """The staging backend for datasets and iterators while a graph is being built."""

    @property
    def builtins(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        return _BUILTINS

    def owns(self, value: Any) -> bool:
        return current() is not None

    def for_loop(
        self,
        items: Any,
        body: Callable[..., Any],
        state: tuple[Any, ...],
        names: tuple[str, ...],
        until: str | None,
        options: Mapping[str, Any],
    ) -> tuple[Any, ...]:
        iterator = iter(items)
        handle = iterator.handle()
        specs = tuple(leaf_specs(iterator.element_spec))
        limit = options.get("maximum_iterations")
        count = () if limit is None else (0,)  # iterations are counted if there is a limit
        stop = None if until is None else names.index(until) + len(count)

        def going(*now: Any) -> Any:
            more: Callable[[], Any] = lambda: ops.iterator_advance(handle)  # noqa: E731
            ends = [] if stop is None or now[stop] is False else [now[stop]]
            if limit is not None:
                ends.append(comparison.greater_equal(now[0], limit))
            if not ends:
                return more()
            ended = ends[0] if len(ends) == 1 else comparison.logical_or(*ends)
            return cond(ended, lambda: False, more)

        def step(*now: Any) -> tuple[Any, ...]:
            item = iterator.packed(ops.iterator_current(handle, specs))
            after = body(item, *now[len(count) :]) or ()
            return (*(rounds + 1 for rounds in now[: len(count)]), *after)

        step.__wrapped__ = body  # type: ignore[attr-defined]  # errors show the lines of the block itself
        start = (*count, *state)
        carried = (*("round" for _ in count), *names)
        shapes = loop_options.invariants(start, options)
        every = loop_options.checkpoints(options)
        loop = while_loop.Loop(going, step, start, carried, shapes, None, every)
        return loop_options.recorded(loop, options)[len(count) :]


def _advanced(iterator: Any, default: Any = _NOTHING, /) -> Any:
    """Stage `next(it)`."""
    if not isinstance(iterator, Iterator):
        raise TypeError(f"'{type(iterator).__name__}' object is not an iterator")
    if default is _NOTHING:
        return iterator.taken()
    handle = iterator.handle()
    specs = tuple(leaf_specs(iterator.element_spec))
    return cond(
        ops.iterator_advance(handle),
        lambda: iterator.packed(ops.iterator_current(handle, specs)),
        lambda: default,
    )


def _length(dataset: Any, /) -> Any:
    """Stage `len(ds)`, an int64 if it is known only at run time."""
    found = dataset.cardinality()
    static = getattr(found, "_array", None)
    return found if static is None else len(dataset)


def _mapped(function: Callable[..., Any], first: Any, /, *others: Any) -> Any:
    call = converted(function)
    if not others:
        return _as_dataset(first).map(lambda *item: call(item[0] if len(item) == 1 else item))
    return Dataset.zip((first, *others)).map(call)


def _filtered(function: Callable[..., Any] | None, items: Any, /) -> Any:
    if function is None:
        raise TypeError("filter(None, dataset): write the condition as a function")
    call = converted(function)
    return _as_dataset(items).filter(lambda *item: call(item[0] if len(item) == 1 else item))


def _as_dataset(items: Any) -> Dataset:
    if isinstance(items, Dataset):
        return items
    raise TypeError(f"a dataset is needed, not {type(items).__name__}")


def _any(items: Any, /) -> Any:
    return _as_dataset(items).reduce(False, lambda found, item: comparison.logical_or(found, item))


def _all(items: Any, /) -> Any:
    return _as_dataset(items).reduce(True, lambda found, item: comparison.logical_and(found, item))


_BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = BUILTINS | {
    builtins.enumerate: lambda items, start=0: _as_dataset(items).enumerate(start),
    builtins.zip: lambda *many, strict=False: Dataset.zip(many),
    builtins.map: _mapped,
    builtins.filter: _filtered,
    builtins.iter: iter,
    builtins.next: _advanced,
    builtins.len: _length,
    builtins.any: _any,
    builtins.all: _all,
}

BACKEND = DatasetBackend()
staging.register(BACKEND, Dataset, Iterator, always=False)
