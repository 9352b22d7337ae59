"""Converted code keeps no object alive longer than Python: not by the frames in the traceback of an exception."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.versions import converted_version


class Connection:
    """An object that must be freed at once, as one that closes a file or a socket."""


def refuse(seen: list[Any]) -> None:
    connection = Connection()
    seen.append(weakref.ref(connection))
    raise OSError("refused")


# fmt: off
def raised_after_the_loop(seen):
    """The usual way to break the cycle: error → traceback → frame → variable → error."""
    error = None
    for _ in range(3):
        try:
            return refuse(seen)
        except OSError as caught:
            error = caught
    try:
        if error is not None:
            raise error
    finally:
        error = None


def deleted_in_a_loop(seen):
    while True:
        try:
            refuse(seen)
        except OSError as caught:
            error = caught
        if error:
            try:
                if len(seen) > 2:
                    raise error
            finally:
                del error


def raised_where_a_condition_holds_it(seen):
    error = None
    if len(seen) == 0:
        try:
            refuse(seen)
        except OSError as caught:
            error = caught
        try:
            if error:
                count = len(seen)
                if count < 9:
                    raise error
        finally:
            del error
# fmt: on


@pytest.fixture(autouse=True)
def without_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("f", [raised_after_the_loop, deleted_in_a_loop, raised_where_a_condition_holds_it])
def test_an_exception_that_the_program_clears_is_freed_at_once(f: Callable[[list[Any]], None]) -> None:
    for version in (f, converted_version(f)):
        seen: list[Any] = []
        with pytest.raises(OSError, match="refused") as raised:
            version(seen)
        del raised
        assert [reference() for reference in seen] == [None] * len(seen)
