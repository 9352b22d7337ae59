"""Switches of LLVM that make code generation cheaper, while agc generates code.

    with passes(FEW): emit        takes less time; the code runs as fast

LLVM runs about a hundred passes on each function. agc's loops come from the emitter in the form that some of these
passes produce: addresses are computed once (codegen/index_builder.py), and processors reorder instructions themselves.
The constants of a loop are moved out of it: without AVX-512, a vector of one constant takes an instruction to load.
Short loops with branches keep all passes, which move instructions out of the usual path.

The switches are global in the process. Other users of llvmlite, such as Numba, generate code without these passes only
while agc compiles a graph.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TESTED = 22
"""The newest version of LLVM that is known to have all switches: LLVM ends the process at an unknown one."""

_OFF = (
    *("disable-cgp", "disable-machine-cse", "disable-machine-sink", "disable-post-ra"),
    *("disable-branch-fold", "disable-tail-duplicate", "disable-early-taildup"),
)
_ON = ("enable-misched",)

_STRENGTH_REDUCTION = "disable-lsr"
"""A third of the time of code generation. Without it, loops of scalars with jumps take a third longer."""

FEWEST, FEW, ALL = range(3)
"""No strength reduction of loops; the passes that are on neither list; LLVM's own choice."""

_lock = threading.Lock()
_users = [0, 0, 0]
"""The numbers of blocks that generate code with FEWEST, FEW and ALL passes."""
_set: dict[str, bool] = {}
"""The switches that are set, by name."""


@contextmanager
def passes(kept: int) -> Iterator[None]:
    """Generate code with FEWEST, FEW or ALL passes in this block. Several threads may do so at the same time.

    LLVM reads the switches when it begins. So a loop that is worth more passes has them next to others, too.
    """
    _add(kept, 1)
    try:
        yield
    finally:
        _add(kept, -1)


def _add(kept: int, change: int) -> None:
    with _lock:
        _users[kept] += change
        most = max((each for each in (FEWEST, FEW, ALL) if _users[each]), default=ALL)
        _switch(most < ALL, most == FEWEST)


def _switch(is_cheap: bool, is_plain: bool) -> None:
    import llvmlite.binding as binding

    if binding.llvm_version_info[0] > _TESTED:
        return
    switches = (
        dict.fromkeys(_OFF, is_cheap) | dict.fromkeys(_ON, not is_cheap) | {_STRENGTH_REDUCTION: is_plain}
    )
    for name, value in switches.items():
        if _set.get(name, name in _ON) is not value:
            binding.set_option("agc", f"-{name}={value:d}")
    _set.update(switches)
