"""Calls written out: functions that look at each of so many arguments without a loop, which would take thrice as long.

    key of two arguments             entry for a tensor and an object

    def made(args):                  def made(args):
        a0, a1 = args                    a0, a1 = args
        return (                         if known1() is not a1:
            part(a0),        ...             return MISSED
            part(a1),                    return finish(concrete.runner([a0._array, *references]))
        )

                                     way of a tensor and an object, without the search for an entry

                                     def call(*args, **kwargs):
                                         if busy or kwargs or len(args) != 2: …
                                         a0, a1 = args
                                         if a1 is not known1(): …
                                         return finish(plan._function(a0._array, *references))

where `part(a)` stands for `a._kind or kind_of(a) if type(a) is EagerTensor else quick_key(a)`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph import api

from ..busy import busy
from ..kinds import kind_of
from ..quiet import SILENCE, begin, end
from ..tensor import EagerTensor

MOST = 40
"""Arguments; calls with more of them have loops."""

Code = Callable[..., Any]

# The name lies in this package, so that these frames count as agc's own in tracebacks.
_FILE = os.path.join(os.path.dirname(__file__), "<unrolled>")


@functools.cache
def key_function(count: int) -> Callable[..., Code]:
    """Takes `quick_key`, and gives the function from so many arguments to their key."""
    part = "{0}._kind or kind_of({0}) if type({0}) is EagerTensor else quick_key({0})"
    parts = "".join(f"{part.format(name)}, " for name in _names(count))
    return _maker(count, ["quick_key"], [f"return ({parts})"])


@functools.cache
def entry_function(
    count: int, tensors: Sequence[int], others: Sequence[int], with_references: bool
) -> Callable[..., Code]:
    """Takes `MISSED`, `concrete`, `finish` and what refers to the other objects; gives an entry, see entry.py."""
    checks = [
        line for place in others for line in (f"if known{place}() is not a{place}:", "    return MISSED")
    ]
    arrays = "".join(f"a{place}._array, " for place in tensors)
    more = "*concrete.references" if with_references else ""
    given = ["MISSED", "concrete", "finish", *[f"known{place}" for place in others]]
    return _maker(count, given, [*checks, f"return finish(concrete.runner([{arrays}{more}]))"])


TENSOR, SAME, WEAK = "tensor", "same", "weak"
"""How an argument is told from others: by its kind, by identity, or by identity with what a reference refers to."""

_IS_ANOTHER = {
    TENSOR: "type(a{0}) is not EagerTensor or (a{0}._kind or kind_of(a{0})) is not known{0}",
    SAME: "a{0} is not known{0}",
    WEAK: "a{0} is not known{0}()",
}


@functools.cache
def call_function(arguments: Sequence[str], with_references: bool) -> Callable[..., Code]:
    """Takes a plan, `finish`, `references`, and what the arguments are told by; gives a way, see direct.py."""
    count = len(arguments)
    arrays = "".join(f"a{place}._array, " for place, how in enumerate(arguments) if how == TENSOR)
    more = "*references" if with_references else ""
    others = [_IS_ANOTHER[how].format(place) for place, how in enumerate(arguments)]
    body = [
        "def call(*args, **kwargs):",
        f"    if busy or kwargs or len(args) != {count}:",
        "        return fallback(*args, **kwargs)",
        *([f"    {', '.join(_names(count))}, = args"] if count else []),
        *[line for other in others for line in (f"    if {other}:", "        return fallback(*args)")],
        "    before = begin(SILENCE)",
        "    try:",
        "        try:",
        f"            return finish(plan._function({arrays}{more}))",
        "        except Exception as error:",
        "            plan.fail(error)",
        "    except BaseException as error:",
        "        api.strip_frames(error)",
        "        api.leave_no_trace(error)",
        "        raise",
        "    finally:",
        "        end(before)",
        "return call",
    ]
    known = [f"known{place}" for place in range(count)]
    return _compiled("fallback", ["plan", "finish", "references", *known], body)


def _maker(count: int, given: Sequence[str], body: Sequence[str]) -> Callable[..., Code]:
    """A function of what is `given`, which gives a function of so many arguments, in one sequence."""
    unpacked = [f"{', '.join(_names(count))}, = args"] if count else []
    return _compiled("args", given, [*unpacked, *body])


def _compiled(parameter: str, given: Sequence[str], body: Sequence[str]) -> Callable[..., Code]:
    lines = [f"def maker({', '.join(given)}):", f"    def made({parameter}):"]
    lines += [f"        {line}" for line in body]
    lines.append("    return made")
    namespace = dict(_USED)
    exec(compile("\n".join(lines), _FILE, "exec"), namespace)
    return namespace["maker"]  # type: ignore[no-any-return]


_USED: dict[str, Any] = {
    "EagerTensor": EagerTensor,
    "SILENCE": SILENCE,
    "api": api,
    "begin": begin,
    "busy": busy,
    "end": end,
    "kind_of": kind_of,
}
"""What written functions need besides what they are given."""


def _names(count: int) -> list[str]:
    return [f"a{number}" for number in range(count)]
