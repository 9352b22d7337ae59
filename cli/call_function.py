"""Call one function of a file or module with tensors, and print what comes back.

    agc run collatz.py::collatz --arg n=27 --graph

    arguments are read  →  the module is imported  →  the function is found  →  the arguments are fitted
    →  tf.function traces and runs it

Up to the last step, what is wrong is the command line (exit code 2); from there on it is the program (1).
"""

from __future__ import annotations

import importlib
import inspect
import linecache
import os
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.errors import Where

from . import run_program, sources, user_code
from .arguments import Argument, parse, value_of
from .errors import BAD_CALL, BAD_VALUE, NO_FUNCTION, CommandError, problem, suggestion
from .output import emit


def run(
    path: str,
    function: str,
    texts: Sequence[str],
    *,
    by_name: bool,
    graph: bool,
    eager: bool,
    after: str | None = None,
    native: bool = False,
) -> int:
    """Run `agc run FILE::FUNCTION ARGS...`; FILE may be the name of a module.

    The graph is printed as traced, or after a pass of the optimizer. Native code is printed as LLVM IR.
    """
    import agc.runtime as tf  # before the program's folder is where modules are looked for

    arguments = [parse(text, number) for number, text in enumerate(texts, start=1)]
    load = loader(path, by_name)

    def action() -> None:
        module = load()
        f = find(module, function, path)
        positional, named = split(arguments, tf)
        check_fit(f, function, positional, named)
        if eager:
            run_program.run_eagerly()
        traced: Any = f if hasattr(f, "get_concrete_function") else tf.function(f)
        if not eager and getattr(f, "input_signature", None) is not None:
            check_signature(traced, function, positional, named)
        if graph:
            emit(_shown(traced.get_concrete_function(*positional, **named).graph, after) + "\n\n")
        if native:
            from agc.runtime.executors.llvm import text

            emit(text(traced.get_concrete_function(*positional, **named).graph).rstrip() + "\n\n")
        emit(str(traced(*positional, **named)) + "\n")

    return user_code.run(action)


def _shown(graph: Any, after: str | None) -> str:
    if after is not None:
        from agc.runtime.optimize import optimize

        graph = optimize(graph, after=after)
    return str(graph).rstrip()


def loader(path: str, by_name: bool) -> Callable[[], types.ModuleType]:
    """Return a function that imports the module; a file is read and parsed at once."""
    if by_name:
        run_program.enter("-m", (), os.getcwd())
        return lambda: _import(path)
    source = sources.read(path)
    sources.parse(source)
    return lambda: _load(source, path)


def _import(name: str) -> types.ModuleType:
    run_program.find(name)  # says what is missing, if it is `name` itself
    return importlib.import_module(name)


def _load(source: sources.Source, path: str) -> types.ModuleType:
    """Load the file as a module, not as `__main__`: the program in it does not start."""
    stem = os.path.splitext(os.path.basename(path))[0]
    name = stem if stem not in sys.modules and path != sources.STDIN else f"agc_run_{stem}"
    module: Any = types.ModuleType(name)
    module.__file__ = source.filename
    sys.modules[name] = module
    if path == sources.STDIN:
        run_program.remember_text(source)
        run_program.enter(path, (), "")
    else:
        run_program.enter(path, (), os.path.dirname(os.path.realpath(path)))
    exec(compile(source.text, source.filename, "exec", dont_inherit=True), module.__dict__)
    return module  # type: ignore[no-any-return]


def find(module: types.ModuleType, name: str, path: str) -> Callable[..., Any]:
    """Return the function with the dotted `name`."""
    holder: Any = module
    *outer, _ = parts = name.split(".")
    for depth, part in enumerate(parts):
        if not hasattr(holder, part):
            prefix = "".join(f"{part}." for part in outer[:depth])
            known = [f"{prefix}{key}" for key in vars(holder) if _is_function(getattr(holder, key, None))]
            raise sources.no_function(name, path, known)
        holder = getattr(holder, part)
    if not callable(holder):
        raise problem(
            NO_FUNCTION,
            f"`{name}` is not a function but a value of type `{type(holder).__name__}`",
            Where(path),
        )
    return holder  # type: ignore[no-any-return]


def _is_function(value: object) -> bool:
    return inspect.isfunction(value) or hasattr(value, "get_concrete_function")


def split(arguments: Sequence[Argument], tf: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the values of the positional and of the named arguments."""
    positional, named = [], {}
    for argument in arguments:
        value = value_of(argument, tf)
        if argument.name is None:
            positional.append(value)
        elif argument.name in named:
            raise problem(BAD_VALUE, f"`{argument.name}` is given twice", argument.where)
        else:
            named[argument.name] = value
    return positional, named


def check_fit(f: Callable[..., Any], name: str, positional: Sequence[Any], named: dict[str, Any]) -> None:
    """Complain, before anything runs, about arguments that the function does not take."""
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):  # a C function may not say what it takes; then the call will
        return
    try:
        signature.bind(*positional, **named)
    except TypeError as error:
        raise _misfit(f, name, signature, named, str(error)) from None


def check_signature(f: Any, name: str, positional: Sequence[Any], named: dict[str, Any]) -> None:
    """Complain about arguments that the function's `input_signature` does not allow."""
    try:
        f.get_concrete_function(*positional, **named)
    except (TypeError, ValueError) as error:
        if user_code.has_users_lines(error):
            raise
        raise problem(BAD_CALL, f"the arguments do not fit `{name}`", why=str(error)) from None


def _line_of_def(code: types.CodeType) -> int:
    """Return the line of a function's name, which its decorators precede."""
    lines, first = linecache.getlines(code.co_filename), code.co_firstlineno
    if not "".join(lines[first - 1 : first]).lstrip().startswith("@"):
        return first
    numbers = range(first + 1, len(lines) + 1)
    return next((number for number in numbers if re.match(r"\s*(async\s+)?def\s", lines[number - 1])), first)


def _misfit(
    f: Callable[..., Any], name: str, signature: inspect.Signature, named: dict[str, Any], reason: str
) -> CommandError:
    code = getattr(inspect.unwrap(getattr(f, "python_function", f)), "__code__", None)
    where = Where(code.co_filename, _line_of_def(code)) if code is not None else None
    parameters = signature.parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    strange = [] if takes_any else [key for key in named if key not in parameters]
    if strange:  # Python names a missing argument instead, even if this is its misspelled name
        reason = f"got an unexpected keyword argument '{strange[0]}'"
    fix = suggestion(strange[0], parameters) if strange else ""
    if not fix and "." in name and next(iter(parameters), None) == "self":
        fix = f"name a function that makes a {name.rpartition('.')[0]} and calls the method: `self` is an argument here"
    takes = signature.replace(return_annotation=inspect.Signature.empty)
    return problem(
        BAD_CALL,
        f"the arguments do not fit `{name}`: {reason}",
        where,
        why=f"the signature is {name}{takes}",
        fix=fix,
    )
