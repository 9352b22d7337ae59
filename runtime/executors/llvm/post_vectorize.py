"""Inline the kernel of a module whose loops have been vectorized, so that LLVM needs few passes only.

    run(addresses, thread state):                       run(addresses, thread state):
        kernel(addresses[0], …, thread state)               x, y = addresses
    kernel(x, y, thread state):                 ==>         …
        …

`noalias` arguments help LLVM to transform loops. If LLVM transforms none, they only cost time.
"""

from __future__ import annotations

from typing import Any

from .codegen.llvm_types import Register, ir, pointer, word
from .codegen.outlining import instructions_of, redirect


def addresses_read(b: Any, addresses: Register, count: int) -> list[Register]:
    """Load the addresses of inputs and outputs from consecutive memory."""
    slots = [b.gep(addresses, [word(i)], source_etype=pointer()) for i in range(count)]
    return [b.load(slot, typ=pointer()) for slot in slots]


def finish(kernel: Any, run: Any) -> None:
    """Inline the kernel into `run`."""
    top = kernel.blocks[0]
    b = ir().IRBuilder(top)
    b.position_at_start(top)
    addresses, slot = run.args
    read = addresses_read(b, addresses, len(kernel.args) - 1)
    redirect(instructions_of(kernel.blocks), dict(zip(kernel.args, [*read, slot], strict=True)))
    for block in kernel.blocks:
        block.parent = run
    run.blocks, kernel.blocks = kernel.blocks, []
    del run.module.globals[kernel.name]
