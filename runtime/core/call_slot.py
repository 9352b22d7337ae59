"""A callable whose `__call__` is a slot of the instance: a Python method, or a faster entry point.

    f(x)   →   the object in f.__call__

`_entry` is for vectorcall callers (call/vectorcall.py): the address of native code, once it is compiled.
"""

from __future__ import annotations


class CallSlot:
    __slots__ = {
        "__call__": "Run the graph for the arguments; trace it first when there is none yet.",
        "_entry": "The address of the machine code that a call runs, or None.",
    }
    _entry: int
