"""`agc run --profile`: what the graphs of a program or function did, when it has ended.

agc run --profile train.py                                two tables on stderr
agc run --profile-trace out.json --profile-page out.html train.py    the same, and files for Perfetto and a browser
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from . import output
from .errors import BAD_USAGE, problem


class Wanted(NamedTuple):
    """Write what the options name: the tables, and files."""

    tables: bool
    trace: str | None
    page: str | None

    def __bool__(self) -> bool:
        return self.tables or self.trace is not None or self.page is not None

    def check(self, target: str, eager: bool) -> None:
        """Complain, before anything runs, about what cannot be profiled or written."""
        if eager:
            title = "--eager builds no graph that could be profiled"
            raise problem(BAD_USAGE, title, fix="leave one out")
        for path in filter(None, (self.trace, self.page)):
            output.check_destination(path, target)


def profiled(start: Callable[[], int], wanted: Wanted) -> int:
    """Run, then say what was noted, where the program's own output does not get mixed with it."""
    import agc.runtime as tf  # before the program's folder is where modules are looked for

    profiling = tf.profiler.Profiling()
    try:
        with profiling:
            return start()
    finally:
        _tell(profiling.report, wanted)


def _tell(report: Any, wanted: Wanted) -> None:
    import agc.runtime as tf

    click.echo(report.text().rstrip("\n"), err=True)
    if wanted.trace is not None:
        try:
            report.write_trace(wanted.trace)
        except tf.errors.OpError as error:
            raise output.unwritable(wanted.trace, error.message.rpartition("; ")[2].lower()) from None
    if wanted.page is not None:
        output.write(wanted.page, report.page())
