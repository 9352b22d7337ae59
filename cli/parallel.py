"""Work on many files: in processes, with the progress on a terminal.

--jobs 4     files → four processes → results, in the order of the files
             [12/200] model/deep/sums.py       on stderr, if that is a terminal; wiped at the end
"""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import click

Result = TypeVar("Result")


def jobs_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--jobs N` to a command."""
    return click.option(
        "-j", "--jobs", metavar="N", type=click.IntRange(min=1), default=1, show_default=True,
        help="Use N processes for the files of folders.",
    )(command)  # fmt: skip


def results(work: Callable[[str], Result], files: Sequence[str], jobs: int = 1) -> Iterator[Result]:
    """Yield what `work`, a function that can be pickled, gives for each file, in their order."""
    try:
        for number, (file, result) in enumerate(zip(files, _done(work, files, jobs), strict=True), 1):
            _show(f"[{number}/{len(files)}] {file}")
            yield result
    finally:
        _show("")


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off for one file: its trees live until the end, so it would find nothing."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _uncollected(work: Callable[[str], Result], file: str) -> Result:
    with uncollected():
        return work(file)


def _done(work: Callable[[str], Result], files: Sequence[str], jobs: int) -> Iterator[Result]:
    jobs = min(jobs, len(files))
    work = partial(_uncollected, work)
    if jobs < 2:
        yield from map(work, files)
        return
    import multiprocessing  # not needed by a single file
    from concurrent.futures import ProcessPoolExecutor

    # New interpreters: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context)
    try:
        yield from pool.map(work, files, chunksize=max(1, min(16, len(files) // (4 * jobs))))
    finally:
        pool.shutdown(cancel_futures=True)  # waits: its thread must not outlive the interpreter


def _show(text: str) -> None:
    """Replace the line of progress; nothing if stderr is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    width = shutil.get_terminal_size().columns - 1
    shown = text if len(text) <= width else text[: width - 1] + "…"
    sys.stderr.write(f"\r\x1b[K{shown}")
    sys.stderr.flush()
