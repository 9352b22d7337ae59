"""The public functions of agc.autograph. Neither the compiler nor what converted code calls is imported before
something is converted.

convert(f)            the function that f becomes                    to_code(f)              its text
convert_source(text)  the text that a whole module becomes           compile_source(text)    its code
check_source(text)    what is wrong with it
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar

from . import policy
from .conversion.conversion_log import Conversion, conversions
from .errors import (
    ConversionError,
    Diagnostic,
    Note,
    SideEffectWarning,
    StagingError,
    Where,
    cell_name,
    is_own_file,
    keeps_frames,
    leave_no_trace,
    shown_path,
    strip_frames,
)
from .introspection.calls import StackCall, calls_of
from .introspection.recursion_limit import raised_recursion_limit
from .introspection.source_sites import assigned_before, assigned_in, at_instruction, codes_of, running
from .options.features import USUAL, Feature, Features, options_of
from .options.loop_options import set_loop_options
from .options.verbosity import set_verbosity, trace
from .policy import do_not_convert, is_library_file, is_user_class, is_user_code, with_own_code
from .traceback_filter import filter_function, filter_tracebacks, leaves_no_trace

if TYPE_CHECKING:
    from .conversion.converter import Converter
    from .import_hook.hook import ImportHook
    from .to_source import CodeListing

__all__ = [
    "convert", "to_graph", "to_code", "converted_call", "do_not_convert", "convert_source", "compile_source",
    "check_source", "code_listing", "source_listing",
    "install_import_hook",
    "Feature", "options_of", "set_loop_options", "set_verbosity", "trace",
    "ConversionError", "StagingError", "SideEffectWarning", "Diagnostic", "Note", "Where",
    "strip_frames", "filter_function", "filter_tracebacks", "leave_no_trace", "keeps_frames", "is_own_file",
    "converted", "unconverted",
    "converting_reachable", "checking_may_alias", "is_user_class", "is_user_code", "is_library_file",
    "with_own_code", "convert_packages", "leave_packages", "conversions", "Conversion",
    "cell_name", "shown_path", "for_loop",
    "running", "at_instruction", "assigned_before", "assigned_in", "altered_in", "raised_recursion_limit",
    "StackCall", "calls_of",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


def convert(f: F, *, recursive: bool = True, optional_features: Features = None) -> F:
    """Return the converted form of a function, method, lambda, partial or callable object.

    With plain values the result does what `f` does. With values of a backend, such as traced tensors, the backend
    stages its control flow. User functions that it calls are converted, too, at their first call. Built-in functions,
    functions that are converted already, and functions that `do_not_convert` marks are returned unchanged.

    Args:
        recursive: False converts only `f`, and not the functions that it calls.
        optional_features: a member of `autograph.experimental.Feature`, or several in a tuple.

    Raises:
        ConversionError: `f` is no function, its source is missing, or it has a construct that cannot be converted.

    >>> def absolute(x):
    ...     if x < 0:
    ...         x = -x
    ...     return x
    >>> convert(absolute)(-3)
    3
    """
    return _converter(recursive, optional_features).convert(f)  # type: ignore[return-value]


def converted(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that converted code calls for `f`: the converted form of user code, else `f` itself."""
    return _converter().converted(f)


def for_loop(
    items: Iterable[Any],
    body: Callable[..., tuple[Any, ...]],
    state: tuple[Any, ...],
    until: str | None = None,
) -> tuple[Any, ...]:
    """Run a `for` loop as converted code does, with what its functions change as state.

    `body(item, *state)` returns the next state; its parameters are the names. The state `until`, once true, ends the
    loop.
    """
    from .operators.loops import for_loop

    return for_loop(items, body, state, until)


def _converter(recursive: bool = True, features: Features = None) -> Converter:
    from .operators import converter

    options = options_of(recursive, features)
    if options == USUAL:
        return converter
    from .operators.converter_variants import converter_for

    return converter_for(options)


@contextmanager
def converting_reachable(*roots: Any) -> Iterator[None]:
    """Convert also the user's functions that Python calls during a trace; runtimes trace a function inside of this.

    `roots` are the function and its arguments. Python itself calls operator methods, properties and the functions
    that are passed to libraries, so that they are converted in place: they get a new `__code__`.
    """
    with _converter().in_sight(*roots):
        yield


def checking_may_alias() -> AbstractContextManager[object]:
    """Refuse, at the end of this block, mutations of objects that the graph may have merged with others.

    Where a graph decides whether two variables hold one object or two, neither may be mutated after that. Runtimes
    enter this block inside of `converting_reachable`.
    """
    from .side_effects.aliasing.may_alias import AliasScope

    return AliasScope()


def unconverted(label: str, calls: Sequence[StackCall] | None = None) -> Diagnostic | None:
    """Return the diagnostic of a runtime for a value that it cannot provide: why the running code was not staged.

    Return None if there is no special reason. `label` names the value. `calls`, the innermost first, replace the
    running calls: those that an exception has ended, for instance.
    """
    return _converter().unconverted(label, calls)


def altered_in(function: Any, name: str) -> Where | None:
    """Return the place at which a function mutates the object in its variable `name`, as `name[0] = 1` does.

    >>> altered_in(lambda log: log.append(1), "log").line > 0
    True
    """
    from .analysis import bytecode_effects

    found = (mention for code in codes_of(function) for mention in bytecode_effects.mentions(code, name))
    at = next((mention for mention in found if mention.alters), None)
    return None if at is None else Where(at.code.co_filename, at.line, function=at.code.co_name)


def convert_packages(*names: str) -> None:
    """Convert these installed packages or modules, too. The environment variable `AGC_CONVERT` does the same.

    Functions that are converted or traced after this call are affected; existing graphs are not. ValueError for a
    value that is not the name of a package or module.

    >>> convert_packages("my_layers")
    """
    _switch(names, True)


def leave_packages(*names: str) -> None:
    """Leave these packages or modules unconverted. The environment variable `AGC_DO_NOT_CONVERT` does the same.

    >>> leave_packages("my_tools")
    """
    _switch(names, False)


def _switch(names: tuple[str, ...], converted: bool | None) -> None:
    policy.switch(names, converted)
    _converter().forget()


def to_graph(entity: F, recursive: bool = True, experimental_optional_features: Features = None) -> F:
    """Convert a function as `convert` does; this is TensorFlow's name of it. A class raises ConversionError.

    >>> def sign(x):
    ...     return 1 if x > 0 else -1
    >>> to_graph(sign)(5)
    1
    """
    return convert(entity, recursive=recursive, optional_features=experimental_optional_features)


@leaves_no_trace
def converted_call(
    f: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """Call `f` as converted code does: user functions are converted first, others are called unchanged.

    >>> converted_call(max, (1, 2))
    2
    """
    return converted(f)(*args, **(kwargs or {}))


def to_code(
    entity: Callable[..., Any] | type, recursive: bool = True, experimental_optional_features: Features = None
) -> str:
    """Return the generated code of a function or class as text.

    The text runs in a module that defines the names which `entity` uses. Raises ConversionError as `convert` does.

    >>> def absolute(x):
    ...     if x < 0:
    ...         x = -x
    ...     return x
    >>> print(to_code(absolute))
    from agc.autograph import operators as ag__
    <BLANKLINE>
    <BLANKLINE>
    def absolute(x):
        def if_true(x):
            x = -x
            return (x,)
        (x,) = ag__.cond(x < 0, if_true, ag__.keep, (x,))
        return x
    <BLANKLINE>
    """
    from . import to_source

    options = options_of(recursive, experimental_optional_features)
    return to_source.function_text(entity, options.features)


def convert_source(
    text: str,
    filename: str = "<unknown>",
    after: str | None = None,
    function: str | None = None,
    annotate: bool = False,
) -> str:
    r"""Return the generated code of a module as text: a module that runs by itself.

    Args:
        text: the source of the module.
        filename: its name in errors.
        after: the last pass to run, one of `autograph.PASSES`; all run by default.
        function: converts only this function, such as "fit" or "Model.fit".
        annotate: adds the original line to each block, as a comment.

    Raises:
        ConversionError: `text` is not Python, has no such function, or cannot be converted.

    >>> print(convert_source("def absolute(x):\n    return x if x > 0 else -x\n"))
    from agc.autograph import operators as ag__
    <BLANKLINE>
    <BLANKLINE>
    def absolute(x):
        return ag__.if_exp(x > 0, lambda: x, lambda: -x)
    <BLANKLINE>
    """
    from . import to_source as printing

    return printing.module_text(text, filename, after, function, annotate)


def compile_source(text: str, filename: str, *, cached: bool = False) -> CodeType:
    r"""Return the code object of a converted module, for `exec`. Its lines and columns are those of `text`.

    `cached=True` keeps the code in the cache on disk, as `install_import_hook` does. A text that is not Python, or
    cannot be converted, raises ConversionError.

    >>> names = {}
    >>> exec(compile_source("def double(x):\n    return 2 * x\n", "double.py"), names)
    >>> names["double"](3)
    6
    """
    from .import_hook import hook

    return hook.module_code(text, filename, is_cached=cached)


def install_import_hook(*packages: str) -> ImportHook:
    """Convert modules when they are imported: those of these packages, by default all modules of user code.

    Modules that are imported already stay unchanged. The result is a context manager that removes the hook at its
    end; without `with`, the hook lasts. Converted modules are cached on disk: see AGC_CACHE_DIR and AGC_CACHE.

    >>> with install_import_hook("my_model") as hook:
    ...     hook.packages
    ('my_model',)
    """
    from .import_hook import hook

    return hook.installed(*packages)


def check_source(
    text: str, filename: str = "<unknown>", *, tracers: Collection[str] = (), everywhere: bool = False
) -> list[Diagnostic]:
    """Return all diagnostics of a module, in the order of its lines, without running it; `agc check` prints them.

    A diagnostic of level "error" reports code that cannot be converted or traced. One of level "warning" reports code
    that can be converted, but probably not staged.

    Args:
        text: the source of the module.
        filename: its name in the diagnostics.
        tracers: decorators and functions that trace, such as "agc.runtime.function". Warnings are limited to functions
            that the module passes to them, and to functions that those call.
        everywhere: warns about all functions.

    >>> check_source("def f(x:\\n    return x")[0].title
    "not Python: '(' was never closed"
    """
    from .lint import linter

    return linter.problems(text, filename, tracers, everywhere)


def code_listing(f: Callable[..., Any]) -> CodeListing:
    """Return `to_code(f)` as `text`, and in `lines` the source line of each of its lines, or None.

    >>> def absolute(x):
    ...     return -x if x < 0 else x
    >>> code_listing(absolute).text == to_code(absolute)
    True
    """
    from . import to_source as printing

    return printing.function_listing(f)


def source_listing(text: str, filename: str, function: str) -> CodeListing:
    """Return the `code_listing` of a function in the source `text` of a module, without running the module.

    >>> source_listing("\\n\\ndef f(x):\\n    while x > 0:\\n        x -= 1\\n    return x", "f.py", "f").lines[-1]
    6
    """
    from . import to_source as printing

    return printing.source_listing(text, filename, function)


def __getattr__(name: str) -> Any:
    if name == "PASSES":  # their names, in the order in which they run; known once the compiler is loaded
        from .passes.pipeline import PIPELINE

        return tuple(step.name for step in PIPELINE)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
