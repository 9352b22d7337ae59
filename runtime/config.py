"""Switches of the whole process.

>>> run_functions_eagerly(True)
>>> functions_run_eagerly()
True
>>> run_functions_eagerly(False)
"""

from __future__ import annotations

_state = {"eager": False}


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether calls of a `function` run its Python code directly, for debugging. Traced graphs are kept."""
    _state["eager"] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What `run_functions_eagerly` was last given; False at first."""
    return _state["eager"]
