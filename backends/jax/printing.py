"""`print` of traced arrays, when the program runs; they may be formatted in strings.

    print(f"loss {loss:.3f}")     f"…" is "loss <float32[] #1>"  ⇒  jax.debug.print("loss {:.3f}", loss)

JAX's tracers have no format. While a converted function is traced, formatting one gives a placeholder, which `print`
replaces.
"""

from __future__ import annotations

import re
from typing import Any

from agc.arrays import current, is_running

import jax

_PLACEHOLDER = re.compile(r"<[^<>]* #(\d+)>")


def _formatted(tracer: Any, spec: str) -> str:
    if not is_running():
        return object.__format__(tracer, spec)
    known = current().formatted
    known.append((tracer, spec))
    return f"<{jax.typeof(tracer).str_short()} #{len(known)}>"


jax.core.Tracer.__format__ = _formatted  # type: ignore[method-assign]


def mentions(text: str) -> bool:
    """Return whether arrays were formatted in a text, while a function is traced."""
    return is_running() and any(map(_known, _PLACEHOLDER.finditer(text)))


def _known(placeholder: re.Match[str]) -> tuple[Any, str] | None:
    known, number = current().formatted, int(placeholder[1])
    return known[number - 1] if 0 < number <= len(known) else None


def printed(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Print values when the program runs."""
    if file is not None:
        raise TypeError("print(file=...) of a traced array: JAX prints to the standard output")
    arrays: list[Any] = []
    texts = [_template(value, arrays) for value in values]
    ending = _literal("" if end is None else end.removesuffix("\n"))  # JAX ends the line
    jax.debug.print(_literal(" " if sep is None else sep).join(texts) + ending, *arrays)


def _template(value: Any, arrays: list[Any]) -> str:
    """Return the format of a value; append the arrays that it is filled with."""
    if not isinstance(value, str):
        arrays.append(value)
        return "{}"
    text, end = "", 0
    for placeholder in _PLACEHOLDER.finditer(value):
        known = _known(placeholder)
        if known is not None:
            arrays.append(known[0])
            text += _literal(value[end : placeholder.start()]) + "{:" + known[1] + "}"
            end = placeholder.end()
    return text + _literal(value[end:])


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
