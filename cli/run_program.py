"""Run a converted program in the way Python runs one.

    python prog.py a b          agc run prog.py a b
    ------------------          -------------------
    compile(text)               autograph.compile_source(text), kept on disk
    import model                autograph.install_import_hook()
    __main__, sys.argv, sys.path[0], __file__, __spec__, exit code: the same

The compiler is loaded before sys.path becomes the program's: a file `ast.py` next to the program is for the
program's imports only.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from agc import autograph

from . import sources, user_code
from .errors import FAILED, NO_MODULE, CommandError, problem
from .sources import Source

FRAMES_FOR_ONE = 5  # frames of converted code for one of the program's

_STARTUP = {"agc", "encodings", "__main__"}  # never the program's, like what is built in or frozen


def run_file(path: str, args: Sequence[str], *, eager: bool = False) -> int:
    """Run `agc run FILE ARGS...`; FILE may also be a folder or an archive with a `__main__` module."""
    if path != sources.STDIN and is_archive_or_folder(path):
        return _run_inside(path, args, eager)
    source = sources.read(path)
    code = compiled(source)
    main = main_module(source.filename)
    if path == sources.STDIN:
        remember_text(source)
        main.__loader__ = importlib.machinery.BuiltinImporter
        enter(path, args, "")
    else:
        main.__loader__ = importlib.machinery.SourceFileLoader("__main__", source.filename)
        enter(path, args, os.path.dirname(os.path.realpath(path)))
    return user_code.run(lambda: _execute(code, main, eager))


def is_archive_or_folder(path: str) -> bool:
    """Return whether Python would run the `__main__` module inside `path`."""
    if os.path.isdir(path):
        return os.path.exists(os.path.join(path, "__main__.py"))
    if path.endswith(".py") or not os.path.isfile(path):
        return False
    import zipfile  # with its codecs, which a file of Python does not need

    return zipfile.is_zipfile(path)


def _run_inside(path: str, args: Sequence[str], eager: bool) -> int:
    source_path = os.path.join(os.getcwd(), path)
    enter(path, args, source_path)
    spec = importlib.machinery.PathFinder.find_spec("__main__", [source_path])
    if spec is None:
        raise problem(NO_MODULE, f"there is no `__main__` module in `{path}`", fix="add __main__.py")
    return _run_spec(spec, eager)


def run_module(name: str, args: Sequence[str], *, eager: bool = False) -> int:
    """Run `agc run -m MODULE ARGS...`."""
    enter("-m", args, os.getcwd())
    found: list[ModuleSpec] = []
    failure = user_code.run(lambda: found.append(find_main(name)))  # imports the packages that it is in
    if not found:
        return failure
    (spec,) = found
    sys.argv[0] = spec.origin or name
    return _run_spec(spec, eager)


def _run_spec(spec: ModuleSpec, eager: bool) -> int:
    """Run a module that was found, as `__main__`."""
    source = source_of(spec)
    code = compiled(source)
    main = main_module(source.filename)
    main.__spec__, main.__package__, main.__loader__ = spec, spec.parent, spec.loader
    main.__cached__ = spec.cached
    return user_code.run(lambda: _execute(code, main, eager))


def compiled(source: Source) -> types.CodeType:
    """Return the converted module's code."""
    sources.parse(source)
    try:
        return autograph.compile_source(source.text, source.filename, cached=True)
    except autograph.ConversionError as error:
        raise CommandError(error.diagnostic, FAILED) from None


def main_module(filename: str) -> Any:
    """Return a new `__main__` with the names that Python defines there, in its order."""
    main: Any = types.ModuleType("__main__")
    main.__loader__ = None
    main.__spec__ = None
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    main.__builtins__ = builtins
    main.__file__ = filename
    main.__cached__ = None
    return main


def enter(argv0: str, args: Sequence[str], folder: str) -> None:
    """Make the process the program's: its arguments, and its folder first where modules are looked for.

    What it imports of the user's from now on is converted.
    """
    autograph.compile_source("", "")  # loads the compiler, with what it imports
    autograph.install_import_hook()
    sys.argv = [argv0, *args]
    if not sys.flags.safe_path:  # else sys.path does not begin with the folder of agc, either
        sys.path[0] = folder
        _make_way(folder or os.curdir)


def _make_way(folder: str) -> None:
    """Forget loaded modules that the program replaces by files next to it, such as `textwrap.py`."""
    if not os.path.isdir(folder):
        return
    siblings = {name.removesuffix(".py") for name in os.listdir(folder)}
    for name in siblings & (sys.modules.keys() - set(sys.builtin_module_names) - _STARTUP):
        spec = getattr(sys.modules[name], "__spec__", None)
        if spec is None or spec.origin == "frozen":  # Python itself has it loaded when a program starts
            continue
        own = importlib.machinery.PathFinder.find_spec(name, [folder])
        if own is not None and own.loader is not None and own.origin != spec.origin:
            for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
                del sys.modules[loaded]


def remember_text(source: Source) -> None:
    """Let tracebacks and the compiler find the lines of a program that is in no file."""
    import linecache

    lines = [f"{line}\n" for line in source.text.split("\n")]
    linecache.cache[source.filename] = (len(source.text), None, lines, source.filename)


def run_eagerly() -> None:
    import agc.runtime as tf

    tf.config.run_functions_eagerly(True)


def _execute(code: types.CodeType, main: types.ModuleType, eager: bool) -> None:
    if eager:
        run_eagerly()
    # A staged block is a function or two more on the stack; the program's recursion must go as deep as before.
    sys.setrecursionlimit(FRAMES_FOR_ONE * sys.getrecursionlimit())
    sys.modules["__main__"] = main
    if not os.environ.get("PYTHONBREAKPOINT"):
        sys.breakpointhook = breakpointhook
    exec(code, main.__dict__)


def breakpointhook(*, header: str | None = None) -> None:
    """Start the debugger for `breakpoint()`, unless PYTHONBREAKPOINT is set."""
    from agc.autograph.debugger import stop_in

    stop_in(sys._getframe(1), header)


def find_main(name: str) -> ModuleSpec:
    """Return the module that `python -m name` would run; its parent packages are imported."""
    spec = find(name)
    if spec.submodule_search_locations is None:
        return spec
    inner = f"{name}.__main__"
    if _lookup(inner) is None:
        raise problem(NO_MODULE, f"`{name}` is a package without a `__main__` module", fix=f"add {inner}")
    return find(inner)


def find(name: str) -> ModuleSpec:
    spec = _lookup(name)
    if spec is None:
        fix = f"agc run {name}" if os.path.exists(name) else "is it in this folder, or installed?"
        raise problem(NO_MODULE, f"there is no module `{name}`", fix=fix)
    return spec


def _lookup(name: str) -> ModuleSpec | None:
    if name.startswith(".") or not name:
        raise problem(NO_MODULE, f"`{name}` is not a module's full name")
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        # Only a package of the path to `name` may be missing; other failed imports are the program's own.
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            return None
        raise
    except ValueError:  # a module that was made by hand, without a spec
        return None


def source_of(spec: ModuleSpec) -> Source:
    """Return the source text of a module from its loader."""
    assert spec.loader is not None
    name, origin = spec.name, spec.origin or f"<{spec.name}>"
    if spec.has_location and os.path.isfile(origin) and origin.endswith(".py"):
        return Source(origin, origin, sources.read(origin).text)
    get_source = getattr(spec.loader, "get_source", None)
    text = get_source(name) if get_source is not None else None
    if text is None:
        raise problem(NO_MODULE, f"the module `{name}` has no Python source", exit_code=FAILED)
    return Source(origin, origin, text)
