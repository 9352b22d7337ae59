"""`agc convert FOLDER -o OUT`: all modules of a folder, into a folder of the same layout.

    model/__init__.py          out/__init__.py         converted
    model/deep/sums.py   ==>   out/deep/sums.py        converted
    model/words.txt            out/words.txt           copied
    model/__pycache__                                  left out, as are .git, .venv and others

All of it is made in a folder next to OUT, which gets that name when it is complete. When something cannot be
converted, everything that cannot be is listed, and nothing is written; with `--keep-going` it is copied as it is.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from agc import autograph
from agc.autograph.errors import Diagnostic, Where, visible

from . import output, parallel, sources
from .errors import BAD_USAGE, FAILED, FAULT, INTERNAL, OK, CommandError, fault, problem, show
from .sources import Source

Texts = dict[str, tuple[Source, str]]  # path below the folder → the module and what becomes of it


class Way(NamedTuple):
    """The options of the conversion of a folder."""

    after: str | None = None
    annotate: bool = False
    keep_going: bool = False
    jobs: int = 1


def convert(folder: str, out: str, way: Way) -> int:
    """Write the converted folder; return the exit code."""
    check_destination(out)
    paths = list(contents(folder))
    texts, code = converted(folder, way)
    if texts is None:
        return code
    try:
        _write(folder, out, paths, texts)
    except OSError as error:
        raise output.unwritable(out, (error.strerror or str(error)).lower()) from None
    return code


def converted(folder: str, options: Way) -> tuple[Texts | None, int]:
    """Return the text of each converted module, and the exit code; show all errors.

    If there are some, there is no text, unless the way is to keep going."""
    paths = [path for path in contents(folder) if sources.is_module(os.path.join(folder, path))]
    if not paths:
        raise problem(BAD_USAGE, f"there is no Python file in `{folder}`", fix="name a folder with modules")
    results = parallel.results(partial(_converted, folder, options), paths, options.jobs)
    found = dict(zip(paths, results, strict=True))
    problems = {path: result for path, result in found.items() if isinstance(result, Diagnostic)}
    for diagnostic in problems.values():
        show(diagnostic)
    texts = {path: result for path, result in found.items() if not isinstance(result, Diagnostic)}
    if not problems:
        return texts, OK
    if options.keep_going and sys.stderr is not None:
        print(
            f"left as they are, {len(problems)} of {len(paths)} modules:",
            *(visible(path, is_line=True) for path in problems),
            sep="\n  ",
            file=sys.stderr,
        )
    faults = any(diagnostic.code == FAULT for diagnostic in problems.values())
    return texts if options.keep_going else None, INTERNAL if faults else FAILED


def _converted(folder: str, options: Way, path: str) -> tuple[Source, str] | Diagnostic:
    """Return a module with its converted text, or with its error."""
    try:
        source = sources.read(os.path.join(folder, path))
        return source, _converted_text(source, options)
    except (CommandError, autograph.ConversionError) as error:
        return error.diagnostic
    except Exception as error:  # a fault of agc's own must not hide what is wrong with other files
        return fault(error).diagnostic._replace(where=Where(os.path.join(folder, path)))


def _converted_text(source: Source, options: Way) -> str:
    try:
        return autograph.convert_source(
            source.text, source.label, after=options.after, annotate=options.annotate
        )
    except Exception:
        sources.parse(source)  # has the better message for what is not Python
        raise


def contents(folder: str) -> Iterator[str]:
    """Return the files of a folder as relative paths; a link to a folder counts as a file."""
    for folder_, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(folder_, name))]
        folders[:] = sorted(name for name in set(folders) - set(links) if not _is_left_out(folder_, name))
        for name in sorted([*files, *links]):
            if not name.endswith((".pyc", ".pyo")):
                yield os.path.relpath(os.path.join(folder_, name), folder)


def _is_left_out(directory: str, name: str) -> bool:
    is_environment = os.path.exists(os.path.join(directory, name, "pyvenv.cfg"))
    return name == "__pycache__" or name.startswith(".") or is_environment


def check_destination(out: str) -> None:
    """Complain about a folder that cannot be made before any work is done for it."""
    if os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out)):
        what = "it exists and is not empty" if os.path.isdir(out) else "it is not a directory"
        raise output.unwritable(out, what, fix="remove it first, or name another")
    parent = os.path.dirname(os.path.abspath(out))
    if not os.path.isdir(parent):
        shown = os.path.dirname(out.rstrip(os.sep))
        raise output.unwritable(out, f"there is no directory `{shown}`", fix=f"mkdir -p {shown}")
    if not os.access(parent, os.W_OK):
        raise output.unwritable(out, "permission denied")


def _write(folder: str, out: str, paths: list[str], texts: Texts) -> None:
    target = os.path.abspath(out)
    unfinished = tempfile.mkdtemp(prefix=".agc-", suffix=".tmp", dir=os.path.dirname(target))
    try:
        shutil.copymode(folder, unfinished)
        for path in paths:
            old, new = os.path.join(folder, path), os.path.join(unfinished, path)
            os.makedirs(os.path.dirname(new), exist_ok=True)
            if path not in texts:
                shutil.copy2(old, new, follow_symlinks=False)
                continue
            with open(new, "xb") as file:
                file.write(output.in_utf8(texts[path][1]).encode())
            shutil.copymode(old, new)
        if os.path.isdir(target):
            os.rmdir(target)
        os.rename(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # it is not there any more when all went well
