"""The operators that generated code calls. Each one dispatches on the type of the deciding value to a backend.

    (n,) = ag__.cond(n % 2 == 0, if_true, if_false, (n,), names=('n',))

For a plain Python value the backend is Python itself: `cond` calls `if_true(n)` or `if_false(n)` and nothing else.
Operators remove their frames from the traceback of an exception that passes through them.

All operators are imported at once: Python reads the attributes of a module that has a `__getattr__` slowly, and
converted code reads `building` or `live` in each call.
"""

from __future__ import annotations

import sys
from builtins import list, type  # noqa: UP029  (generated code reads them as attributes)

from ..conversion.converter import Converter
from ..introspection.frames import f_back, leveled
from ..staging import PYTHON, Pending, Undefined, backends, ld, show_liveness
from .asserts import check
from .comprehensions import decided, gone_through, joined, known, listed, only, part, selected, tested
from .conditionals import cases, cond, keep
from .feature_operators import eq, ne, print_
from .item_assignment import at, put, put_updated, within
from .logical import and_, compare, if_exp, not_, or_
from .loops import for_loop, until, while_loop
from .membership import in_, not_in
from .pattern_matching import has_length, is_
from .variables import attr, cell, item, items, ld_cell, own_list

__all__ = [
    "f_back", "leveled", "live", "building", "backends", "PYTHON", "type", "list",
    "cond", "cases", "keep", "while_loop", "for_loop", "until", "if_exp", "and_", "or_", "not_", "compare", "check",
    "converted", "receiver", "ld", "ld_cell", "Undefined", "Pending", "attr", "item", "items", "cell",
    "print_", "eq", "ne", "own_list",
    "listed", "gone_through", "tested", "selected", "joined", "only", "part", "known", "decided",
    "put", "put_updated", "within", "at", "has_length", "is_", "in_", "not_in",
]  # fmt: skip

# `converted(f)` returns `f` or its converted version, to be called at once: see conversion.py.
converter = Converter(sys.modules[__name__])
converted, receiver = converter.operator, converter.receiver

live: int  # whether some backend owns values now
building: int  # the same, or a graph is being built by code that is not converted
show_liveness(sys.modules[__name__])
