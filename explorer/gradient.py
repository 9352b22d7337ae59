"""The graph of a function's gradient: of the sum of its floating-point results, by its arguments and variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
from agc.runtime.ir.graph import Graph


def gradient_graph(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Graph | None, str]:
    """Return the graph of the gradient; None and the reason if there is no gradient."""

    def gradient(*args: Any, **kwargs: Any) -> Any:
        sources = [each for each in tf.nest.flatten((args, kwargs)) if _is_real(each)]
        with tf.GradientTape(persistent=True) as tape:
            for source in sources:
                tape.watch(source)
            results = [each for each in tf.nest.flatten(function(*args, **kwargs)) if _is_real(each)]
        sources += tape.watched_variables()
        return [each for each in tape.gradient(results, sources) if each is not None] if results else []

    # The inputs of the graph have the names of the function's parameters.
    gradient.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    try:
        graph: Graph = tf.function(gradient, autograph=False).get_concrete_function(*args, **kwargs).graph
    except Exception as error:  # of any operation: the page says so instead of failing
        return None, f"{type(error).__name__}: {error}"
    if not graph.outputs:
        return None, "No floating-point result depends on a floating-point argument or variable."
    return graph, ""


def _is_real(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and value.dtype.is_floating
