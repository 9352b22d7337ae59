"""Find the files that `agc check PATH...` checks.

a file            itself, whatever it is called; `-` is stdin
a folder          every .py file in it, in the order of their names, but no pipes, no devices, and nothing in
                  hidden folders, __pycache__, virtual environments, installed packages, build output
--exclude GLOB    matches a name (`test_*.py`, `vendor`) or a path below the folder (`a/b/*.py`)
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence

from . import sources

SKIPPED = frozenset({"__pycache__", "site-packages", "dist-packages", "node_modules", "build", "dist"})


def files(paths: Sequence[str], exclude: Sequence[str] = ()) -> Iterator[str]:
    """Return the files to check, each once."""
    seen = set()
    for path in paths:
        for file in _below(path, exclude) if path != sources.STDIN and os.path.isdir(path) else (path,):
            key = file if file == sources.STDIN else os.path.realpath(file)
            if key not in seen:
                seen.add(key)
                yield file


def _below(folder: str, exclude: Sequence[str]) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        inner = [name for name in folders if not _is_skipped(os.path.join(here, name))]
        folders[:] = sorted(
            name for name in inner if not _is_excluded(os.path.join(here, name), folder, exclude)
        )
        for name in sorted(names):
            path = os.path.join(here, name)
            if sources.is_module(path) and not _is_excluded(path, folder, exclude):
                yield os.path.normpath(path)


def _is_skipped(folder: str) -> bool:
    name = os.path.basename(folder)
    return (
        name.startswith(".")
        or name in SKIPPED
        or name.endswith(".egg-info")
        or os.path.exists(os.path.join(folder, "pyvenv.cfg"))
    )


def _is_excluded(path: str, folder: str, exclude: Sequence[str]) -> bool:
    below = os.path.relpath(path, folder).replace(os.sep, "/")
    names = below, os.path.basename(path), os.path.normpath(path).replace(os.sep, "/")
    return any(fnmatch.fnmatchcase(name, pattern.rstrip("/")) for pattern in exclude for name in names)
