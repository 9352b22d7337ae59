"""A loop nest may overwrite each element that it has just read, if that is its last read."""

from __future__ import annotations

from typing import Any

from agc.runtime.executors.llvm.codegen.buffer_assignment import ElementwiseNest
from agc.runtime.executors.llvm.codegen.liveness import born
from agc.runtime.executors.llvm.codegen.llvm_types import integer
from support.written_code import Code


def doubled(code: Code, a: Any, b: Any) -> ElementwiseNest:
    def write(i: Any) -> None:
        x = code.element(a, i)
        code.put(code.b.add(x, x), b, i)

    return code.nest(write)


def test_a_nest_replaces_a_buffer_after_its_last_read() -> None:
    code = Code()
    a = code.buffer()
    code.write(a)
    b = code.buffer()
    nest = doubled(code, a, b)
    code.read(b)
    assert nest.pairs == [(a, b)]
    assert code.meet(nest) == [[0, 1]]
    code.read(a)
    assert code.meet(nest) == [[0], [1]]


def test_a_nest_does_not_replace_a_buffer_read_at_another_index() -> None:
    """The element must be read at the same place, before it is written, as wide as it is, and in no other way."""

    def one_further(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(code.element(a, code.b.add(i, integer(64)(1))), b, i)

    def behind(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(i, b, i)
        code.element(a, i)

    def narrow(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(code.b.zext(code.element(a, i, 32), integer(64)), b, i)

    def in_another_block(code: Code, a: Any, b: Any, i: Any) -> None:
        x = code.element(a, i)
        (rest,) = code.blocks("rest")
        code.b.branch(rest)
        code.b.position_at_end(rest)
        for _ in range(4):
            x = code.b.add(x, x)
        code.put(x, b, i)

    def by_others(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(code.element(a, i), b, i)
        code.call(a)

    def written_too(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(code.element(a, i), b, i)
        code.put(i, a, i)

    def read_too(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(code.b.add(code.element(a, i), code.element(b, i)), b, i)

    def by_others_within(code: Code, a: Any, b: Any, i: Any) -> None:
        x = code.element(a, i)
        code.call(code.b.gep(a, [i], source_etype=integer(64)))
        code.put(x, b, i)

    def noted(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(code.element(a, i), b, i)
        code.b.store(a, code.somewhere)

    def given_on(code: Code, a: Any, b: Any, i: Any) -> None:
        code.put(code.element(a, i), b, i)
        code.call(b)

    for body in (
        one_further, behind, narrow, in_another_block, by_others, written_too, read_too, by_others_within, noted,
        given_on,
    ):  # fmt: skip
        code = Code()
        a = code.buffer()
        code.write(a)
        b = code.buffer()
        nest = code.nest(lambda i, code=code, a=a, b=b, body=body: body(code, a, b, i))  # type: ignore[misc]
        code.read(b)
        assert nest.pairs == [], body.__name__
        assert code.meet(nest) == [[0], [1]], body.__name__


def test_a_buffer_written_before_the_nest_replaces_nothing() -> None:
    """Nor does what is made elsewhere as well, or what stands where a slot says: it is more than the nest's result."""

    def written(code: Code, b: Any) -> None:
        code.write(b)

    def made_twice(code: Code, b: Any) -> None:
        code.b._insert(born(code.b.block, b))
        (onward,) = code.blocks("onward")
        code.b.branch(onward)
        code.b.position_at_end(onward)
        code.b._insert(born(code.b.block, b))

    def held(code: Code, b: Any) -> None:
        code.b.store(b, code.slot())

    for before in (written, made_twice, held):
        code = Code()
        a = code.buffer()
        code.write(a)
        b = code.buffer()
        before(code, b)
        nest = doubled(code, a, b)
        code.read(b)
        assert nest.pairs == [(a, b)]
        assert code.meet(nest) == [[0], [1]], before.__name__


def test_a_buffer_held_in_a_slot_is_not_replaced() -> None:
    code = Code()
    a = code.buffer()
    code.write(a)
    code.b.store(a, code.slot())
    nest = doubled(code, a, code.buffer())
    assert code.meet(nest) == [[0], [1]]
