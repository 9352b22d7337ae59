"""Errors for names that a public module does not have: the reason and a replacement, or the nearest name.

    tf.lookup       AttributeError: tf.lookup is not in agc (tables that are resources of a session). Use a dict …
    tf.log          AttributeError: tf.log is not in agc (TensorFlow 1's, …). Use tf.math.log.
    tf.reduce_sun   AttributeError: module 'agc.runtime' has no attribute 'reduce_sun'. Did you mean 'reduce_sum'?

The names and reasons are in missing_names.txt, which is read at the first missing name.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterable, Mapping
from types import CodeType, FrameType, ModuleType
from typing import Any

from agc.autograph import api

from .gc_pause import Pause

_ROOT = "agc.runtime"
_FILE = __file__.removesuffix(".py") + ".txt"


def explain(module: str, public: str | None = None, late: Mapping[str, str] | None = None) -> None:
    """Make missing names of `module` raise the error of `missing_name`; `public` is its path below `tf`.

    The names in `late` are imported at their first use, from the places that `places` returns.
    """
    space, late = vars(sys.modules[module]), late or {}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in late:
            raise missing_name(module, name, public)
        value = space[name] = imported(late[name], name, space["__package__"])
        api.filter_tracebacks(_ROOT)
        return value

    space["__getattr__"] = __getattr__
    if late:
        space["__dir__"] = lambda: sorted({*space, *late})
    api.filter_tracebacks(_ROOT, module)


def places(table: Mapping[str, str]) -> dict[str, str]:
    """Return the place of each name, from a table of names by module.

    `new=old` is a name that the module defines as `old`, and `name=` is the module itself.

    >>> places({".ops.nn.activations": "relu swish=silu", ".ops.raw": "raw_ops="})
    {'raw_ops': '.ops.raw:', 'relu': '.ops.nn.activations', 'swish': '.ops.nn.activations:silu'}
    """
    found = {}
    for module, names in table.items():
        for name in names.split():
            public, is_other, own = name.partition("=")
            found[public] = f"{module}:{own}" if is_other else module
    return dict(sorted(found.items()))


def imported(place: str, name: str, package: str) -> Any:
    """Return the value at a place."""
    path, is_other, own = place.partition(":")
    with Pause():
        module = importlib.import_module(path, package)
    return module if is_other and not own else getattr(module, own or name)


def missing_name(
    module: str, name: str, public: str | None = None, among: Iterable[str] | None = None
) -> AttributeError | ImportError:
    """Return the error for a name that `module` lacks: ImportError in a statement `from module import name`.

    The module's `__getattr__` calls this function. `among` are the known names, by default those of the module.
    """
    plain = f"module {module!r} has no attribute {name!r}"
    frame = sys._getframe(2)
    if name.startswith("_") or frame.f_code.co_name == "_handle_fromlist":  # importlib tries submodules next
        return AttributeError(plain)
    path = module.removeprefix(_ROOT).lstrip(".") if public is None else public
    known = names().get(f"{path}.{name}" if path else name)
    if known is None:
        text: str = _WithNearest(plain, name, _names_of(sys.modules[module]) if among is None else among)
    else:
        why, instead = known
        advice = f" Use {instead}." if instead else ""
        text = f"tf.{path}.{name} is not in agc ({why}).{advice}".replace("tf..", "tf.")
    is_import = _is_importing(frame)
    return ImportError(text, name=module) if is_import else AttributeError(text, name=name)


def _names_of(module: ModuleType) -> Iterable[str]:
    return getattr(module, "__all__", None) or dir(module)


class _WithNearest(str):
    """The text of an error, to which `str` adds the nearest known name: `hasattr` does not search for it."""

    def __new__(cls, text: str, *_: Any) -> _WithNearest:
        return super().__new__(cls, text)

    def __init__(self, _: str, name: str, among: Iterable[str]) -> None:
        self._name, self._among = name, among

    def __str__(self) -> str:
        import difflib  # imported at first use: most programs misspell nothing

        near = difflib.get_close_matches(self._name, self._among, 1)
        return super().__str__() + (f". Did you mean {near[0]!r}?" if near else "")

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


@functools.cache
def names() -> dict[str, tuple[str, str]]:
    """Return all missing names of TensorFlow, without `tf.`: the reason, and a replacement."""
    found = {}
    with open(_FILE, encoding="utf-8") as file:
        text = file.read()
    for block in text.split("\n\n")[1:]:
        why, instead, *lines = block.strip().splitlines()
        for line in lines:
            name, _, new = line.partition("=")
            found[name] = why[2:], f"tf.{new}" if new else instead[2:]
    return found


def _is_importing(frame: FrameType) -> bool:
    """Return whether `frame` runs `from module import name`, which hides an AttributeError's text."""
    import opcode

    code: CodeType = frame.f_code
    return frame.f_lasti >= 0 and code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_FROM"]
