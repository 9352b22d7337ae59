"""The policy of conversion: user code is converted, and so is the library code that a traced function calls.

    a script, a package, a notebook cell, `exec`, a zip, an editable install     converted
    site-packages                                        converted while a trace calls it, not when imported
    the standard library, agc, C functions, the packages in `LEFT_ALONE`         left alone
    what `do_not_convert` marks, what has been converted already                 left alone
    a package that `AGC_CONVERT` or `AGC_DO_NOT_CONVERT` names                   as that says

The question is asked in two forms: live, about a function or module that is there, and from the outside,
about a name in a file that is converted without being run.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar, overload

from .errors import is_own_file
from .introspection.code_objects import CodeMap, nested_code_objects

F = TypeVar("F", bound=Callable[..., Any])

_excluded: CodeMap[bool] = CodeMap()
_originals: CodeMap[Callable[[CodeType], CodeType | None]] = CodeMap()

_OWN_PACKAGES = (
    "agc.autograph", "agc.runtime", "agc.cli", "agc.explorer", "agc.arrays", "agc.jax", "agc.torch"
)  # fmt: skip

LEFT_ALONE = frozenset({
    "absl", "chex", "equinox", "execnet", "flax", "haiku", "hypothesis", "ipdb", "IPython", "ipykernel", "jax",
    "jaxlib", "jaxtyping", "keras", "matplotlib", "mock", "numpy", "optax", "orbax", "pandas", "PIL", "pkg_resources",
    "pluggy", "pytest", "_pytest", "scipy", "setuptools", "sklearn", "sympy", "tensorflow", "tensorflow_datasets",
    "tensorflow_probability", "tf_keras", "torch", "tqdm", "xdist",
})  # fmt: skip
"""Installed packages that a trace does not convert: TensorFlow's list, large ones that compute with NumPy, and
libraries of JAX."""

# package → whether it is converted, in spite of where its files are
_switched: dict[str, bool] = {}


def switch(packages: Iterable[str], converted: bool | None) -> None:
    """Convert packages, or leave them alone, wherever their files are; None: go by their files again."""
    for package in packages:
        if not isinstance(package, str) or not all(map(str.isidentifier, package.split("."))):
            raise ValueError(f"{package!r} is not the name of a package or module")
        _switched.pop(package, None)
        if converted is not None:
            _switched[package] = converted


def _switched_to(name: Any) -> bool | None:
    """Return the setting of a module, or else of the package around it."""
    while _switched and isinstance(name, str) and name:
        if name in _switched:
            return _switched[name]
        name = name.rpartition(".")[0]
    return None


for _variable, _answer in (("AGC_CONVERT", True), ("AGC_DO_NOT_CONVERT", False)):
    switch(os.environ.get(_variable, "").replace(",", " ").split(), _answer)


def is_user_code(f: FunctionType) -> bool:
    """Return whether a function is user code, judged by the file that its code came from."""
    return not is_library_file(f.__code__.co_filename, f.__globals__.get("__name__"))


def is_user_class(cls: type) -> bool:
    """Return whether a class is user code, judged by its `__module__`."""
    module = sys.modules.get(cls.__module__) if isinstance(cls.__module__, str) else None
    return not (_is_library_module_name(cls.__module__) if module is None else is_library_module(module))


def is_own_class(cls: type) -> bool:
    """Return whether a class is agc's own."""
    return is_own_file(getattr(sys.modules.get(str(cls.__module__)), "__file__", None) or "")


def bases_of(cls: type) -> tuple[type, ...]:
    """Return the class and its bases, read past a metaclass that overrides `mro` or attribute access."""
    bases: tuple[type, ...] | None = type.__dict__["__mro__"].__get__(cls)
    return bases or (cls,)  # a few types of Python's own have none


def is_library_file(filename: str, module: Any = None) -> bool:
    """Return whether a file is left alone, also when a traced function calls its code.

    >>> is_library_file(os.__file__), is_library_file("/home/me/train.py"), is_library_file("<stdin>")
    (True, False, False)
    """
    return is_installed_file(filename, module) and not is_convertible(filename, module)


def is_convertible(filename: str, module: Any) -> bool:
    """Return whether a file is one of an installed package that is converted while a traced function calls it."""
    if _switched_to(module) is not None or is_own_file(filename) or not _is_in_site_packages(filename):
        return False
    top = _top(module)
    return bool(top) and top not in LEFT_ALONE and top != "__main__"


def is_installed_file(filename: str, module: Any = None) -> bool:
    """Return whether a file belongs to Python, to an installed package or to agc."""
    switched = _switched_to(module)
    if switched is not None and not is_own_file(filename):
        return not switched
    if filename.startswith("<frozen"):
        return _top(module) in sys.stdlib_module_names
    if filename.startswith("<") and filename.endswith(">"):
        # Typed at a prompt, or made by `exec`; the latter is a library's when its module is.
        return _is_library_module_name(module)
    return is_own_file(filename) or _is_installed(filename)


@functools.lru_cache(maxsize=4096)
def _is_installed(filename: str) -> bool:
    return _is_in_site_packages(filename) or os.path.abspath(filename).startswith(_standard_library())


@functools.lru_cache(maxsize=4096)
def _is_in_site_packages(filename: str) -> bool:
    parts = os.path.abspath(filename).split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts


@functools.cache
def _standard_library() -> tuple[str, ...]:
    # Nothing is imported here, not even sysconfig: the import hook calls this code.
    home = os.path.dirname(os.__file__)
    folders = {home}
    if home.startswith(sys.base_prefix + os.sep):  # a virtual environment has such a folder of its own
        inside = os.path.relpath(home, sys.base_prefix)
        folders |= {os.path.join(p, inside) for p in (sys.base_exec_prefix, sys.prefix, sys.exec_prefix)}
    folders |= {os.path.realpath(folder) for folder in folders}
    zipped = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    folders |= {os.path.join(os.path.dirname(folder), zipped) for folder in folders}
    return tuple(folder + os.sep for folder in folders)


def _is_library_module_name(name: Any) -> bool:
    """Return whether an imported module is a library's; for code that has no file of its own."""
    module = sys.modules.get(name) if isinstance(name, str) else None
    file = getattr(module, "__file__", None)
    if file is not None:
        return is_own_file(file) or (_is_installed(file) and not is_convertible(file, name))
    # Libraries run generated code in modules that they make up: collections calls one `namedtuple_Point`.
    return isinstance(name, str) and name.startswith("namedtuple_")


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of a module or object without triggering a lazy module to load itself."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots only
        return {}
    return found if isinstance(found, dict) else {}


def is_library_module(module: ModuleType) -> bool:
    """Return whether a module's functions are left unconverted, for a name that refers to a module."""
    names = attributes_of(module)
    file, name = names.get("__file__"), names.get("__name__")
    switched = _switched_to(name)
    if switched is not None:
        return not switched or (file is not None and is_own_file(file))
    if file is not None:
        return is_own_file(file) or (_is_installed(file) and not is_convertible(file, name))
    if name == "__main__":
        return False
    # Without a file: built in, frozen, or a namespace package.
    return _top(name) in sys.stdlib_module_names


def is_library_name(name: str, folder: str = "") -> bool:
    """Return whether the module `name` would be a library's, found out without importing it.

    `folder` is where the importing file is: a module next to it is the user's, whatever it is called.

    >>> is_library_name("os.path"), is_library_name("numpy.linalg"), is_library_name("my_own_model")
    (True, True, False)
    """
    if any(name == own or name.startswith(own + ".") for own in _OWN_PACKAGES):
        return True
    switched = _switched_to(name)
    if switched is not None:
        return not switched
    if name == "__main__":
        return False
    top = _top(name)
    next_to_it = os.path.join(folder, top)
    if folder and (os.path.exists(next_to_it + ".py") or os.path.isdir(next_to_it)):
        return False
    return _is_installed_top(top)


@functools.lru_cache(maxsize=4096)
def _is_installed_top(top: str) -> bool:
    if top in sys.stdlib_module_names:
        return True
    from importlib import util

    try:
        spec = util.find_spec(top)
    except (ImportError, ValueError):  # ValueError: a module without a spec, such as __main__
        return False
    if spec is None or spec.origin is None:
        return False
    return _is_installed(spec.origin) and not is_convertible(spec.origin, top)


def _top(name: Any) -> str:
    return name.partition(".")[0] if isinstance(name, str) else ""


def is_own(f: FunctionType) -> bool:
    """Return whether a function is agc's own."""
    return is_own_file(f.__code__.co_filename)


def is_printed(f: FunctionType, operators: ModuleType) -> bool:
    """Return whether a function comes from a printed conversion: it calls the operators by their global name."""
    names = {
        name for code in nested_code_objects(f.__code__) for name in code.co_names if name.startswith("ag__")
    }
    return any(f.__globals__.get(name) is operators for name in names)


def is_excluded(code: CodeType) -> bool:
    """Return whether `do_not_convert` has marked this code."""
    return code in _excluded


@overload
def do_not_convert(func: F) -> F: ...


@overload
def do_not_convert(func: None = None) -> Callable[[F], F]: ...


def do_not_convert(func: F | None = None) -> F | Callable[[F], F]:
    """Mark a function, so that converted code calls it unconverted; return the function itself.

    The decorator works with and without parentheses, on functions and methods, and on a class for all of its methods.

    >>> @do_not_convert
    ... def plain(x):
    ...     return x if x > 0 else -x
    >>> plain(-3)
    3
    """
    if func is None:
        return do_not_convert
    if not callable(func) and not isinstance(func, (classmethod, property)):
        raise TypeError(f"do_not_convert takes a function, a method or a class, not {func!r}")
    for function in _functions_of(func):
        _restore(function)
        for code in nested_code_objects(
            function.__code__
        ):  # what a function defines inside itself is part of it
            _excluded[code] = True
    return func


def remember_original(code: CodeType, original: Callable[[CodeType], CodeType | None]) -> None:
    """Register the function that returns the original of `code`, which is converted code."""
    _originals[code] = original


def _restore(f: FunctionType) -> None:
    """Give back its own code to a function of a module that was converted as a whole."""
    f.__code__ = _own_code(f)


def with_own_code(f: FunctionType) -> FunctionType:
    """Return a function that behaves as `f` without the conversion: `f` itself unless it has converted code."""
    code = _own_code(f)
    if code is f.__code__:
        return f
    return FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)


def _own_code(f: FunctionType) -> CodeType:
    original = _originals.get(f.__code__)
    code = original(f.__code__) if original is not None else None
    return code if code is not None and code.co_freevars == f.__code__.co_freevars else f.__code__


def _functions_of(f: Any) -> list[FunctionType]:
    """Return the functions that run when `f` is called; for a class, all its methods."""
    if isinstance(f, type):
        return [
            function
            for member in vars(f).values()
            if not isinstance(member, type)
            for function in _functions_of(member)
        ]
    if isinstance(f, (staticmethod, classmethod, MethodType)):
        return _functions_of(f.__func__)
    if isinstance(f, property):
        return [function for part in (f.fget, f.fset, f.fdel) for function in _functions_of(part)]
    if isinstance(f, functools.partial):
        return _functions_of(f.func)
    return [f] if isinstance(f, FunctionType) else []
