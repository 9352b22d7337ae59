"""Compare automatically compiled code with the plan before its first use, once for each combination of shapes.

Code of the unit cache that was compared in another process is not compared again.

    the plan on the variables          ──┐
                                         ├── equal ─► the faster one is kept
    native code on their old arrays    ──┘── else ──► a warning, and the plan stays

While the old arrays are kept, the plan has to write new values into other arrays, such as those of gradients.

Integers and bools must be equal. Floats may differ by `TOLERANCE` times the largest magnitude in a result, or
by `MARGIN` times the change of the plan's own results when the last bits of its float inputs change, and `CANCELLATION`
times the tolerance. A few elements may differ by more, but not the same ones again (rounding_doubts.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.freed_memory import return_freed_memory
from ...ops.lists.tensor_array import PersistentArray
from . import unit_cache
from .jit_function import JitFunction
from .rounding_doubts import FEW, NEAR, Doubts, Places
from .runtime_library import free_kept_memory

TOLERANCE = {2: 2e-2, 4: 1e-4, 8: 1e-9}
"""Tolerances by the size in bytes of a float, or of a part of a complex number."""

MARGIN = 64

SPREAD = 16
"""Factor of the largest change of any element.

A sign next to zero decides a ReLU. Rounding may change it in one run, and that of another element in the next.
"""

CANCELLATION = 30
"""Factor of the tolerance in the second comparison, which considers the plan's sensitivity.

Sums of many terms that cancel each other lose more digits by the order of addition than by changes of the terms.
"""

LAST_BIT = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}
"""The last bit of 1, by the size in bytes of a float."""

ROUNDING = 8
"""The number of last bits of 1 up to which a difference is no fault, but no agreement either.

The logarithm of a sum near 1 has the rounding of the sum, whose terms may be too small to change it.
"""

_LARGE = 64 << 20
"""The bytes of assigned variables above which native code overwrites their old arrays.

So the plan runs with moved inputs first. It is seldom in vain: rounding decides about the gradients of large networks.
"""

_MOST_MOVED = 256 << 20
"""The most bytes of variables whose last bits change, the smallest ones first: copies of all may be too large."""

_KEPT = 1 << 20
"""The bytes of results with moved inputs that are kept in any case, as those of biases, which rounding changes most."""

_BLOCK = 1 << 14
"""The elements that are compared at a time."""

Runner = Callable[[Sequence[Any]], Sequence[Any]]


class Copy:
    """Proxy of a variable, with an array of its own, in a run that must not change the variable."""

    def __init__(self, array: Any) -> None:
        self._array = array


def compared(
    native: JitFunction,
    plan: Runner,
    arguments: Sequence[Any],
    rehearse: Callable[..., list[Any] | None] | None = None,
    doubts: Doubts | None = None,
) -> tuple[Sequence[Any], str | None]:
    """Return the plan's results, and the difference of native results: "" if none, None if that is unknown.

    It is unknown if native code gave up, or if the difference may be the rounding of numbers that cancel each other.
    The unit cache keeps that there was none. `rehearse` replaces `native.rehearsed`, for a caller that measures it.
    `doubts` has what the former comparisons of these results left. Raise the errors of the plan alone.
    """
    doubts = doubts or Doubts()
    before = {id(variable): variable._array for variable in native.variables_in(arguments)}
    is_large = native.bytes_assigned(arguments) > _LARGE
    moved = _of_moved_inputs(native, plan, arguments, before, doubts.results) if is_large else None
    results = plan(arguments)
    wanted = [*results, *(variable._array for variable in native.variables_in(arguments))]
    return_freed_memory()  # of the plan, which native code needs in other blocks
    copies = {key: Copy(array) for key, array in before.items()}
    if is_large:
        before.clear()  # native code overwrites arrays that nothing else refers to
    found = (rehearse or native.rehearsed)(arguments, copies)
    if found is None:
        return results, None
    unlike = _unlike(found, wanted)
    if unlike and not is_large:
        moved = _of_moved_inputs(native, plan, arguments, before, unlike)
    text = _examined(found, wanted, moved, unlike, doubts) if unlike else ""
    key = native.stored_key(arguments)
    if text == "" and key is not None:
        unit_cache.trust(key)
    return results, text


def _unlike(found: Sequence[Any], wanted: Sequence[Any]) -> set[int]:
    """Return the numbers of the results that differ."""
    pairs = enumerate(zip(found, wanted, strict=True))
    return {number for number, (one, other) in pairs if _difference([one], [other]) is not None}


def _examined(
    found: Sequence[Any],
    wanted: Sequence[Any],
    moved: Mapping[int, Any] | None,
    unlike: set[int],
    doubts: Doubts,
) -> str | None:
    """Return the difference of results as `compared` does; add those that differ to the doubts.

    Args:
        moved: the plan's results with other last bits of its inputs, as far as they were kept; None if there are none.
        unlike: the numbers of the results that differ.
    """
    if moved is None:
        return None
    is_first = not unlike <= doubts.results | moved.keys()
    doubts.results |= unlike
    text = _insensitive(found, wanted, [moved.get(i, each) for i, each in enumerate(wanted)], doubts)
    return text and None if is_first else text


def _insensitive(
    found: Sequence[Any], wanted: Sequence[Any], moved: Sequence[Any], doubts: Doubts
) -> str | None:
    """Return the difference that exceeds the plan's own sensitivity to rounding, as `compared` does."""
    places: dict[int, Places] = {}
    text = _difference(found, wanted, moved, places=places)  # beyond that sensitivity
    if text is None:
        return doubts.after(places) if places else ""
    return None if _difference(found, wanted, moved, ROUNDING, places) is None else text


def is_trusted(native: JitFunction, arguments: Sequence[Any]) -> bool:
    """Return whether the code for these inputs was compared before, and had equal results."""
    key = native.stored_key(arguments)
    return key is not None and unit_cache.is_trusted(key)


def _of_moved_inputs(
    native: JitFunction,
    plan: Runner,
    arguments: Sequence[Any],
    before: Mapping[int, Any],
    needed: Collection[int],
) -> dict[int, Any] | None:
    """Return the plan's results and new values of variables if the last bits of its float inputs change, by number.

    These are the needed ones and small ones; None if the run fails. `before` has the arrays of variables by their ids.
    """
    if native.draws:
        return {}  # another run would draw other random numbers
    free_kept_memory()  # of native code, which the plan needs for as many arrays
    return_freed_memory()
    given = {key: Copy(array) for key, array in before.items()}
    total = 0
    try:
        for copy in sorted(given.values(), key=lambda copy: copy._array.nbytes):
            total += copy._array.nbytes
            if total <= _MOST_MOVED:
                copy._array = _moved(copy._array)
        inputs = [given[id(x)] if id(x) in given else _moved_if_array(x) for x in arguments]
        results = [*plan(inputs), *(copy._array for copy in given.values())]
    except Exception:  # moved inputs may fail a check of the program, or memory is short
        return None
    return {i: x for i, x in enumerate(results) if i in needed or getattr(x, "nbytes", 0) <= _KEPT}


def _moved_if_array(argument: Any) -> Any:
    return _moved(argument) if isinstance(argument, (np.ndarray, np.generic)) else argument


def _moved(array: Any) -> Any:
    """Return floats with changed last bits, except zeros, infinities and NaN; other arrays unchanged."""
    moved = np.array(array, order="C")
    if moved.dtype.kind in "fc" and moved.dtype.num < 256:  # dtypes of NumPy only, not of extensions
        flat = moved.reshape(-1).view(moved.real.dtype)
        changes = np.abs(flat) * np.finfo(flat.dtype).eps
        changes[1::2] *= -1
        changes[~np.isfinite(changes)] = 0
        flat += changes
    return moved


def _difference(
    found: Sequence[Any],
    wanted: Sequence[Any],
    moved: Sequence[Any] | None = None,
    bits: int = 0,
    places: dict[int, Places] | None = None,
) -> str | None:
    """Return a description of the first difference that is too large, else None.

    Args:
        moved: the plan's results with other last bits of its inputs; None for a comparison without them.
        bits: the last bits of 1 by which floats may differ.
        places: gets the elements about which rounding may have decided; if None, they are differences.
    """
    pairs = zip(_arrays(found), _arrays(wanted), _arrays(wanted if moved is None else moved), strict=True)
    for number, (one, other, third) in enumerate(pairs):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"number {number} is {one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
        distance, few = _distance(one, other, None if moved is None else third, bits)
        if few is not None and places is not None:
            places[number] = Places(one.shape, few)
        elif distance is not None:
            return f"number {number}, {one.dtype}{list(one.shape)}, differs {distance}"
    return None


def _distance(found: Any, wanted: Any, moved: Any | None, bits: int) -> tuple[str | None, Any | None]:
    """Return a description of the difference if it is too large, and the indices of a few elements near enough."""
    if found.dtype.hasobject:
        return None if found.tolist() == wanted.tolist() else "in its texts", None
    if found.dtype.kind not in "fc":
        count = int((found != wanted).sum())
        is_unstable = moved is not None and (moved.shape != wanted.shape or bool((moved != wanted).any()))
        return None if not count or is_unstable else f"in {count} elements", None
    if found.dtype.kind == "c":
        found, wanted, moved = (
            None if x is None else x.reshape(-1).view(x.real.dtype) for x in (found, wanted, moved)
        )
    return _distance_of_floats(found, wanted, moved, bits)


def _distance_of_floats(
    found: Any, wanted: Any, moved: Any | None, bits: int
) -> tuple[str | None, Any | None]:
    size = max(found.dtype.itemsize, 2)
    share, least = TOLERANCE[size] * (1 if moved is None else CANCELLATION), bits * LAST_BIT[size]
    moved = wanted if moved is None else moved
    if moved.shape != wanted.shape or _is_near(found.ravel(), wanted.ravel(), share):
        return None, None
    flat = [array.ravel() for array in (found, wanted, moved)]
    most, wrong = 0.0, []
    with np.errstate(all="ignore"):
        largest = max((_largest(one) for _, one, _ in _blocks(flat)), default=0.0)
        change = max((_largest(other - one) for _, one, other in _blocks(flat)), default=0.0)
        for number, (one, other, third) in enumerate(_blocks(flat)):
            distances = np.abs(one - other)
            bound = least + share * largest + MARGIN * np.abs(third - other) + SPREAD * change
            is_same = (one == other) | (np.isnan(one) & np.isnan(other))
            # Rounding decides if the plan's own results change between finite and not finite.
            is_close = (distances <= bound) | (np.isfinite(third) != np.isfinite(other))
            indices = np.flatnonzero(~(is_same | is_close))
            wrong.append(indices + number * _BLOCK)
            most = float(np.max(distances[indices], initial=most))
    places = np.concatenate(wrong) if wrong else np.empty(0, int)
    if not places.size:
        return None, None
    is_few = places.size <= max(1, FEW * found.size) and most <= NEAR * largest
    return f"by {most:.3g} in {places.size} elements", places if is_few else None


def _is_near(found: Any, wanted: Any, share: float) -> bool:
    """Return whether all elements of two vectors are finite, and differ by at most a share of the largest one."""
    most = largest = 0.0
    with np.errstate(all="ignore"):
        for start in range(0, wanted.size, _BLOCK):
            one, other = found[start : start + _BLOCK], wanted[start : start + _BLOCK]
            most = np.maximum(most, np.abs(one - other).max())  # NaN if one is
            largest = np.maximum(largest, np.abs(other).max())
        return bool(most <= share * largest < np.inf)


def _blocks(arrays: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield parts of vectors as float64, so that large results need little memory."""
    for start in range(0, arrays[0].size, _BLOCK):
        yield [array[start : start + _BLOCK].astype(np.float64) for array in arrays]


def _largest(array: Any) -> float:
    """Return the largest magnitude of a finite number."""
    return float(np.abs(array[np.isfinite(array)]).max(initial=0))


def _arrays(results: Sequence[Any]) -> Iterator[Any]:
    """Yield the arrays of results, including those in lists."""
    for result in results:
        if isinstance(result, PersistentArray):
            yield from _arrays([item for item in result.items() if item is not None])
        else:
            yield np.asarray(result)
