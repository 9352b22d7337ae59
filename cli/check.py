"""`agc check`: all that is wrong in a project, before anything runs.

agc check src                       files → findings of each → the selected ones → one of five formats

What is found goes to stdout, the summary to stderr.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import click
from agc.autograph.errors import Diagnostic

from . import color, error_manual, file_discovery, lint_filter, output, parallel, report_formats
from .errors import BAD_USAGE, OK, problem, suggestion
from .lint_filter import Choice, Finding
from .options import color_option

HELP = """Report all problems of files and folders, without running them.

Errors report files that cannot be read or parsed, and functions that cannot be
converted or traced. Warnings report code that can be converted, but probably not
staged, in functions that `agc.runtime.function` traces and functions they call.
`agc explain CODE` explains a code.

A line with the comment `# agc: ignore[AGC192]` is ignored.

\b
Examples:
  agc check                                 the current folder
  agc check src tests/test_model.py
  agc check src --ignore AGC19,AGC110       without these codes or prefixes
  agc check --format github                 annotations in a GitHub workflow
  agc check --format sarif > agc.sarif      for code scanning
  agc check --format html > findings.html   a page for a browser
  cat model.py | agc check -

\b
Exit codes: 0 no problems, 1 problems, 2 wrong usage or a file that
cannot be read, 123 a bug in agc.
"""


def codes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the codes of `--select AGC110,AGC19`; a code that is not in the manual is wrong usage."""
    known = error_manual.pages()
    chosen = [part.strip().upper() for value in values for part in value.split(",") if part.strip()]
    for code in chosen:
        if not any(page.startswith(code) for page in known):
            fix = suggestion(code, known, "`agc explain` lists all codes")
            raise problem(BAD_USAGE, f"there is no error code `{code}`", fix=fix)
    return tuple(chosen)


@click.command(help=HELP, short_help="Report all problems of a project.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--strict", is_flag=True, help="Warn about all functions, not only traced ones.")
@click.option(
    "--select", metavar="CODES", multiple=True, callback=codes, help="Report only these codes or prefixes."
)
@click.option(
    "--ignore", metavar="CODES", multiple=True, callback=codes, help="Do not report these codes or prefixes."
)
@click.option("--exclude", metavar="GLOB", multiple=True, help="Leave out files or folders of this name.")
@click.option(
    "--format", "form", type=click.Choice(list(report_formats.FORMATS)), default="text", show_default=True,
    help="The format of the report.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@parallel.jobs_option
@color_option
def command(
    paths: tuple[str, ...],
    jobs: int,
    strict: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    form: str,
    as_json: bool,
) -> Callable[[], int]:
    if as_json and form not in ("text", "json"):
        raise problem(BAD_USAGE, f"--json and --format {form} exclude each other", fix="leave one out")
    choice = Choice(select, ignore)
    form = "json" if as_json else form
    return partial(check, paths or (".",), choice, strict=strict, exclude=exclude, form=form, jobs=jobs)


def check(
    paths: Sequence[str],
    choice: Choice,
    *,
    strict: bool = False,
    exclude: Sequence[str] = (),
    form: str = "text",
    jobs: int = 1,
) -> int:
    """Run the command; return the exit code."""
    found: list[Finding] = []
    silenced = 0
    files = list(file_discovery.files(paths, exclude))
    for new, silent in parallel.results(partial(lint_filter.look, strict=strict), files, jobs):
        found += [finding for finding in new if choice.selects(finding.diagnostic.code)]
        silenced += silent
    diagnostics = [finding.diagnostic for finding in found]
    output.emit(report_formats.FORMATS[form](diagnostics, color.wanted(sys.stdout)))
    if sys.stderr is not None:
        print(summary(diagnostics, len(files), silenced), file=sys.stderr)
    return max((finding.exit_code for finding in found), default=OK)


def summary(diagnostics: Sequence[Diagnostic], files: int, silenced: int = 0) -> str:
    """Return one line about a whole run.

    >>> summary([], 1)
    'nothing found in 1 file'
    >>> summary([Diagnostic("AGC110", "a jump")] * 2, 12, silenced=1)
    '2 errors in 12 files, 1 ignored by a comment; more: agc explain AGC110'
    """
    levels = Counter(diagnostic.level for diagnostic in diagnostics)
    said = " and ".join(_counted(levels[level], level) for level in ("error", "warning") if levels[level])
    hidden = f", {silenced} ignored by a comment" if silenced else ""
    listed = " ".join(sorted({diagnostic.code for diagnostic in diagnostics}))
    more = f"; more: agc explain {listed}" if listed else ""
    return f"{said or 'nothing found'} in {_counted(files, 'file')}{hidden}{more}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
