"""A callable whose `__call__` is a slot of the instance: a Python method, or a faster entry point.

f(x)   →   the object in f.__call__
"""

from __future__ import annotations


class CallSlot:
    __slots__ = {"__call__": "Run the graph for the arguments; trace it first when there is none yet."}
