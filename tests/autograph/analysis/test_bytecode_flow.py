"""Which instructions of a function may run after another one, in every version of Python."""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import CodeType
from typing import Any

from agc.autograph.analysis.bytecode_flow import flow_of


def program(a: Any, b: Any) -> Any:
    first(a)
    if a:
        try:
            second(b)
        except ValueError:
            third(b)
        return [fourth(c) for c in b]
    for c in b:
        fifth(c)
        if c:
            break
        sixth(c)
    return lambda: seventh(a)


first = second = third = fourth = fifth = sixth = seventh = len
CODE = program.__code__


def at(name: Callable[..., Any] | str) -> int:
    """Return where the function reads a name."""
    return next(one.offset for one in dis.get_instructions(CODE) if one.argval == name)


def names_after(name: str) -> list[str]:
    names = ["first", "second", "third", "fifth", "sixth"]
    return [other for other in names if flow_of(CODE).leads_to(at(name), at(other))]


def test_the_other_branch_does_not_run_after_a_branch() -> None:
    assert names_after("first") == ["second", "third", "fifth", "sixth"]
    assert names_after("third") == []


def test_a_handler_runs_after_its_try() -> None:
    assert names_after("second") == ["third"]


def test_a_loop_runs_again() -> None:
    assert names_after("sixth") == names_after("fifth") == ["fifth", "sixth"]


def test_a_function_may_run_after_it_was_made() -> None:
    inner = next(one for one in CODE.co_consts if isinstance(one, CodeType) and "seventh" in one.co_names)
    assert flow_of(CODE).may_call(inner, at("first")) and flow_of(CODE).may_call(inner, at("sixth"))
    assert not flow_of(CODE).may_call(inner, at("third"))
