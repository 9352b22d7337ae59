"""`agc completion`: the script by which a shell learns to complete agc's command lines."""

from __future__ import annotations

import click

from . import errors, output

HELP = """Print the completion script for a shell.

\b
Examples:
  eval "$(agc completion bash)"                                  in ~/.bashrc
  eval "$(agc completion zsh)"                                   in ~/.zshrc
  agc completion fish > ~/.config/fish/completions/agc.fish      once
"""


@click.command(help=HELP, short_help="Print a shell's completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"{shell} is not supported by this version of click")
    output.emit(script(ctx.find_root().command, {}, "agc", "_AGC_COMPLETE").source())
    return errors.OK
