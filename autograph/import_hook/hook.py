"""The import hook, which converts modules as a whole when they are imported.

    with install_import_hook("model"):          finders in sys.meta_path find model.layers as usual;
        import model.layers             ==>     then the loader's `get_code` returns converted code

Finder, loader, `__file__`, `__spec__` and all other attributes are unchanged: only the code differs. So submodules,
relative imports, namespace packages and archives need no special handling.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from .. import policy
from ..conversion.conversion_log import LISTING
from ..conversion.operator_constants import with_operators
from ..errors import ConversionError, is_block, is_own_file
from ..introspection.code_objects import code_at_place, nested_code_objects

_converting = threading.RLock()


class ImportHook:
    """A finder, first in `sys.meta_path`, that converts modules. `uninstall` removes it."""

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = tuple(packages)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the other finders find, with a loader that converts."""
        if self.packages and not any(
            name == package or name.startswith(f"{package}.") for package in self.packages
        ):
            return None
        spec = _found(name, path, target)
        if spec is not None and self._is_wanted(spec):
            spec.loader = converting(spec.loader)
        return spec

    def _is_wanted(self, spec: ModuleSpec) -> bool:
        if spec.origin is None or not spec.has_location or not _runs_its_code(spec.loader):
            return False
        # A package that the caller names is converted, wherever it is installed.
        if self.packages:
            return not is_own_file(spec.origin)
        # The compiler itself may import a user module that shadows one of the standard library, such as
        # `tokenize.py`.
        if spec.name.partition(".")[0] in sys.stdlib_module_names:
            return False
        return not policy.is_installed_file(spec.origin, spec.name)

    def invalidate_caches(self) -> None:
        """Do nothing: the hook has no cache, but importlib calls this method of every finder."""

    def uninstall(self) -> None:
        """Remove the hook; modules that are imported already stay as they are."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def __enter__(self) -> ImportHook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall()


def installed(*packages: str) -> ImportHook:
    """Return a hook for these packages, which is installed now; see `api.install_import_hook`."""
    for name in packages:
        if not isinstance(name, str):
            raise TypeError(f"packages are named by str, not {type(name).__name__}")
    hook = ImportHook(packages)
    sys.meta_path.insert(0, hook)
    return hook


def _found(name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    for finder in list(sys.meta_path):
        find_spec = getattr(finder, "find_spec", None)
        if find_spec is None or isinstance(finder, ImportHook):
            continue
        spec: ModuleSpec | None = find_spec(name, path, target)
        if spec is not None:
            return spec
    return None


def _runs_its_code(loader: Any) -> bool:
    """Return whether importing with this loader is to execute what its `get_code` gives, made of its `get_source`."""
    execute = getattr(type(loader), "exec_module", None)
    return execute is SourceFileLoader.exec_module and hasattr(loader, "get_source")


def converting(loader: Any) -> Any:
    """Return a copy of a loader, which may be shared, that gives converted code."""
    plain: Callable[[str], CodeType | None] = loader.get_code

    def get_code(name: str) -> CodeType | None:
        try:
            text = loader.get_source(name)
        except ImportError:  # the text is in no known encoding: Python has an error of its own for that
            text = None
        if text is None:
            return plain(name)
        return imported_code(text, loader.get_filename(name), lambda: plain(name))

    import copy  # when a module is converted

    new = copy.copy(loader)
    new.get_code = get_code
    return new


def imported_code(text: str, filename: str, plain: Callable[[], CodeType | None]) -> CodeType | None:
    """Return the code of a module that is being imported; `plain` compiles as Python does, with its own warnings.

    A module that cannot be converted as a whole is left as it is. Then its functions are converted when
    converted code calls them, and the one that cannot be is refused there.
    """
    known = _on_disk(text, filename)
    if known is not None:
        return _finished(known, text, filename)
    otherwise = plain()
    try:
        return module_code(text, filename, is_cached=True)
    except ConversionError:
        return otherwise


def module_code(text: str, filename: str, is_cached: bool) -> CodeType:
    """Return the converted code of a module."""
    from . import compile_module

    code = _on_disk(text, filename) if is_cached else None
    if code is None:
        with _converting:
            code, imports = compile_module.convert(text, filename)
        if is_cached:
            _keep(code, text, filename, imports)
    return _finished(code, text, filename)


def _finished(code: CodeType, text: str, filename: str) -> CodeType:
    """Return the code with its operators. `do_not_convert` can still give a function its own code back."""
    from .. import operators  # which are needed by code that is there, and not before

    finished = operators.converter.adopt(with_operators(code, operators))

    def original(converted: CodeType) -> CodeType | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = compile(text, filename, "exec", dont_inherit=True)
        return code_at_place(module, converted)

    own = [inner for inner in nested_code_objects(finished) if not is_block(inner)]
    for inner in own:
        policy.remember_original(inner, original)
    LISTING.note_module(own)
    return finished


def _on_disk(text: str, filename: str) -> CodeType | None:
    from .. import code_cache

    return code_cache.Entry(text, filename).read(_is_library(filename))


def _keep(code: CodeType, text: str, filename: str, imports: frozenset[str]) -> None:
    from .. import code_cache as cache

    is_library = _is_library(filename)
    cache.Entry(text, filename).write(code, {name: is_library(name) for name in sorted(imports)})


def _is_library(filename: str) -> Callable[[str], bool]:
    folder = os.path.dirname(os.path.abspath(filename))
    return lambda name: policy.is_library_name(name, folder)
