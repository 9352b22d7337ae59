"""Find and load the modules of agc in two thirds of the time that Python's own finder and loader take.

    import agc.runtime.nest     by default    list the folder, look for five suffixes, and look at the file three times
                                ==>           look at the file once, and read its byte code

A cold first call imports 400 modules. Whatever is not found here is left to the finders that follow: extension modules,
archives, and other systems' paths. Byte code that is old, checked by a hash, or compiled elsewhere is left to
Python's loader.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType, ModuleType

_HEADER = MAGIC_NUMBER + bytes(4)
"""The first bytes of byte code that is valid for one time and size of its source; these numbers are the next bytes."""


class ModuleFinder:
    """A finder in `sys.meta_path` for modules of agc that are source files."""

    def __init__(self) -> None:
        self._caches: dict[str, tuple[str, str]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of agc; None if there is neither a file nor a package with this name."""
        if not name.startswith("agc.") or path is None or len(path) != 1:
            return None
        folder, last = path[0], name.rpartition(".")[2]
        return self._spec(name, folder, last) or self._spec(name, f"{folder}/{last}", "__init__")

    def _spec(self, name: str, folder: str, last: str) -> ModuleSpec | None:
        source = f"{folder}/{last}.py"
        try:
            status = os.stat(source)
        except OSError:
            return None
        if folder not in self._caches:
            start, _, end = cache_from_source(f"{folder}/module.py").rpartition("module")
            self._caches[folder] = start, end
        cached = last.join(self._caches[folder])
        spec = ModuleSpec(name, ModuleLoader(name, source, cached, status), origin=source)
        spec.has_location, spec.cached = True, cached
        spec.submodule_search_locations = [folder] if last == "__init__" else None
        return spec


class ModuleLoader(SourceFileLoader):
    """A loader for a source file with this status."""

    def __init__(self, name: str, path: str, cached: str, status: os.stat_result) -> None:
        super().__init__(name, path)
        numbers = [int(number) & 0xFFFFFFFF for number in (status.st_mtime, status.st_size)]
        self._cached = cached
        self._header = _HEADER + b"".join(number.to_bytes(4, "little") for number in numbers)

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the byte code next to the source if it is valid, else what Python's loader returns."""
        try:
            with io.open_code(self._cached) as file:
                content = file.read()
        except OSError:
            return super().get_code(fullname)
        if content.startswith(self._header):
            code: CodeType = marshal.loads(memoryview(content)[len(self._header) :])
            if code.co_filename == self.path:
                return code
        return super().get_code(fullname)


def install() -> None:
    """Let this finder come before the one that searches folders, where paths are like POSIX's."""
    if PathFinder in sys.meta_path and os.sep == "/":
        sys.meta_path.insert(sys.meta_path.index(PathFinder), ModuleFinder())
