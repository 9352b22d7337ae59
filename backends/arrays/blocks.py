"""Trace a block of the user's code once, to a program of arrays and a description of its results.

    lambda: (x + 1, None, 3)  ⇒  program { x. let a = add x 1 in (a,) },  results (Slot(0), None, 3)

The program is used for the branch or the loop body itself, so nested blocks are not traced again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph import staging

from . import failures
from .failures import library
from .leaves import Slot, flatten, is_array, type_of
from .library import Program, Type


class Block:
    """A traced block: `results` are its values with slots for arrays, or None if it always raises.

    `code` is the slot of the code of its checks, or None.
    """

    def __init__(self, program: Program, results: tuple[Any, ...] | None, code: Slot | None) -> None:
        self.program = program
        self.results = results
        self.code = code
        self.has_code = code is not None

    def run(self, arrays: Sequence[Any] = ()) -> list[Any]:
        """Return the arrays of the results, and last the code if the block has checks."""
        return self.program.run(arrays)


def traced(function: Callable[..., Any], types: Sequence[Type] = ()) -> Block:
    """Trace a function of arrays of these types, whose results are the values of variables."""
    results: list[tuple[Any, ...] | None] = [None]
    code: Slot | None = None

    def flat(*arrays: Any) -> list[Any]:
        nonlocal code
        with failures.block() as own:
            returned = _returned(function, arrays)
        found: list[Any] = []
        results[0] = None if returned is None else tuple([_slotted(value, found) for value in returned])
        if own.code is None:
            return found
        code = Slot(len(found), type_of(own.code), None)
        return [*found, own.code]

    with staging.deciding():
        program = library().trace(flat, types)
    return Block(program, _with_outer_arrays(results[0], program), code)


def _returned(function: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Any, ...] | None:
    """Call the function; return None if it raises an exception of the user's, which is recorded."""
    try:
        return tuple(function(*arrays) or ())
    except failures.Never:
        return None
    except (Exception, SystemExit) as error:
        if not isinstance(error, UnboundLocalError) and not staging.raised_by_user(error):
            raise
        failures.fail(error)
        return None


def _slotted(value: Any, arrays: list[Any]) -> Any:
    """Return the value with slots in place of its arrays, which are appended to `arrays`."""
    leaves, build = flatten(value)
    slotted = []
    for leaf in leaves:
        if is_array(leaf):
            array = library().as_array(leaf)
            leaf = Slot(len(arrays), type_of(array), None)
            arrays.append(array)
        slotted.append(leaf)
    return build(slotted)


def _with_outer_arrays(results: tuple[Any, ...] | None, program: Program) -> tuple[Any, ...] | None:
    """Return the results; slots of arrays that the block only passes on from outside have these arrays."""
    if results is None:
        return None

    def with_array(leaf: Any) -> Any:
        return leaf._replace(array=program.passed_on[leaf.number]) if isinstance(leaf, Slot) else leaf

    found = []
    for value in results:
        leaves, build = flatten(value)
        found.append(build([*map(with_array, leaves)]))
    return tuple(found)
