"""Options that several commands have."""

from __future__ import annotations

import click

from . import color, sources


class SpelledCommand(click.Command):
    """A command whose arguments may be negative numbers and `-::f`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, sources.spelled(args))


def _choose_color(ctx: click.Context, param: click.Parameter, choice: str) -> None:
    color.choose(choice)


color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    expose_value=False,
    is_eager=True,
    callback=_choose_color,
    help="Color the output. auto: only on a terminal without NO_COLOR.",
)
