"""Code generation of the fast path of a plan (plan_fast_path.py): a check for each argument, a line for each result.

    f(x, {"y": y}, n=3)      def call(_0=_absent, _1=_absent, /, *_more, n=_absent, **_kw):
                                 if _busy or _more or _kw:
                                     return _handed(_fallback, (_0, _1, *_more), {"n": n, **_kw})
                                 _fits = False
                                 try:
                                     while True:
                                         if _0 is another kind of tensor or _type(_1) is not dict or _len(_1) != 1:
                                             break
                                         …
                                         _fits = True
                                         break
                                 except _Exception:                     any error means another kind of call
                                     pass
                                 if not _fits:
                                     return _fallback(_0, _1, n=n)
                                 _before = _begin(_SILENCE)
                                 try:
                                     _r0, = _plan._function(_0._array, _1_0._array)
                                 …                                      failures, and the end of silence
                                 _t0 = _new(_EagerTensor)               with its slots set
                                 return {"sum": _t0}

The fallback is called outside of the `try` block of the checks, so that its errors propagate. Keyword parameters may
have names such as `type` or `len`, but never begin with an underscore. So all other names in the generated code do.
Functions with the same text share the compiled code. Their objects are passed to `maker`.
"""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from agc.autograph import api

from ..core.abstract_value import abstract_value_of, kind_for
from ..core.argument_pattern import ArgumentPattern
from ..core.fast_path_guard import busy
from ..core.fp_errors import SILENCE, begin, end
from ..core.tensor import EagerTensor
from ..ir.value_types import AnySpec, TensorType
from .cache_entry import IMMUTABLE
from .trace import Output

if TYPE_CHECKING:
    from ..core.variable import Variable
    from ..executors import Plan

Made = Callable[[Callable[..., Any]], Callable[..., Any]]

# The path is in this package, so that these frames count as agc's own in tracebacks.
_FILE = os.path.join(os.path.dirname(__file__), "<direct>")

_ABSENT: Any = object()
"""The default of parameters, which means that no argument was passed."""

_NESTS = frozenset({tuple, list, dict})


def _handed(fallback: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Forward the call to `fallback`, leaving out parameters that were not passed."""
    count = len(args)
    while count and args[count - 1] is _ABSENT:
        count -= 1
    for value in kwargs.values():
        if value is _ABSENT:
            kwargs = {name: value for name, value in kwargs.items() if value is not _ABSENT}
            break
    return fallback(*args[:count], **kwargs)


class PlanFastPathCodegen:
    """A generator of such a function. Call `takes`, `runs`, `gives` and `compiled` in this order."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._questions: list[str] = []
        self._known: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._arrays: dict[int, str] = {}

    def compiled(self) -> Made:
        """Return a function from the fallback to the compiled function."""
        lines = [f"def maker({', '.join(self._known)}):", "    def made(_fallback):"]
        lines += [f"        {line}" for line in self._lines]
        lines += ["        return call", "    return made"]
        made: Made = _maker("\n".join(lines))(*self._known.values())
        return made

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _know(self, thing: Any) -> str:
        """Return the name of an object that is passed to `maker`."""
        if id(thing) not in self._names:
            self._names[id(thing)] = name = f"_k{len(self._known)}"
            self._known[name] = thing
        return self._names[id(thing)]

    # Checks of the arguments

    def takes(self, parts: Sequence[ArgumentPattern], names: Sequence[str], leaves: Sequence[Any]) -> None:
        """Emit the checks of arguments by `parts`, the last of them named `names`; `leaves` are the graph's inputs."""
        places = [f"_{place}" for place in range(len(parts) - len(names))]
        taken = [*[f"{place}=_absent" for place in places], *(["/"] if places else []), "*_more"]
        self._line(0, f"def call({', '.join([*taken, *[f'{name}=_absent' for name in names]])}, **_kw):")
        keywords = "".join(f"{name!r}: {name}, " for name in names)
        handed = f"_handed(_fallback, ({''.join(f'{x}, ' for x in places)}*_more,), {{{keywords}**_kw}})"
        lacks = " or ".join(f"{name} is _absent" for name in [*places[-1:], *names])
        by_name = [f"{name}={name}" for name in names]
        whole = f"_fallback({', '.join([*places, '*_more', *by_name, '**_kw'])})"
        self._line(1, "if _busy or _more or _kw:")
        self._other(f"{handed} if {lacks} else {whole}" if parts else whole)
        if not parts:
            return
        self._line(1, "_fits = False")
        self._line(1, "try:")
        self._line(2, "while True:")
        for name, part in zip([*places, *names], parts, strict=True):
            self._part(name, part, leaves)
        self._ask()
        self._line(3, "_fits = True")
        self._line(3, "break")
        self._line(1, "except _Exception:  # whatever it says to what it is asked, it is another call")
        self._line(2, "pass")
        self._line(1, "if not _fits:")
        self._other(f"{handed} if {lacks} else _fallback({', '.join([*places, *by_name])})")

    def _other(self, call: str) -> None:
        """Emit a call of the fallback. The traceback of its errors shows no frame of this function."""
        self._line(2, "try:")
        self._line(3, f"return {call}")
        self._line(2, "except _BaseException as _error:")
        self._line(3, "_api.leave_no_trace(_error)")
        self._line(3, "raise")

    def _part(self, name: str, part: ArgumentPattern, leaves: Sequence[Any]) -> None:
        if part.kind in _NESTS:
            self._nest(name, part, leaves)
        elif part.kind is EagerTensor:
            kind = self._know(abstract_value_of(leaves[part.number]))
            self._questions.append(
                f"{name}._kind is not {kind} and (_type({name}) is not _EagerTensor or _kind_of({name}) is not {kind})"
            )
            self._arrays[part.number] = f"{name}._array"
        elif part.kind is np.ndarray:
            array = leaves[part.number]
            dtype, shape = self._know(array.dtype), self._know(array.shape)
            self._questions.append(
                f"_type({name}) is not _ndarray or {name}.dtype is not {dtype} or {name}.shape != {shape}"
            )
            self._arrays[part.number] = f"_copy({name})"  # the caller may go on writing to it
        elif part.kind is weakref.ref:
            self._questions.append(f"{name} is None or {name} is not {self._know(part.thing)}()")
        else:
            self._questions.append(self._is_another(name, part.thing))

    def _is_another(self, name: str, thing: Any) -> str:
        known, kind = self._know(thing), type(thing)
        if kind not in IMMUTABLE or kind in (bool, type(None)) or thing != thing or thing == 0:
            return f"{name} is not {known}"  # `==` ignores the sign of zero, and is false for NaN
        return f"{name} is not {known} and (_type({name}) is not {self._know(kind)} or {name} != {known})"

    def _nest(self, name: str, part: ArgumentPattern, leaves: Sequence[Any]) -> None:
        inner = [f"{name}_{place}" for place in range(len(part.parts))]
        targets = "".join(f"{each}, " for each in inner)
        self._questions.append(
            f"_type({name}) is not {self._know(part.kind)} or _len({name}) != {len(inner)}"
        )
        if inner:
            self._ask()
            if part.kind is dict:
                self._line(3, f"{targets}= {name}")
                self._questions += [
                    f"{each} is not {self._know(key)}" for each, key in zip(inner, part.thing, strict=True)
                ]
                self._ask()
                name += ".values()"
            self._line(3, f"{targets}= {name}")
            for each, child in zip(inner, part.parts, strict=True):
                self._part(each, child, leaves)

    def _ask(self) -> None:
        if self._questions:
            self._line(3, f"if {' or '.join(self._questions)}:")
            self._line(4, "break")
            self._questions = []

    # The call of the plan

    def runs(self, plan: Plan, references: Sequence[Variable]) -> None:
        """Emit the call of the plan's function with the arrays and the variables."""
        arrays = [self._arrays[number] for number in range(len(self._arrays))]
        given = ", ".join([*arrays, *map(self._know, references)])
        for depth, text in (
            (1, "_before = _begin(_SILENCE)"),
            (1, "try:"),
            (2, "try:"),
            (3, f"_results = {self._know(plan)}._function({given})"),
            (2, "except _Exception as _error:"),
            (3, f"{self._know(plan)}.fail(_error)"),
            (1, "except _BaseException as _error:"),
            (2, "_api.strip_frames(_error)"),
            (2, "_api.leave_no_trace(_error)"),
            (2, "raise"),
            (1, "finally:"),
            (2, "_end(_before)"),
        ):
            self._line(depth, text)

    # The results

    def gives(self, structure: Any, specs: Sequence[AnySpec], finish: Callable[[Sequence[Any]], Any]) -> None:
        """Emit the return of the result; `finish` makes it if it is not simple."""
        tensors: set[int] = set()
        result = self._result(structure, specs, tensors)
        if result is None:
            self._line(1, f"return {self._know(finish)}(_results)")
            return
        if tensors:
            self._line(1, f"{''.join(f'_r{number}, ' for number in range(len(specs)))}= _results")
        for number in sorted(tensors):
            self._tensor(number, specs[number])
        self._line(1, f"return {result}")

    def _result(self, part: Any, specs: Sequence[AnySpec], tensors: set[int]) -> str | None:
        """Return an expression for `part`, and add its tensors to `tensors`; return None if it is not simple."""
        kind = type(part)
        if kind is Output and part.array is None and isinstance(specs[part.number], TensorType):
            tensors.add(part.number)
            return f"_t{part.number}"
        if kind in IMMUTABLE:
            return self._know(part)
        if kind not in _NESTS:
            return None
        found = [self._result(child, specs, tensors) for child in (part.values() if kind is dict else part)]
        texts = [text for text in found if text is not None]
        if len(texts) < len(found):
            return None
        if kind is dict:
            keys = map(self._know, part)
            return f"{{{', '.join(f'{key}: {text}' for key, text in zip(keys, texts, strict=True))}}}"
        inside = "".join(f"{text}, " for text in texts)
        return f"({inside})" if kind is tuple else f"[{inside}]"

    def _tensor(self, number: int, spec: AnySpec) -> None:
        """Emit the code that makes a tensor of a result. It sets the slots directly, without a call of `__init__`."""
        tensor, result = f"_t{number}", f"_r{number}"
        assert isinstance(spec, TensorType)
        scalar = None if spec.dtype.numpy.hasobject or spec.shape else spec.dtype.numpy.type
        self._line(1, f"{tensor} = _new(_EagerTensor)")
        depth = 1
        if scalar is not None:
            self._line(1, f"if _type({result}) is {self._know(scalar)}:")
            self._line(2, f"{tensor}._array = _as_array({result})")
            self._line(2, f"{tensor}._kind = {self._know(kind_for(spec.dtype, ()))}")
            self._line(1, "else:")
            depth = 2
        made = f"_as_array({result}, {self._know(spec.dtype.numpy)})"
        self._line(depth, f"{tensor}._array = {result} if _type({result}) is _ndarray else {made}")
        self._line(depth, f"{tensor}._kind = None")


_USED: dict[str, Any] = {
    "_BaseException": BaseException,
    "_EagerTensor": EagerTensor,
    "_Exception": Exception,
    "_SILENCE": SILENCE,
    "_absent": _ABSENT,
    "_api": api,
    "_as_array": np.asarray,
    "_begin": begin,
    "_busy": busy,
    "_copy": np.array,
    "_end": end,
    "_handed": _handed,
    "_kind_of": abstract_value_of,
    "_len": len,
    "_ndarray": np.ndarray,
    "_new": EagerTensor.__new__,
    "_type": type,
}
"""The globals of the generated functions."""


@functools.lru_cache(maxsize=1024)
def _maker(text: str) -> Callable[..., Made]:
    namespace = dict(_USED)
    exec(compile(text, _FILE, "exec"), namespace)
    return namespace["maker"]  # type: ignore[no-any-return]
