"""`build`, by whomever it is called: once for a layer, outside of graphs, with the layer's name in its weights' paths.

A program may build a layer itself and give it weights before the first call, which then finds it built.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...ir.builder import eagerly
from . import calling


def guarded(build: Callable[..., Any]) -> Callable[..., Any]:
    """The `build` of a class. One that calls its base class's gets that as it is."""

    @functools.wraps(build)
    def run(layer: Any, *shapes: Any, **named: Any) -> Any:
        if layer._is_building:
            return build(layer, *shapes, **named)
        if layer.built and layer._weights:
            raise ValueError(f"Layer '{layer.name}' is built already, and has its weights.")
        layer._is_building = True
        try:
            with eagerly(), calling.named(layer.name):
                build(layer, *shapes, **named)
        finally:
            layer._is_building = False
        if not layer._build_shape:
            layer._build_shape = next(iter((*shapes, *named.values())), None)
        layer.built = True
        return None

    return run
