"""Liveness: which buffers may share memory, from what the instructions may read or write."""

from __future__ import annotations

from agc.runtime.executors.llvm.codegen.liveness import born, promised
from agc.runtime.executors.llvm.codegen.llvm_types import integer, pointer
from support.written_code import Code


def test_a_dead_buffer_gives_its_slot_to_others() -> None:
    code = Code()
    a = code.buffer()
    code.write(a)
    code.read(a)
    b = code.buffer()
    code.write(b)
    code.read(b)
    assert code.meet() == [[0, 1]]
    code.read(a)
    assert code.meet() == [[0], [1]]


def test_reads_in_every_branch_keep_a_buffer_alive() -> None:
    """So do those that nothing but the number leads to, and the one for all other numbers."""
    for reader in range(3):
        code = Code()
        a = code.buffer()
        code.write(a)
        b = code.buffer()
        code.write(b)
        cases = code.blocks("zero", "one", "other")
        jump = code.b.switch(code.number, cases[-1])
        for number, block in enumerate(cases[:-1]):
            jump.add_case(integer(64)(number), block)
        for number, block in enumerate(cases):
            code.b.position_at_end(block)
            if number == reader:
                code.read(a)
            code.b.ret_void()
        assert code.meet() == [[0], [1]]


def test_reads_in_the_next_iteration_keep_a_buffer_alive() -> None:
    """What the next round reads lives through the whole of this one."""
    code = Code()
    a = code.buffer()
    code.write(a)
    loop, rest, end = code.blocks("loop", "rest", "end")
    code.b.branch(loop)
    code.b.position_at_end(loop)
    code.read(a)
    code.b.branch(rest)
    code.b.position_at_end(rest)
    b = code.buffer()
    code.write(b)
    c = code.buffer()
    code.write(c)
    code.b.branch(end)
    code.b.position_at_end(end)
    code.b.branch(loop)
    assert code.meet() == [[0], [1, 2]]


def test_addresses_are_followed_through_slots() -> None:
    """Treat a call that gets a slot as a read of the memory that the slot points to, transitively."""
    for depth in range(1, 4):
        code = Code()
        a, address = code.buffer(), None
        code.write(a)
        address = a
        for _ in range(depth):
            slot = code.slot()
            code.b.store(address, slot)
            address = slot
        code.write(code.buffer())
        code.call(address)
        assert code.meet() == [[0], [1]]


def test_addresses_are_followed_through_arithmetic_and_selects() -> None:
    """Places within a buffer, and choices among buffers, are as good as their beginnings."""
    within = [
        lambda code, a, b: code.b.gep(a, [code.number], source_etype=integer(64)),
        lambda code, a, b: code.b.select(code.b.icmp_signed("<", code.number, integer(64)(1)), a, b),
        lambda code, a, b: code.met(a, b),
    ]
    for found in within:
        code = Code()
        a, b = code.buffer(), code.buffer()
        code.write(a)
        code.write(b)
        address = found(code, a, b)
        code.write(code.buffer())
        code.read(address)
        assert [0, 2] not in code.meet()


def test_a_later_store_to_a_slot_is_read_in_the_next_iteration() -> None:
    code = Code()
    a, slot = code.buffer(), code.slot()
    code.write(a)
    (loop,) = code.blocks("loop")
    code.b.branch(loop)
    code.b.position_at_end(loop)
    code.read(code.b.load(slot, typ=pointer()))
    code.write(code.buffer())
    code.b.store(a, slot)
    code.b.branch(loop)
    assert code.meet() == [[0], [1]]


def test_a_slot_may_hold_any_stored_address() -> None:
    code = Code()
    a, slot = code.buffer(), code.slot()
    code.write(a)
    code.b.store(a, slot)
    b = code.buffer()
    code.write(b)
    code.b.store(b, slot)
    code.write(code.buffer())
    code.read(code.b.load(slot, typ=pointer()))
    assert code.meet() == [[0], [1], [2]]


def test_buffers_with_an_escaping_address_share_no_memory() -> None:
    """Treat an address that is stored to untracked memory as read at any time."""
    code = Code()
    code.b.store(code.buffer(), code.somewhere)
    code.buffer()
    assert code.meet() == [[0], [1]]
    code = Code()
    code.buffer()
    code.buffer()
    assert code.meet() == [[0, 1]]


def test_a_buffer_read_before_its_first_write_lives_from_the_start() -> None:
    """Keep the earlier contents of the memory, as in a loop that is entered in its middle."""
    code = Code()
    a = promised(code.entry, 64)
    code.promises.append(a)
    b = code.buffer()
    code.write(b)
    code.read(a)
    code.b._insert(born(code.b.block, a))
    assert code.meet() == [[0], [1]]


def test_buffers_alive_from_the_start_share_no_memory() -> None:
    code = Code()
    for _ in range(2):
        code.promises.append(promised(code.entry, 64))
    for promise in code.promises:
        code.read(promise)
    assert code.meet() == [[0], [1]]
