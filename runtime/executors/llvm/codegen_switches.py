"""Switches of LLVM that make code generation cheaper, while agc generates code.

    with few_passes(): emit        takes less time; the code runs as fast

LLVM runs about a hundred passes on each function. agc's loops come from the emitter in the form that some of these
passes produce: addresses are computed once (codegen/index_builder.py), and processors reorder instructions themselves.

The switches are global in the process. Other users of llvmlite, such as Numba, generate code without these passes only
if they do so at the same moment.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TESTED = 22
"""The newest version of LLVM that is known to have all switches: LLVM ends the process at an unknown one."""

# Loop strength reduction stays: without it, loops of scalars with jumps take a third longer.
_OFF = (
    *("disable-cgp", "disable-machine-licm", "disable-machine-cse", "disable-machine-sink"),
    *("disable-post-ra", "disable-branch-fold", "disable-tail-duplicate", "disable-early-taildup"),
)
_ON = ("enable-misched",)

_lock = threading.Lock()
_users = 0


@contextmanager
def few_passes() -> Iterator[None]:
    """Generate code with few passes in this block. Several threads may do so at the same time."""
    _add(1)
    try:
        yield
    finally:
        _add(-1)


def _add(change: int) -> None:
    global _users
    with _lock:
        before = bool(_users)
        _users += change
        if bool(_users) != before:
            _switch(bool(_users))


def _switch(is_cheap: bool) -> None:
    import llvmlite.binding as binding

    if binding.llvm_version_info[0] <= _TESTED:
        for name in _OFF:
            binding.set_option("agc", f"-{name}={is_cheap:d}")
        for name in _ON:
            binding.set_option("agc", f"-{name}={not is_cheap:d}")
