"""`agc convert --watch`: convert again when a file is saved.

agc convert model.py -o out.py --watch       one file
agc convert package -o build --watch         each module of a folder, as it changes
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import click

from .convert_package import contents
from .errors import OK, CommandError, show

SECONDS = 0.3
"""The time between two looks at the files."""


def watch(path: str, convert: Callable[[str], object], pause: Callable[[float], object] = time.sleep) -> int:
    """Call `convert` with each module that is new or has changed, until Ctrl-C. An error ends nothing."""
    seen = dict(_times(path))
    click.echo(f"watching {path} (Ctrl-C ends)", err=True)
    try:
        while True:
            pause(SECONDS)
            now = dict(_times(path))
            for name in sorted(now):
                if seen.get(name) != now[name]:
                    _convert(name, convert)
            seen = now
    except KeyboardInterrupt:
        click.echo("", err=True)
    return OK


def _convert(name: str, convert: Callable[[str], object]) -> None:
    try:
        if convert(name) == OK:
            click.echo(f"converted {name}", err=True)
    except CommandError as error:
        show(error.diagnostic)


def _times(path: str) -> Iterator[tuple[str, int]]:
    """Yield the modules at a path with the times of their last change."""
    names = [path] if os.path.isfile(path) else [os.path.join(path, each) for each in contents(path)]
    for name in names:
        if name == path or name.endswith(".py"):
            try:
                yield name, os.stat(name).st_mtime_ns
            except FileNotFoundError:  # removed since
                continue
