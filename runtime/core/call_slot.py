"""What is called by what stands in a slot of it, which changes: by a method of Python's, or a shorter way.

    f(x)   →   whatever stands in f.__call__

`_entry` is for those who call without a tuple (call/vectorcall.py): the address of machine code, once there is some.
"""

from __future__ import annotations


class CallSlot:
    __slots__ = {
        "__call__": "Run the graph for the arguments; trace it first when there is none yet.",
        "_entry": "Where the machine code stands that a call runs, or nothing.",
    }
    _entry: int
