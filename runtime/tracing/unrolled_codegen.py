"""Code generation of functions that process a fixed number of arguments without a loop, which is three times as
fast.

    key of two arguments             entry for a tensor and an object

    def made(args):                  def made(args):
        a0, a1 = args                    a0, a1 = args
        return (                         if known1() is not a1:
            part(a0),        ...             return MISSED
            part(a1),                    return finish(concrete.runner([a0._array, *references]))
        )

where `part(a)` abbreviates `a._kind or kind_of(a) if type(a) is EagerTensor else quick_key(a)`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

from ..core.abstract_value import abstract_value_of
from ..core.tensor import EagerTensor

MOST = 40
"""The maximum number of arguments; calls with more use loops."""

Code = Callable[..., Any]

# The path is in this package, so that these frames count as agc's own in tracebacks.
_FILE = os.path.join(os.path.dirname(__file__), "<unrolled>")


@functools.cache
def key_function(count: int) -> Callable[..., Code]:
    """Return a function from `quick_key` to the function that makes the key of `count` arguments."""
    part = "{0}._kind or kind_of({0}) if type({0}) is EagerTensor else quick_key({0})"
    parts = "".join(f"{part.format(name)}, " for name in _names(count))
    return _maker(count, ["quick_key"], [f"return ({parts})"])


@functools.cache
def entry_function(
    count: int, tensors: Sequence[int], others: Sequence[int], with_references: bool
) -> Callable[..., Code]:
    """Return a function that makes an entry (see cache_entry.py).

    Its arguments are `MISSED`, `concrete`, `finish` and the references to the other objects.
    """
    checks = [
        line for place in others for line in (f"if known{place}() is not a{place}:", "    return MISSED")
    ]
    arrays = "".join(f"a{place}._array, " for place in tensors)
    more = "*concrete.references" if with_references else ""
    given = ["MISSED", "concrete", "finish", *[f"known{place}" for place in others]]
    return _maker(count, given, [*checks, f"return finish(concrete.runner([{arrays}{more}]))"])


def _maker(count: int, given: Sequence[str], body: Sequence[str]) -> Callable[..., Code]:
    """Return a function with the parameters `given` that returns a function of one sequence of `count` arguments."""
    unpacked = [f"{', '.join(_names(count))}, = args"] if count else []
    lines = [f"def maker({', '.join(given)}):", "    def made(args):"]
    lines += [f"        {line}" for line in [*unpacked, *body]]
    lines.append("    return made")
    namespace = dict(_USED)
    exec(compile("\n".join(lines), _FILE, "exec"), namespace)
    return namespace["maker"]  # type: ignore[no-any-return]


_USED: dict[str, Any] = {"EagerTensor": EagerTensor, "kind_of": abstract_value_of}
"""The globals of the generated functions."""


def _names(count: int) -> list[str]:
    return [f"a{number}" for number in range(count)]
