"""Options that several commands have."""

from __future__ import annotations

import click

from . import color


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
