"""The command line's front door: which command, which exit code, and no traceback of agc's own.

    main(arguments) = click parses, giving a job  →  the job runs  →  its exit code

The job runs outside of click, so that a program started by `agc run` has no more than a few frames below it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence

import click
from agc.autograph.errors import Diagnostic

from . import color, errors, output

HELP = """Turn ordinary Python into tensor graphs.

\b
Examples:
  agc convert model.py                     show the code that agc generates
  agc run train.py --epochs 3              run a program, converted
  agc run model.py::f 27 --graph           call one function with a tensor; show its graph
  agc explore model.py::f 27               write a page that shows the function from source to plan
  agc export model.py::f 27 -o f.onnx      write one function in the format of another system
  agc check src                            report all problems of a project, without running it
  agc explain AGC207                       explain an error and its fix

\b
Exit codes:
  0    success
  1    the source cannot be converted, the program failed, or `agc check` found problems
  2    wrong usage: an option, a file, a function, an argument
  123  a bug in agc
  130  Ctrl-C
  `agc run` of a program ends with the program's own exit code.
"""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


COMMANDS = ("check", "completion", "convert", "explain", "explore", "export", "run")


class Commands(click.Group):
    """The commands, in modules of their names. Only that of the command that runs is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f".{name}", __package__).command
        return command


@click.group(cls=Commands, help=HELP, context_settings=SETTINGS, invoke_without_command=True)
@click.version_option(
    package_name="agc-autograph",
    prog_name="agc",
    message=f"%(prog)s %(version)s (Python {sys.version.split()[0]})",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(errors.USAGE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (sys.argv by default) and return the exit code."""
    color.choose("auto")
    try:
        code = _job(arguments)()
        output.flush()
    except errors.CommandError as error:
        errors.show(error.diagnostic)
        code = error.exit_code
    except click.UsageError as error:
        errors.show(_usage(error, sys.argv[1:] if arguments is None else arguments))
        code = errors.USAGE
    except click.Abort:  # click's name for KeyboardInterrupt
        code = errors.INTERRUPTED
    except KeyboardInterrupt:
        code = errors.INTERRUPTED
    except BrokenPipeError:
        output.abandon_stdout()
        code = errors.FAILED
    except Exception as error:
        code = errors.show_fault(error)
    return code


def _job(arguments: Sequence[str] | None) -> Callable[[], int]:
    """Parse the command line and return what runs the command; help and version leave nothing to run."""
    try:
        job = cli.main(arguments, prog_name="agc", standalone_mode=False)
    except OSError as error:
        if error.filename is not None or isinstance(error, (BrokenPipeError, FileNotFoundError)):
            raise
        raise output.stdout_failed(error) from None  # help or version, which click prints
    return job if callable(job) else lambda: int(job or errors.OK)


def _usage(error: click.UsageError, arguments: Sequence[str]) -> Diagnostic:
    named = [name for name in arguments[:1] if name in COMMANDS]
    path = error.ctx.command_path if error.ctx is not None else " ".join(["agc", *named])
    message = " ".join(error.format_message().split()).rstrip(".")
    title = message[:1].lower() + message[1:]
    unknown = arguments[0] if title.startswith("no such command") else ""
    fix = errors.suggestion(unknown, COMMANDS, f"`{path} --help` shows the usage")
    return Diagnostic(errors.BAD_USAGE, title, fix=fix)
