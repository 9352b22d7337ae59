"""What is read off bytecode, in every version of Python: newer ones store and load variables in pairs."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from agc.autograph.analysis import bytecode_effects


def chosen(first: Any, second: Any) -> Any:
    winner = max(first, second)
    winner.append(1)
    left, right = divmod(first, second)
    both = [(each.append(left), right) for each in winner]
    print(both)
    return both


CODE = chosen.__code__


def call(code: CodeType, which: int) -> int:
    """Where the code has a call, by the number of it."""
    return [each.offset for each in dis.get_instructions(code) if each.opname == "CALL"][which]


def test_the_target_of_a_store_is_found_when_it_is_read_at_once() -> None:
    assert bytecode_effects.stored_after(CODE, call(CODE, 0)) == "winner"


def test_the_targets_of_a_tuple_assignment_are_found() -> None:
    assert [bytecode_effects.stored_after(CODE, call(CODE, 2), item) for item in (0, 1)] == ["left", "right"]


def test_a_read_right_after_a_store_is_a_mention() -> None:
    (mention,) = bytecode_effects.mentions(CODE, "each")
    assert mention.appends and mention.alters


def test_variables_that_are_read_together_are_two_mentions() -> None:
    assert [len(list(bytecode_effects.mentions(CODE, name))) for name in ("first", "second")] == [2, 2]
