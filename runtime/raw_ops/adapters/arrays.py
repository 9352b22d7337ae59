"""Adapters of raw operations on arrays, and of their arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import agc.runtime as tf
import numpy as np
from agc.runtime.core.shapes import normal_axis


def known(value: Any) -> Any:
    """Return an argument as a NumPy array if it is known while the function is traced; else None."""
    return tf.get_static_value(value) if tf.is_tensor(value) else np.asarray(value)


def static(value: Any) -> Any:
    """Return an axis or a count as a Python integer if it is known; else the tensor."""
    found = known(value)
    return value if found is None else int(found.item())


def text(value: Any) -> str:
    """Return a text that is known while the function is traced."""
    found = np.asarray(known(value)).item()
    return found.decode() if isinstance(found, bytes) else str(found)


def axes(value: Any) -> Any:
    """Return axes as an integer or a list if they are known; else the tensor."""
    found = known(value)
    return value if found is None else np.asarray(found, int).tolist()


def list_of(value: Any) -> list[int]:
    """Return a vector of integers as a list. Raises ValueError if the graph computes it."""
    numbers = known(value)
    if numbers is None:
        raise ValueError(f"{value!r} gets its value when the graph runs, but the operation needs it before")
    found: list[int] = np.asarray(numbers).tolist()
    return found


def bounds(k: Any) -> Any:
    """Return the numbers of diagonals: one, or the lowest and the highest."""
    found = list_of(k)
    return found if np.ndim(found) == 0 else found[0] if len(found) == 1 else tuple(found)


def dtype(value: Any) -> Any:
    return tf.convert_to_tensor(value).dtype


def vjp(function: Callable[[Any], Any], x: Any, dy: Any) -> Any:
    """Return the gradient of `function` at `x` for the cotangent `dy`."""
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x, output_gradients=dy, unconnected_gradients="zero")


def c_division(x: Any, y: Any) -> Any:
    """Return the quotient as in C: that of integers is rounded to zero."""
    x = tf.convert_to_tensor(x)
    return tf.truncatediv(x, y) if x.dtype.is_integer else tf.realdiv(x, y)


def truncated_division(x: Any, y: Any) -> Any:
    """Return the quotient rounded to zero."""
    quotient = c_division(x, y)
    return quotient if quotient.dtype.is_integer else tf.sign(quotient) * tf.floor(tf.abs(quotient))


def bucketize(input: Any, boundaries: Sequence[float]) -> Any:
    """Return how many boundaries each number reaches."""
    x, numbers = tf.cast(input, tf.float64), np.array(list(boundaries), np.float32)
    if not (numbers[:-1] <= numbers[1:]).all():
        raise ValueError("Expected sorted boundaries")
    limits = tf.constant(numbers, tf.float64)
    return tf.reshape(tf.searchsorted(limits, tf.reshape(x, [-1]), "right"), tf.shape(x))


def bincount(input: Any, size: Any, weights: Any, binary_output: bool) -> Any:
    """Return counts, or sums of weights if there are any, of the numbers below `size`; by row for a matrix."""
    input, weights = tf.convert_to_tensor(input), tf.convert_to_tensor(weights)
    size = static(size)
    has_weights = weights.shape.num_elements() != 0
    return tf.math.bincount(
        input,
        weights=weights if has_weights else None,
        minlength=size,
        maxlength=size,
        dtype=weights.dtype,
        axis=-1 if input.shape.rank == 2 else None,
        binary_output=binary_output,
    )


def population_count(x: Any) -> Any:
    """Return the number of bits of each integer that are 1, as uint8: sums of 1 bit, then of pairs, then of fours, …"""
    x = tf.convert_to_tensor(x)
    size = x.dtype.size * 8
    x, step = tf.bitcast(x, f"uint{size}"), 1
    while step < size:
        mask = ((1 << size) - 1) // ((1 << step) + 1)  # 0b…0101, 0b…00110011, …
        x = (x & mask) + (tf.bitwise.right_shift(x, step) & mask)
        step *= 2
    return tf.cast(x, tf.uint8)


def concat_offset(axis: Any, shapes: Sequence[Any]) -> list[Any]:
    """Return where each of the tensors with these shapes begins in their concatenation."""
    sizes = tf.stack(list(shapes))
    rank = tf.shape(sizes)[1]
    on_axis = tf.gather(tf.eye(rank, dtype=sizes.dtype), tf.where(axis < 0, axis + rank, axis))
    return tf.unstack(tf.cumsum(sizes * on_axis, 0, exclusive=True))  # type: ignore[no-any-return]


def axis_in_format(x: Any, source: str, target: str) -> Any:
    """Return the number in the format `target` of an axis that has the number `x` in the format `source`."""
    places = tf.constant([target.index(axis) for axis in source] * 2)
    return tf.gather(places, tf.convert_to_tensor(x) + len(source))


def permuted_format(x: Any, source: str, target: str) -> Any:
    """Return a vector, or pairs, for the axes of one data format in the order of another."""
    x = tf.convert_to_tensor(x)
    count = x.shape[0] if x.shape.rank else None
    if count == len(source) - 2:
        source, target = ("".join(axis for axis in names if axis not in "NC") for names in (source, target))
    return tf.gather(x, [source.index(axis) for axis in target])


def list_difference(x: Any, y: Any, out_idx: Any) -> tuple[Any, Any]:
    """Return the elements of `x` that are not in `y`, and their positions."""
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    numbers = tf.unique(tf.concat([y, x], 0)).idx  # those of `y` come first
    known = tf.reduce_max(tf.concat([[-1], numbers[: tf.size(y)]], 0))
    places = tf.reshape(tf.where(numbers[tf.size(y) :] > known), [-1])
    return tf.gather(x, places), tf.cast(places, out_idx)


def nth_element(input: Any, n: Any, reverse: bool) -> Any:
    """Return the n-th smallest element of each row, or the n-th largest."""
    return tf.gather(tf.sort(input, direction="DESCENDING" if reverse else "ASCENDING"), n, axis=-1)


def select(condition: Any, x: Any, y: Any) -> Any:
    """Select by element, or by row if `condition` is a vector."""
    return tf.compat.v1.where(condition, x, y)


def unique_along(x: Any, axis: Any, out_idx: Any) -> tuple[Any, Any, Any]:
    """Return the different slices along an axis in the order of their first places, their indices, and counts."""
    x, along = tf.convert_to_tensor(x), list_of(axis)
    if not along and x.shape.rank == 1:
        return tuple(tf.unique_with_counts(x, out_idx))  # type: ignore[return-value]
    position = normal_axis(along[0] if along else 0, x.shape.rank)
    rows = _axis_first(x, position)
    numbers = _row_numbers(rows)
    _, indices, counts = tf.unique_with_counts(numbers, out_idx)
    firsts = tf.math.unsorted_segment_min(tf.range(tf.size(numbers)), indices, tf.size(counts))
    return _axis_first(tf.gather(rows, firsts), position, back=True), indices, counts


def _row_numbers(rows: Any) -> Any:
    """Return a number for each row, the same for equal rows; a row with a NaN is equal to no row.

    The elements become numbers, and then pairs of columns do until there is one column.
    """
    count = tf.shape(rows)[0]
    width = tf.reduce_prod(tf.shape(rows)[1:])

    def numbered(items: Any, columns: Any) -> Any:
        numbers = tf.unique(tf.reshape(items, [-1]), tf.int64).idx
        return tf.reshape(numbers, tf.stack([count, columns]))

    def paired(numbers: Any) -> Any:
        padded = tf.pad(numbers, [[0, 0], [0, tf.shape(numbers)[1] % 2]])
        pairs = padded[:, ::2] * tf.size(padded, tf.int64) + padded[:, 1::2]
        return numbered(pairs, tf.shape(pairs)[1])

    first = tf.pad(numbered(rows, width), [[0, 0], [0, tf.cast(width == 0, tf.int32)]])
    (last,) = tf.while_loop(
        lambda numbers: tf.shape(numbers)[1] > 1, paired, (first,), (tf.TensorShape([None, None]),)
    )
    return last[:, 0]


def _axis_first(x: Any, axis: int, back: bool = False) -> Any:
    order = [axis, *(i for i in range(x.shape.rank) if i != axis)]
    return tf.transpose(x, np.argsort(order).tolist() if back else order)


def broadcast_gradient_axes(s0: Any, s1: Any) -> tuple[Any, Any]:
    """Return the axes that the gradients of two broadcast operands are summed over."""
    shapes = [tf.convert_to_tensor(shape) for shape in (s0, s1)]
    ranks = [shape.shape[0] for shape in shapes]
    if None in ranks:
        raise tf.errors.UnimplementedError("BroadcastGradientArgs needs shapes of known lengths")
    padded = [
        tf.concat([tf.ones([max(ranks) - rank], shape.dtype), shape], 0)
        for rank, shape in zip(ranks, shapes, strict=True)
    ]
    known = [tf.get_static_value(shape) for shape in padded]
    if any(shape is None for shape in known):
        axes = [tf.where((one == 1) & (other != 1)) for one, other in (padded, padded[::-1])]
        one, other = [tf.cast(tf.reshape(each, [-1]), shapes[0].dtype) for each in axes]
        return one, other
    one, other = [
        tf.constant(
            [axis for axis, (a, b) in enumerate(zip(*pair, strict=True)) if a == 1 != b], shapes[0].dtype
        )
        for pair in (known, known[::-1])
    ]
    return one, other


def without_gradient(input: Any, message: str) -> Any:
    """Return `input`; its gradient is a LookupError."""

    @tf.custom_gradient
    def identity(x: Any) -> Any:
        def refuse(dy: Any) -> Any:
            raise LookupError(f"Gradient explicitly disabled. Reason: {message}")

        return tf.identity(x), refuse

    return identity(input)


def printed(input: Any, data: Sequence[Any], message: str, summarize: int) -> Any:
    """Print a message and data to the standard error; return `input`."""
    tf.print(message, *data, summarize=summarize, sep="", output_stream=sys.stderr)
    return tf.identity(input)


def stream(name: str) -> Any:
    """Return the output of `tf.print` with this name in TensorFlow."""
    return {"stdout": sys.stdout, "stderr": sys.stderr}.get(name, name)


def five(number: Any) -> Any:
    """Return a number as text of at least five digits."""
    return tf.as_string(number, width=5, fill="0")
