"""`agc export`: write a function, a saved model or a graph in the format of another system.

agc export FILE::f ARGS... -o f.onnx              arguments as for `agc run`
agc export FILE::f --input x=float32[batch,28]    a type; unknown dimensions are names or `?`
agc export FOLDER[::SIGNATURE] -o model.onnx      a saved model
agc export graph.json -o graph.onnx               the graph in a file
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from . import call_function, sources, user_code
from .arguments import parse
from .errors import BAD_CALL, BAD_USAGE, BAD_VALUE, FAILED, UNREADABLE, UNWRITABLE, problem, suggestion
from .output import emit

HELP = """Write a function in the format of another system.

TARGET is FILE::FUNCTION, with arguments as for `agc run`; the folder of a saved
model, FOLDER or FOLDER::SIGNATURE; or the file of a graph, as text or JSON.

\b
Examples:
  agc export model.py::predict --input x=float32[batch,28,28] -o model.onnx
  agc export model.py::step '[1.0, 2.0]' 3 -o step.onnx --verify
  agc export exported/ -o model.onnx      the signature serving_default
  agc export model.py::f 27 --to json -o graph.json

\b
--input NAME=DTYPE[SIZES] gives a type where ARGS give values:
  x=float32[2,3]        sizes
  x=float32[batch,?]    a named size, and an unnamed one
  x=int32[]             a number
"""

_SPEC = re.compile(r"(?P<name>[^\W\d]\w*)=(?P<dtype>[a-z]+\d*)\[(?P<sizes>[^\[\]]*)\]")


def complete_format(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the completions that the shell offers for `--to`."""
    import agc.runtime as tf

    return [name for name in tf.export.FORMATS if name.startswith(incomplete)]


@click.command(help=HELP, short_help="Write a function in the format of another system.")
@click.argument("target", metavar="TARGET", type=click.Path(allow_dash=True))
@click.argument("args", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("-m", "by_name", is_flag=True, help="FILE is the name of a module or package.")
@click.option("-o", "--output", "path", metavar="PATH", required=True, help="The file or folder to write.")
@click.option(
    "--to",
    metavar="FORMAT",
    shell_complete=complete_format,
    help="text, json, dot, mermaid, onnx, stablehlo, saved_model or graphdef; by default, the suffix selects it.",
)
@click.option("-i", "--input", "specs", metavar="SPEC", multiple=True, help="The type of an input.")
@click.option("-a", "--arg", "named", metavar="ARG", multiple=True, help="An argument; may be repeated.")
@click.option(
    "--option", "options", metavar="KEY=VALUE", multiple=True, help="An option of the format: opset=21."
)
@click.option(
    "--verify", is_flag=True, help="Run the written file in its own runtime, and compare the results."
)
@click.option(
    "--verify-with",
    "python",
    metavar="PYTHON",
    help="Verify in the environment of this Python: TensorFlow's formats.",
)
def command(
    target: str,
    args: tuple[str, ...],
    by_name: bool,
    path: str,
    to: str | None,
    specs: tuple[str, ...],
    named: tuple[str, ...],
    options: tuple[str, ...],
    verify: bool,
    python: str | None,
) -> Callable[[], int]:
    return partial(run, target, (*named, *args), by_name, path, to, specs, options, verify, python)


def run(
    target: str,
    texts: Sequence[str],
    by_name: bool,
    path: str,
    to: str | None,
    specs: Sequence[str],
    options: Sequence[str],
    verify: bool,
    python: str | None = None,
) -> int:
    """Resolve the target, write it, and verify it if wanted."""
    import agc.runtime as tf  # before the program's folder is where modules are looked for

    _check_format(to, path, tf)
    arguments = [parse(text, number) for number, text in enumerate(texts, start=1)]
    typed, axes = _typed(specs, tf)
    chosen = dict(map(_option, options))
    source = _source(target, by_name)

    def action() -> int:
        function, signature = source()
        positional, named = call_function.split(arguments, tf)
        given = {**named, **typed}
        if signature is None and function is not None and not isinstance(function, str):
            call_function.check_fit(function, target.partition("::")[2], positional, given)
        try:
            bound = _bound(function, positional, given)
            program = _resolved(function, bound, signature, axes, tf)
            _write(program, path, to, chosen, tf)
        except tf.export.CannotExportError as error:
            raise problem(BAD_CALL, str(error), exit_code=FAILED) from None
        except OSError as error:
            raise problem(UNWRITABLE, f"cannot write `{path}`: {error.strerror or error}") from None
        emit(f"{path}: {program}\n")
        return _verified(program, path, to, python, tf) if verify or python else 0

    codes: list[int] = []
    return user_code.run(lambda: codes.append(action())) or codes[0]


def _resolved(function: Any, bound: Any, signature: str | None, axes: Any, tf: Any) -> Any:
    try:
        return tf.export.resolve(function, bound, signature=signature, dynamic_axes=axes)
    except (tf.errors.DataLossError, OSError) as error:
        if not isinstance(function, str):
            raise
        if isinstance(error, OSError):
            raise problem(UNREADABLE, f"cannot read `{function}`: {error.strerror or error}") from None
        raise problem(BAD_VALUE, error.message) from None


def _bound(function: Any, positional: Sequence[Any], named: dict[str, Any]) -> Any:
    """Return the arguments in a list, or by name if any is given so."""
    if not named:
        return positional
    if not positional:
        return named
    import inspect

    return dict(inspect.signature(function).bind(*positional, **named).arguments)


def _source(target: str, by_name: bool) -> Callable[[], tuple[Any, str | None]]:
    """Return a function that loads the target: a function of a file, or a path and a signature's name."""
    file, function = sources.split_target(target)
    if not by_name and os.path.isdir(file):
        return lambda: (file, function)
    if function is None:
        if by_name or file.endswith(".py"):
            raise sources.without_function("export", target, by_name)
        return lambda: (file, None)
    load = call_function.loader(file, by_name)
    return lambda: (call_function.find(load(), function, file), None)


def _check_format(to: str | None, path: str, tf: Any) -> None:
    try:
        _ = tf.export.format_of(to, path).encode
    except ValueError as error:
        raise problem(
            BAD_USAGE, str(error), fix=suggestion(to, tf.export.FORMATS) if to else "--to FORMAT"
        ) from None
    except ImportError as error:  # a library that the format needs is missing
        raise problem(BAD_USAGE, str(error)) from None


def _typed(specs: Sequence[str], tf: Any) -> tuple[dict[str, Any], dict[str, dict[int, str]]]:
    """Return the TensorSpecs that `--input` gives, and the names of their dimensions."""
    found, axes = {}, {}
    for text in specs:
        parts = _SPEC.fullmatch(text.strip())
        if parts is None:
            raise problem(BAD_VALUE, f"`{text}` is not a type", fix="write --input x=float32[batch,3]")
        sizes = [size.strip() for size in parts["sizes"].split(",") if size.strip()]
        wrong = [size for size in sizes if not (size == "?" or size.isdecimal() or size.isidentifier())]
        if wrong:
            raise problem(BAD_VALUE, f"`{wrong[0]}` is not a size", fix="write a number, a name or `?`")
        try:
            spec = tf.TensorSpec([int(size) if size.isdecimal() else None for size in sizes], parts["dtype"])
        except TypeError:
            raise problem(BAD_VALUE, f"there is no dtype `{parts['dtype']}`") from None
        found[parts["name"]] = spec
        axes[parts["name"]] = {i: size for i, size in enumerate(sizes) if size.isidentifier()}
    return found, axes


def _option(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise problem(BAD_VALUE, f"`{text}` is not an option", fix="write --option opset=21")
    return key, parse(f"py:{value}").value


def _write(program: Any, path: str, to: str | None, options: dict[str, Any], tf: Any) -> None:
    """Write the file, and print the format's warnings without lines of agc."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        tf.export.write(program, path, to=to, **options)
    for each in found:
        click.echo(f"warning: {each.message}", err=True)


def _verified(program: Any, path: str, to: str | None, python: str | None, tf: Any) -> int:
    """Run the written file and print the differences."""
    try:
        differences = tf.export.verify(program, path, to=to, python=python)
    except (ImportError, RuntimeError, ValueError) as error:
        raise problem(BAD_CALL, str(error), exit_code=FAILED) from None
    runtime = tf.export.format_of(to, path).runtime(python)
    emit("".join(f"{each}\n" for each in differences) + (f"verified by {runtime}\n" if runtime else ""))
    return 0 if all(each.agrees for each in differences) else FAILED
