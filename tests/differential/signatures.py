"""TensorFlow's names and the parameters of its functions, and what agc makes of them.

`fixtures/tensorflow/signatures.txt` has a line for each name, `missing.txt` what agc has not, with the reason:

    tf.math.add(x, y, name=None)
    tf.math.special(...)

`...` stands for parameters or a default that cannot be written down, and for what is neither function nor class. Names
of operations, such as `name="concat"`, are left out of the comparison.
"""

from __future__ import annotations

import ast
import enum
import fnmatch
import inspect
import types
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import meant
from .judging import Comparison
from .places import found

FOLDER = Path(__file__).parent.parent.parent / "fixtures" / "tensorflow"
SIGNATURES, MISSING = FOLDER / "signatures.txt", FOLDER / "missing.txt"
NAMES_V1 = FOLDER / "names_v1.txt"

Parameters = list[tuple[str, str, str]] | None
"""Kind, name and default of each parameter; None where they are not known."""


def described(tf: Any) -> dict[str, str]:
    """What TensorFlow offers: by its public path, the parameters as text."""
    texts: dict[str, str] = {}
    seen = {id(tf)}

    def walk(path: str, module: Any) -> None:
        for name in sorted(dir(module)):
            place = f"{path}.{name}"
            if name.startswith("_") or not hasattr(module, name):
                continue
            value = getattr(module, name)
            if not inspect.ismodule(value):
                texts[place] = parameters_of(value)
                if id(value) not in seen and has_methods(value) and not left_out(place):
                    seen.add(id(value))
                    texts.update((f"{place}.{member}", text) for member, text in methods(value))
            elif is_public(value.__name__):
                texts[place] = "(...)"
                has_records_here = name != "raw_ops" and not left_out(place)
                if id(value) not in seen and has_records_here:
                    seen.add(id(value))
                    walk(place, value)

    walk("tf", tf)
    return texts


def is_public(module: str) -> bool:
    """Whether a module is part of the interface; `tf.experimental` is the one that goes by its public name."""
    inside = module.startswith("tensorflow._api.") or module == "tensorflow.experimental"
    return "keras" in module or (inside and ".compat" not in module)


def has_methods(value: Any) -> bool:
    """Whether it is a class whose methods are compared: those of Keras inherit hundreds, errors have none."""
    return (
        isinstance(value, type)
        and value.__module__.startswith("tensorflow")
        and not issubclass(value, BaseException)
    )


def methods(kind: type) -> Iterator[tuple[str, str]]:
    """The public methods of a class; not those of Python's `unittest`, which differ from version to version."""
    inherited = dir(unittest.TestCase) if issubclass(kind, unittest.TestCase) else ()
    for name in sorted({*dir(kind)} - {*inherited}):
        value = inspect.getattr_static(kind, name)
        bound = getattr(kind, name) if isinstance(value, (classmethod, staticmethod)) else value
        if not name.startswith("_") and callable(bound) and not isinstance(bound, type):
            yield name, parameters_of(bound)


def parameters_of(value: Any) -> str:
    """The parameters of a function or class: `(x, y, name=None)`."""
    if isinstance(value, enum.EnumMeta):
        return "(...)"  # Python's, and another with each version
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    plain = [
        p.replace(annotation=p.empty, default=_writable(p.default)) for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


class _Text(str):
    def __repr__(self) -> str:
        return str(self)


def _writable(default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return default
    try:
        ast.parse(repr(default), mode="eval")
    except SyntaxError:
        return _Text("...")
    return default


def parameters(text: str) -> Parameters:
    """The parts of a text as `parameters_of` writes it; the first one of a method, `self`, is left out."""
    if text == "(...)":
        return None
    arguments = ast.parse(f"def f{text}: pass").body[0].args  # type: ignore[attr-defined]
    named = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(named) - len(arguments.defaults)) + arguments.defaults
    parts = [("", a.arg, _default(a.arg, d)) for a, d in zip(named, defaults, strict=True)]
    parts += [("*", arguments.vararg.arg, "")] if arguments.vararg else []
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    parts += [("only by name", a.arg, _default(a.arg, d)) for a, d in pairs]
    parts += [("**", arguments.kwarg.arg, "")] if arguments.kwarg else []
    return [part for part in parts if part[1] not in ("self", "cls")]


def _default(name: str, value: ast.expr | None) -> str:
    """The default as text: `(1, 1)` for `[1, 1]`, `1` for `1.0`, `float32` for `tf.float32`; no names of operations."""
    if value is None:
        return "needed"
    if name == "name":
        return ""
    text = ast.unparse(ast.Tuple(value.elts, ast.Load()) if isinstance(value, ast.List) else value)
    text = text.removeprefix("tf.").strip("'")
    return text.removesuffix(".0") if text.removesuffix(".0").isdigit() else text


def same(mine: Parameters, theirs: Parameters) -> bool:
    """Whether a call that TensorFlow takes means the same here; more parameters and more defaults do no harm.

    >>> same(parameters("(x, axis=None, name=None)"), parameters("(x, axis=None, name='sum')"))
    True
    >>> same(parameters("(x, y)"), parameters("(y, x)"))
    False
    """
    if mine is None or theirs is None:
        return True
    own = {part[1] for part in mine}
    theirs = [part for part in theirs if part[1] in own or part[1] not in meant.PARAMETERS_LEFT_OUT]
    takes_all = bool(mine) and mine[-1][0] == "**"
    if theirs and theirs[-1][0] == "**":
        theirs = theirs[:-1]  # TensorFlow does not tell the names of these
    if [part[0] for part in theirs] == ["*"] and all(part[2] != "needed" for part in mine[1:]):
        return True
    if not takes_all and len(mine) < len(theirs):
        return False
    fit = all(
        one[:2] == other[:2] and other[2] in (one[2], "needed")
        for one, other in zip(mine, theirs, strict=False)
        if one[0] != "**"
    )
    return fit and all(part[2] != "needed" for part in mine[len(theirs) :])


def compare(theirs: dict[str, str], ours: Any) -> Iterator[Comparison]:
    """Each of TensorFlow's names: whether it is there, with the same parameters."""
    for path, text in theirs.items():
        try:
            mine = found(ours, path)
        except AttributeError:
            if has(ours, path.rpartition(".")[0]):
                yield Comparison(path, "lacking, as said" if left_out(path) else "differ", "nothing", text)
            continue
        except ImportError:  # a process has one Keras, and in this one it runs on TensorFlow
            yield Comparison(path, "of Keras", text, text)
            continue
        own = parameters_of(mine)
        yield Comparison(
            f"{path}()", "agree" if same(parameters(own), parameters(text)) else "differ", own, text
        )


def there_by_now(compared: list[Comparison]) -> Iterator[Comparison]:
    """What is said to be lacking, and is not."""
    lacking = [found.what for found in compared if found.mine == "nothing"]
    for pattern, why in missing():
        if not fnmatch.filter(lacking, pattern):
            yield Comparison(pattern, "differ", "has it", f"is said to have it alone: {why}")


def has(tf: Any, path: str) -> bool:
    try:
        found(tf, path)
    except (AttributeError, ImportError):
        return False
    return True


def left_out(path: str) -> str | None:
    """Why agc has not got a name."""
    return next((why for pattern, why in missing() if fnmatch.fnmatchcase(path, pattern)), None)


def missing() -> list[tuple[str, str]]:
    """The lines of the table of what is missing: patterns of names, and reasons."""
    return [(pattern, why) for why, _, patterns in missing_blocks() for pattern in patterns]


def missing_blocks() -> list[tuple[str, str, list[str]]]:
    """The blocks of that table: the reason, what to use instead (or nothing), and patterns."""
    blocks = []
    for block in MISSING.read_text(encoding="utf-8").split("\n\n")[1:]:
        why, *lines = block.strip().splitlines()
        instead = lines.pop(0).removeprefix("> ") if lines[0].startswith("> ") else ""
        blocks.append((why.removeprefix("# "), instead, " ".join(lines).split()))
    return blocks


def read() -> dict[str, str]:
    """The recorded names."""
    lines = SIGNATURES.read_text(encoding="utf-8").splitlines()[2:]
    return {path: f"({rest}" for path, _, rest in (line.partition("(") for line in lines)}


def write(tf: Any) -> None:
    """Record TensorFlow's names."""
    head = f"The names of TensorFlow {tf.__version__}; written by `make differential WITH=--record`.\n\n"
    lines = (f"{path}{text}\n" for path, text in described(tf).items())
    SIGNATURES.write_text(head + "".join(lines), encoding="utf-8")
    head = f"What TensorFlow {tf.__version__} has in tf.compat.v1 alone; by `make differential WITH=--record`.\n\n"
    lines = (f"{path} {text}".rstrip() + "\n" for path, text in described_v1(tf).items())
    NAMES_V1.write_text(head + "".join(lines), encoding="utf-8")


def described_v1(tf: Any) -> dict[str, str]:
    """TensorFlow 1's names that mean something else than TensorFlow 2's, or are its own.

    By path, the parameters as text if TensorFlow 2 has the path, too; else where TensorFlow 2 has the same object.
    """
    places = [path for path in described(tf) if has(tf, path) and callable(found(tf, path))]
    homes = {id(found(tf, path)): path for path in sorted(places, key=len, reverse=True)}
    texts: dict[str, str] = {}

    def walk(path: str, module: Any) -> None:
        for name in sorted(vars(module)):
            value, place = vars(module)[name], f"{path}{name}"
            if name.startswith("_") or name in ("app", "compat", "keras", "raw_ops", "v1", "v2"):
                continue
            if isinstance(value, types.ModuleType):
                if not has(tf, f"tf.{place}"):
                    texts[place] = ""
                elif ".compat.v1" in str(vars(value).get("__name__")):
                    walk(f"{place}.", value)
            elif not has(tf, f"tf.{place}"):
                texts[place] = homes.get(id(value), "tf.").removeprefix("tf.")
            elif found(tf, f"tf.{place}") is not value and not isinstance(value, type):
                own, other = parameters_of(value), parameters_of(found(tf, f"tf.{place}"))
                if names_of(own) != names_of(other):
                    texts[place] = f"({', '.join(names_of(own))})"

    walk("", tf.compat.v1)
    return texts


def names_of(text: str) -> list[str]:
    """The names of the parameters that `parameters_of` wrote down."""
    return [name for _, name, _ in parameters(text) or []]


def read_v1() -> dict[str, str]:
    """The recorded names of TensorFlow 1."""
    lines = NAMES_V1.read_text(encoding="utf-8").splitlines()[2:]
    return {path: text for path, _, text in (line.partition(" ") for line in lines)}
