"""`agc run`: which of its two forms a command line has, and the options of each.

agc run [--eager] FILE ARGS...             ARGS are the program's, whatever they look like
agc run FILE::f --arg 27 [--graph]         options stand anywhere
agc run -m MODULE[::f] ...                 a module by its name, in both forms
agc run --workers 2 FILE ARGS...           several processes of a program
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import PathFinder
from typing import Any

import click
from agc import autograph

from . import call_function, run_program, sources
from .errors import BAD_USAGE, UNREADABLE, no_pass, problem
from .profile import Wanted, profiled

HELP = """Run a converted program, or one function of a file.

Python runs FILE as `__main__`, after its conversion. Arguments after FILE belong
to the program. `-` is a program on stdin.

FILE::FUNCTION calls one function with tensors, through `agc.runtime.function`,
and prints what it returns. A static or class method is CLASS.METHOD.

\b
Examples:
  agc run train.py --epochs 3           a program with its arguments
  agc run -m package.tool --verbose     a module, found as `python -m` finds it
  agc run --eager train.py              tf.function runs its functions as plain Python
  agc run --as-tensorflow train.py      `import tensorflow` gives agc.runtime
  agc run --conversions train.py        converted functions, and why others were not
  agc run --profile train.py            the time of operations and lines
  agc run --workers 2 train.py          two processes that train one model
  agc run collatz.py::collatz 27        a function with one tensor, int32
  agc run collatz.py::collatz --arg n=27:int64 --graph
  agc run collatz.py::collatz 27 --graph --after cse
  agc run -m package.tool::main --arg py:10

\b
Arguments of a function (as --arg ARG, or after the function's name):
  27   1.5   True   "'text'"            a tensor of a Python literal
  '[[1.0, 2.0], [3.0, 4.0]]'            a tensor of that shape; inf and nan are numbers
  '{"w": [1.0], "b": 0.0}'              a dict of tensors
  @weights.npy                          the array in a NumPy file
  py:10   'py:"sum"'   None             a Python value, not a tensor
  27:int64   '[1, 2]:float32'           with a dtype
  0:float32[2,3]                        with a dtype and a shape, here six zeros
  n=27   n:int64=27   n=py:10           by the parameter's name
"""


def complete_pass(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the completions that the shell offers for `--after`."""
    return [name for name in _passes() if name.startswith(incomplete)]


def _passes() -> list[str]:
    """Return the names of the passes of the graph optimizer, in order."""
    from agc.runtime.optimize import PASSES

    return [each.name for each in PASSES]


class RunCommand(click.Command):
    """Options end at FILE, as for `python FILE`, unless a function is called: that has no command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_interspersed_args = False
        if args and args[0].startswith("-m") and args[0] != "-m":  # Python takes -mMODULE, too
            args = ["-m", args[0][2:], *args[1:]]
        spelled = sources.spelled(args)
        options, _, _ = self.make_parser(ctx).parse_args(list(spelled))
        target = options.get("target")
        if isinstance(target, str) and sources.split_target(target)[1] is not None:
            ctx.allow_interspersed_args = True
            args = spelled
        ctx.meta[WHOLE] = tuple(args)
        return super().parse_args(ctx, args)


WHOLE = "agc.run.arguments"  # the whole command line, which workers get again


@click.command(cls=RunCommand, help=HELP, short_help="Run a program or call a function.")
@click.argument("target", metavar="FILE[::FUNCTION]", type=click.Path(allow_dash=True))
@click.argument("args", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("-m", "by_name", is_flag=True, help="FILE is the name of a module or package.")
@click.option(
    "-a", "--arg", "named", metavar="ARG", multiple=True, help="An argument of the function; may be repeated."
)
@click.option("--graph", is_flag=True, help="Print the function's graph before its result.")
@click.option(
    "--after",
    metavar="PASS",
    shell_complete=complete_pass,
    help="With --graph: print the graph after this pass of the optimizer (a wrong name lists all).",
)
@click.option("--native-ir", "native", is_flag=True, help="Print the function's LLVM IR before its result.")
@click.option(
    "--conversions", is_flag=True, help="At the end, list converted and unconverted functions on stderr."
)
@click.option("--profile", is_flag=True, help="At the end, list the time of operations and lines on stderr.")
@click.option("--profile-trace", metavar="PATH", help="Also write the profile as a trace for Perfetto.")
@click.option("--profile-page", metavar="PATH", help="Also write the profile as a page with a flame graph.")
@click.option("--as-tensorflow", is_flag=True, help="Let `import tensorflow` give agc.runtime.")
@click.option("--eager", is_flag=True, help="Build no graphs: run_functions_eagerly(True).")
@click.option("--workers", metavar="N", help="Start N processes: the workers of MultiWorkerMirroredStrategy.")
@click.option(
    "--restarts",
    metavar="K",
    type=click.IntRange(min=0),
    help="With --workers N: start all again after a failure, at most K times.",
)
@click.option(
    "--worker-index",
    metavar="I",
    type=int,
    help="Be worker I only; --workers may list HOST:PORT,HOST:PORT of several machines.",
)
@click.pass_context
def command(
    ctx: click.Context,
    target: str,
    args: tuple[str, ...],
    by_name: bool,
    named: tuple[str, ...],
    graph: bool,
    after: str | None,
    native: bool,
    conversions: bool,
    profile: bool,
    profile_trace: str | None,
    profile_page: str | None,
    as_tensorflow: bool,
    eager: bool,
    workers: str | None,
    restarts: int | None,
    worker_index: int | None,
) -> Callable[[], int]:
    launch = launcher(ctx, workers, restarts, worker_index)
    if launch is not None:
        return launch
    if as_tensorflow:
        from agc.runtime import install_as_tensorflow

        install_as_tensorflow()
    if after is not None:
        check_pass(after, graph)
    start = starting(target, args, by_name, named, graph, eager, after, native)
    wanted = Wanted(profile, profile_trace, profile_page)
    if wanted:
        wanted.check(target, eager)
        start = partial(profiled, start, wanted)
    return partial(listed, start) if conversions else start


def launcher(
    ctx: click.Context, workers: str | None, restarts: int | None, worker_index: int | None
) -> Callable[[], int] | None:
    """Return a function that starts all workers; None if this process runs the program, as a worker or alone."""
    if (workers, restarts, worker_index) == (None, None, None) and "AGC_LAUNCHER" not in os.environ:
        return None
    from . import run_workers  # with sockets and processes, which other programs do not need

    if run_workers.is_worker():
        run_workers.follow_launcher()
    elif restarts is not None and (workers is None or worker_index is not None):
        raise problem(BAD_USAGE, "--restarts is for workers of one launcher", fix="--workers 2 --restarts 1")
    elif workers is not None and worker_index is not None:
        run_workers.become(workers, worker_index)
    elif workers is not None:
        return partial(run_workers.launch, workers, restarts or 0, ctx.meta[WHOLE])
    else:
        fix = "--workers HOST:PORT,HOST:PORT --worker-index 0"
        raise problem(BAD_USAGE, "--worker-index is one of several --workers", fix=fix)
    return None


def starting(
    target: str,
    args: tuple[str, ...],
    by_name: bool,
    named: tuple[str, ...],
    graph: bool,
    eager: bool,
    after: str | None = None,
    native: bool = False,
) -> Callable[[], int]:
    """Return a function that runs the program or the function; refuse wrong usage."""
    path, function = sources.split_target(target)
    if not by_name:
        refuse_package(path, function)
    if function is None:
        if named or graph or native:
            option = "--arg" if named else "--graph" if graph else "--native-ir"
            raise problem(
                BAD_USAGE,
                f"{option} is for one function, and `{target}` names none",
                fix=f"agc run {target}::FUNCTION {option} ...",
            )
        start = run_program.run_module if by_name else run_program.run_file
        return partial(start, path, args, eager=eager)
    if (graph or native) and eager:
        option = "--graph" if graph else "--native-ir"
        raise problem(BAD_USAGE, f"--eager builds no graph that {option} could print", fix="leave one out")
    options: dict[str, Any] = {
        "by_name": by_name,
        "graph": graph,
        "eager": eager,
        "after": after,
        "native": native,
    }
    return partial(call_function.run, path, function, (*named, *args), **options)


def check_pass(name: str, graph: bool) -> None:
    """Complain about a pass that is not one, and about one that nothing is printed after."""
    if not graph:
        raise problem(BAD_USAGE, "--after only selects the graph that --graph prints", fix="add --graph")
    if name not in _passes():
        raise no_pass(name, _passes())


def listed(start: Callable[[], int]) -> int:
    """Run, then list the conversions, where the program's own output does not get mixed with them; however it ends."""
    try:
        return start()
    finally:
        for found in autograph.conversions():
            click.echo(str(found), err=True)


def refuse_package(path: str, function: str | None) -> None:
    """Raise an error that names the right command if `path` is a module's name, or the folder of a package."""
    name = os.path.normpath(path).replace(os.sep, ".")
    if not all(part.isidentifier() for part in name.split(".")):
        return
    if not os.path.exists(path):
        found = PathFinder.find_spec(name.partition(".")[0], [os.getcwd(), *sys.path])
        reason, is_module = "no such file", found is not None and not name.endswith(".py")
    else:
        has_init = os.path.exists(os.path.join(path, "__init__.py"))
        reason, is_module = "it is a directory", function is not None and has_init
    if is_module:
        called = name if function is None else f"{name}::{function}"
        title = f"cannot read `{path}`: {reason}"
        raise problem(UNREADABLE, title, fix=f"a module is run by its name: agc run -m {called}")
