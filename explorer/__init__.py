"""`agc.explorer`: one HTML page that shows a function in all its forms, from source to plan, linked line by line.

    source  →  generated code  →  traced graph  →  each optimizer pass  →  plan  →  native code

>>> import agc.runtime as tf
>>> from agc.explorer import explore
>>> page = explore(lambda x: x * 2.0, tf.constant([1.0, 2.0]))
>>> page[:15]
'<!doctype html>'

The page is one file without network access. `agc explore FILE::f ARGS -o page.html` writes it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .findings import findings_page
    from .model import collect, explore
    from .page import render
    from .progress_bar import progress

_MEMBERS = {
    "collect": "model",
    "explore": "model",
    "findings_page": "findings",
    "framed": "notebook",
    "load_ipython_extension": "notebook",
    "progress": "progress_bar",
    "render": "page",
    "show": "terminal",
}
"""By name, its module, which is imported at the first use: the command line needs one of them at a time."""

__all__ = [
    "collect",
    "explore",
    "findings_page",
    "framed",
    "load_ipython_extension",
    "progress",
    "render",
    "show",
]


def __getattr__(name: str) -> Any:
    if name not in _MEMBERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_MEMBERS[name]}"), name)
    globals()[name] = found
    return found
