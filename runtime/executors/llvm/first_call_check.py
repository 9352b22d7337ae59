"""Compare automatically compiled code with the plan before its first use, once for each combination of shapes.

Code of the unit cache that was compared in another process is not compared again.

    the plan on the variables          ──┐
                                         ├── equal ─► the faster one is kept
    native code on their old arrays    ──┘── else ──► a warning, and the plan stays

While the old arrays are kept, the plan has to write new values into other arrays, such as those of gradients.

Integers and bools must be equal. Floats may differ by `TOLERANCE` times the largest magnitude in a result, or
by `MARGIN` times the change of the plan's own results when the last bits of its float inputs change, and `CANCELLATION`
times the tolerance. A few elements may differ by more, but not the same ones again (rounding_doubts.py). A program is
chaotic, and may differ, if its results change by as much with its inputs, and not in proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ...core.freed_memory import return_freed_memory
from ..plan.plan import Plan
from . import unit_cache
from .jit_function import JitFunction
from .moved_inputs import LAST_BIT, Shares, moved_array, moved_if_array, with_moved_constants
from .result_differences import FAR, difference, is_chaotic
from .rounding_doubts import Doubts, Places
from .runtime_library import free_kept_memory

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
    can_repeat = not native.draws  # another run of this plan would draw other random numbers
    moved: dict[int, Any] | None = None if can_repeat else {}
    if is_large and can_repeat:
        moved = _of_moved_inputs(plan, arguments, before, doubts.results)
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
    if unlike and not is_large and can_repeat:
        moved = _of_moved_inputs(plan, arguments, before, unlike)
    text = _examined(found, wanted, moved, unlike, doubts) if unlike else ""
    if text and not is_large and _is_chaotic(native, arguments, before, found, wanted, unlike):
        text = ""
    key = native.stored_key(arguments)
    if text == "" and key is not None:
        unit_cache.trust(key)
    return results, text


def _unlike(found: Sequence[Any], wanted: Sequence[Any]) -> set[int]:
    """Return the numbers of the results that differ."""
    pairs = enumerate(zip(found, wanted, strict=True))
    return {number for number, (one, other) in pairs if difference([one], [other], is_brief=True) is not None}


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
    text = difference(found, wanted, moved, places=places)  # beyond that sensitivity
    if text is None:
        return doubts.after(places) if places else ""
    return None if difference(found, wanted, moved, ROUNDING, places=places) is None else text


def _is_chaotic(
    native: JitFunction,
    arguments: Sequence[Any],
    before: Mapping[int, Any],
    found: Sequence[Any],
    wanted: Sequence[Any],
    unlike: set[int],
) -> bool:
    """Return whether results differ by no more than the plan's change with other last bits of inputs or constants.

    These change also by `FAR` last bits. Floats of 16 bits have too few bits for that.
    """
    far = [LAST_BIT | {size: factor * LAST_BIT[size] for size in (4, 8)} for factor in (FAR, -FAR)]
    graph, arguments = native.with_streams(arguments)  # so that each run draws the same random numbers

    def results(shares: Shares, moves_constants: bool) -> dict[int, Any] | None:
        def run(inputs: Sequence[Any]) -> Sequence[Any]:
            return Plan(with_moved_constants(graph, shares) if moves_constants else graph).run(inputs)

        return _of_moved_inputs(run, arguments, before, unlike, shares)

    for moves_constants in (False, True):
        near = results(LAST_BIT, moves_constants)
        others = (results(shares, moves_constants) for shares in far)
        if near and any(other and is_chaotic(found, wanted, near, other) for other in others):
            return True
    return False


def is_trusted(native: JitFunction, arguments: Sequence[Any]) -> bool:
    """Return whether the code for these inputs was compared before, and had equal results."""
    key = native.stored_key(arguments)
    return key is not None and unit_cache.is_trusted(key)


def _of_moved_inputs(
    plan: Runner,
    arguments: Sequence[Any],
    before: Mapping[int, Any],
    needed: Collection[int],
    shares: Shares = LAST_BIT,
) -> dict[int, Any] | None:
    """Return the plan's results and new values of variables if the last bits of its float inputs change, by number.

    These are the needed ones and small ones; None if the run fails. `before` has the arrays of variables by their ids.
    """
    free_kept_memory()  # of native code, which the plan needs for as many arrays
    return_freed_memory()
    given = {key: Copy(array) for key, array in before.items()}
    total = 0
    try:
        for copy in sorted(given.values(), key=lambda copy: copy._array.nbytes):
            total += copy._array.nbytes
            if total <= _MOST_MOVED:
                copy._array = moved_array(copy._array, shares)
        inputs = [given[id(x)] if id(x) in given else moved_if_array(x, shares) for x in arguments]
        results = [*plan(inputs), *(copy._array for copy in given.values())]
    except Exception:  # moved inputs may fail a check of the program, or memory is short
        return None
    return {i: x for i, x in enumerate(results) if i in needed or getattr(x, "nbytes", 0) <= _KEPT}
