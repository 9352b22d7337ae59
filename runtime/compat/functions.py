"""TensorFlow 1 functions that differ from TensorFlow 2's of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as runtime

from ..core.conversion import convert_to_tensor, is_tensor
from ..ir.builder import current
from .ctc import ctc_beam_search_decoder, ctc_loss


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Select from `x` and `y`, which have one shape: by element, or by row if `condition` is a vector.

    Raises InvalidArgumentError when the shapes do not fit: nothing is broadcast.

    >>> where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy().tolist()
    [[1, 2], [7, 8]]
    """
    if x is None or y is None:
        return runtime.where(condition, x, y, name)
    x = convert_to_tensor(x, y.dtype if is_tensor(y) and not is_tensor(x) else None)
    y = convert_to_tensor(y, x.dtype)
    condition = convert_to_tensor(condition, runtime.bool)
    sizes, flags = runtime.shape(x), runtime.shape(condition)
    rank = runtime.rank(condition)
    is_fitting = (rank <= 1) | (rank == runtime.rank(x))
    same = runtime.minimum(rank, runtime.rank(x))
    runtime.Assert(
        is_fitting & _is_same(sizes, runtime.shape(y)) & _is_same(flags[:same], sizes[:same]),
        ["where: `x` and `y` have one shape, and `condition` has it, or is a scalar, or has a flag for each row; the "
         "shapes are", sizes, runtime.shape(y), flags],
    )  # fmt: skip
    ones = runtime.ones([runtime.rank(x) - same], runtime.int32)
    return runtime.where(runtime.reshape(condition, runtime.concat([flags, ones], 0)), x, y, name)


def _is_same(one: Any, other: Any) -> Any:
    """Return whether two shapes are the same; an InvalidArgumentError counts as different."""
    return runtime.equal(runtime.size(one), runtime.size(other)) & runtime.reduce_all(one == other)


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """Call `tf.cond`; in eager code return the element of a one-element list, unless `strict`.

    >>> cond(True, lambda: [1], lambda: [2])
    1
    """
    result = runtime.cond(pred, true_fn if fn1 is None else fn1, false_fn if fn2 is None else fn2, name=name)
    is_single = isinstance(result, (list, tuple)) and len(result) == 1
    return result[0] if is_single and not strict and current() is None else result


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Call `tf.while_loop`; return a single variable without its list, unless `return_same_structure`.

    >>> int(while_loop(lambda i: i < 3, lambda i: i + 1, [0]))
    3
    """
    result = runtime.while_loop(
        cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations, name
    )  # fmt: skip
    is_single = isinstance(result, (list, tuple)) and len(result) == 1
    return result[0] if is_single and not return_same_structure else result


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """Call `tf.nn.dropout` with the fraction to keep instead of the fraction to drop."""
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
    if keep_prob is None and rate is None:
        raise ValueError("dropout needs `rate` or `keep_prob`")
    return runtime.nn.dropout(x, 1 - keep_prob if rate is None else rate, noise_shape, seed, name)


def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, dim: int = -1, name: str | None = None, axis: int | None = None
) -> Any:
    """Call `tf.nn.softmax_cross_entropy_with_logits` with a gradient for `logits` only."""
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided.")
    return runtime.nn.softmax_cross_entropy_with_logits(
        runtime.stop_gradient(labels), logits, dim if axis is None else axis, name
    )


OWN = {
    "where": where,
    "cond": cond,
    "while_loop": while_loop,
    "nn.ctc_beam_search_decoder": ctc_beam_search_decoder,
    "nn.ctc_loss": ctc_loss,
    "nn.dropout": dropout,
    "nn.softmax_cross_entropy_with_logits": softmax_cross_entropy_with_logits,
}

OTHER = frozenset({
    "image.resize", "image.sample_distorted_bounding_box", "losses", "metrics",
    "nn.dilation2d", "nn.erosion2d", "profiler.profile", "saved_model.load", "sparse.split",
    "strings.split", "summary.audio", "summary.histogram", "summary.image", "summary.scalar", "summary.text",
    "test.compute_gradient",
})  # fmt: skip
"""Names of functions that differ in TensorFlow 1, and are not implemented."""
