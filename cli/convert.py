"""`agc convert`: source in, generated source out.

agc convert model.py                         the module, on stdout
agc convert model.py --function fit --diff   one function, as a difference
agc convert package -o build/package         a folder
"""

from __future__ import annotations

import difflib
import os
import sys
import textwrap
from collections.abc import Callable
from functools import partial

import click
from agc import autograph

from . import color, convert_package, output, parallel, sources, watch
from .errors import BAD_USAGE, FAILED, OK, no_pass, problem, show
from .options import SpelledCommand, color_option

HELP = """Print the code that agc generates from FILE (`-` is stdin).

The output is a complete Python module. It calls functional control flow, such as
`ag__.cond`, instead of `if`, `for` and `while`. Unchanged statements keep their
text and comments. If FILE is a folder, all its modules are converted and other
files are copied. If a module cannot be converted, nothing is written, except with
--keep-going.

\b
Examples:
  agc convert model.py                        the whole module, on stdout
  agc convert model.py --function Model.fit   one function (FILE::FUNCTION is the same)
  agc convert model.py -o converted.py        into a file, replaced in one step
  agc convert model.py --diff                 what the conversion changes
  agc convert model.py --annotate             the original lines next to the generated code
  agc convert model.py --after lower_break    the code after one of the passes
  agc convert package -o build/package        all of a package, importable from build
  agc convert model.py -o out.py --watch      again when model.py is saved
  cat model.py | agc convert - | python       converted and run
"""


def complete_pass(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the completions that the shell offers for `--after`."""
    return [name for name in autograph.PASSES if name.startswith(incomplete)]


@click.command(cls=SpelledCommand, help=HELP, short_help="Print the generated code.")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "-f", "--function", metavar="NAME", help="Convert only this function or class; a method is CLASS.METHOD."
)
@click.option("-o", "--output", "out", metavar="OUT", type=click.Path(), help="Write to OUT, not to stdout.")
@click.option("--diff", is_flag=True, help="Print a unified diff from the original to the generated code.")
@click.option("--annotate", is_flag=True, help="Add the original line to each block, as a comment.")
@click.option(
    "--after",
    metavar="PASS",
    shell_complete=complete_pass,
    help="Stop after this pass (a wrong name lists all).",
)
@click.option(
    "-k",
    "--keep-going",
    is_flag=True,
    help="Copy modules of a folder that cannot be converted, and list them.",
)
@click.option("--watch", "watches", is_flag=True, help="Convert again when a file is saved, until Ctrl-C.")
@parallel.jobs_option
@color_option
def command(
    file: str,
    function: str | None,
    out: str | None,
    diff: bool,
    annotate: bool,
    after: str | None,
    keep_going: bool,
    watches: bool,
    jobs: int,
) -> Callable[[], int]:
    options = convert_package.Way(after, annotate, keep_going, jobs)
    job = partial(convert, file, function=function, out=out, diff=diff, way=options)
    return partial(_watched, job, file, function, out, diff, options) if watches else job


def _watched(
    job: Callable[[], int],
    file: str,
    function: str | None,
    out: str | None,
    diff: bool,
    options: convert_package.Way,
) -> int:
    """Convert, then again at each change; modules of a folder one by one."""
    path, _ = sources.split_target(file)
    if path == sources.STDIN:
        raise problem(BAD_USAGE, "--watch needs a file or folder, not stdin", fix="name the file")

    def again(name: str) -> int:
        if name == path or out is None:
            return job()
        target = os.path.join(out, os.path.relpath(name, path))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        return convert(name, out=target, way=options)

    code = job()
    return code if os.path.isdir(path) and code != OK else watch.watch(path, again)


def convert(
    file: str,
    *,
    function: str | None = None,
    out: str | None = None,
    diff: bool = False,
    way: convert_package.Way = convert_package.Way(),  # noqa: B008  # an immutable value
) -> int:
    """Run the command; return the exit code."""
    path, inner = sources.split_target(file)
    if function and inner:
        raise problem(BAD_USAGE, f"two functions are named: `{inner}` and `{function}`", fix="leave one out")
    function = function or inner
    if way.after is not None and way.after not in autograph.PASSES:
        raise no_pass(way.after, autograph.PASSES)
    to_file = out is not None and out != sources.STDIN
    if os.path.isdir(path):
        return _convert_folder(path, function, out if to_file else None, diff, way)
    if to_file:
        output.check_destination(str(out), path)

    source = sources.read(path)
    sources.check(source)
    original = source.text if function is None else _lines_of(_known(function, source), source.text)
    try:
        with parallel.uncollected():
            generated = autograph.convert_source(
                source.text, source.label, after=way.after, function=function, annotate=way.annotate
            )
    except autograph.ConversionError as error:
        show(error.diagnostic)
        return FAILED

    text = unified(original, generated, source.label) if diff else generated
    if to_file:
        output.write(str(out), text)
    else:
        paint = color.diff if diff else color.python
        output.emit(paint(text) if color.wanted(sys.stdout) else text)
    return OK


def _convert_folder(
    path: str, function: str | None, out: str | None, diff: bool, options: convert_package.Way
) -> int:
    if function is not None:
        raise problem(BAD_USAGE, f"`{path}` is a folder, and `{function}` is in a file", fix="name the file")
    if diff is (out is not None):
        raise problem(
            BAD_USAGE,
            f"`{path}` is a folder: convert it into another, or see what would change",
            fix=f"agc convert {path} -o OUT, or agc convert {path} --diff",
        )
    if out is not None:
        return convert_package.convert(path, out, options)
    texts, code = convert_package.converted(path, options)
    if texts is None:
        return code
    text = "".join(unified(source.text, generated, source.label) for source, generated in texts.values())
    output.emit(color.diff(text) if color.wanted(sys.stdout) else text)
    return code


def _known(function: str, source: sources.Source) -> sources.Definition:
    known = sources.definitions(sources.parse(source))
    if function not in known:
        raise sources.no_function(function, source.label, list(known))
    return known[function]


def _lines_of(node: sources.Definition, text: str) -> str:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return textwrap.dedent("\n".join(text.split("\n")[first - 1 : node.end_lineno])) + "\n"


def unified(before: str, after: str, label: str) -> str:
    """Return a unified diff that `patch` accepts.

    >>> print(unified("a\\n", "b\\n", "x.py").replace("\\t", " "), end="")
    --- x.py original
    +++ x.py generated
    @@ -1 +1 @@
    -a
    +b
    """
    names = label, label, "original", "generated"
    lines = difflib.unified_diff(_lines(before), _lines(after), *names, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
