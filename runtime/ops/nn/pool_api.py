"""The pooling functions of `tf.nn`: each calls `max_pool` or `avg_pool` over some axes.

>>> max_pool2d([[[[1.], [2.]], [[3.], [4.]]]], 2, 2, "VALID").numpy().tolist()
[[[[4.0]]]]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ... import dtypes
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export, export_member
from ...core.tensor import Tensor
from ..framework.attribute_parsers import read_axes
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Name
from . import pool_primitive
from .window_geometry import is_channels_first, per_axis, read_padding

_POOLS: dict[str, Any] = {"MAX": pool_primitive.max_pool, "AVG": pool_primitive.avg_pool}


def _pool(
    what: str,
    kind: str,
    n: int,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    name: Name,
) -> Tensor:
    x = convert_to_tensor(input)
    if x.shape.rank not in (None, n + 2):
        raise ValueError(f"{what}: `input` must have rank {n + 2}. Received: shape {x.shape}")
    return _POOLS[kind](x, name=name, **_setting(what, n, ksize, strides, padding, data_format))  # type: ignore[no-any-return]


def _setting(what: str, n: int, ksize: Any, strides: Any, padding: Any, data_format: Any) -> dict[str, Any]:
    first = is_channels_first(data_format, n, what)
    pads_kind, pads = read_padding(padding, n, first, what)
    if pads:
        pads = (0,) * (4 if first else 2) + pads + (0,) * (0 if first else 2)
    return {
        "ksize": _whole(ksize, n, first, f"{what}: ksize"),
        "strides": _whole(strides, n, first, f"{what}: strides"),
        "padding": pads_kind,
        "explicit_paddings": pads,
    }


def _whole(value: Any, n: int, first: bool, what: str) -> tuple[int, ...]:
    """Return window sizes or strides for each axis of the tensor. Channels can be pooled, batches cannot."""
    given = read_axes(value)
    assert given is not None
    if len(given) == n + 2:
        if given[0] != 1 or min(given) < 1:
            raise ValueError(f"{what} must be positive, and 1 for the batch: {list(given)}")
        return given
    inner = per_axis(value, n, first, what)
    return (1, 1, *inner) if first else (1, *inner, 1)


_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC", None: None}


def _over(n: int | None, name: str, kind: str, manual: str) -> Callable[..., Tensor]:
    """Declare a pooling function over `n` axes, or over those between batch and channels."""
    what = name

    @cached_dispatch
    def pool(
        input: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: str | None = _FORMATS[n],
        name: Name = None,
    ) -> Tensor:  # fmt: skip
        x = convert_to_tensor(input)
        axes = _spatial(x, data_format, what) if n is None else n
        return _pool(what, kind, axes, x, ksize, strides, padding, data_format, name)

    return export_member(pool, manual, export=(f"nn.{name}",))


max_pool1d = _over(1, "max_pool1d", "MAX", """Return the largest elements of windows over one axis.

    Args:
        input: [batch, width, channels].
        ksize, strides: an integer, or a list of 1 or 3.
        padding: "SAME", "VALID", or a list of `[before, after]` for every axis.

    >>> max_pool1d([[[1.], [3.], [2.]]], 2, 1, "VALID").numpy().tolist()
    [[[3.0], [3.0]]]
    """)  # fmt: skip
max_pool2d = _over(2, "max_pool2d", "MAX", """Return the largest elements of windows over two axes.

    `input` is [batch, height, width, channels]; arguments as for `max_pool1d`.

    >>> max_pool2d([[[[1.], [2.]], [[3.], [4.]]]], 2, 1, "SAME").numpy()[0, :, :, 0].tolist()
    [[4.0, 4.0], [4.0, 4.0]]
    """)  # fmt: skip
max_pool3d = _over(3, "max_pool3d", "MAX", """Return the largest elements of windows over three axes.

    `input` is [batch, depth, height, width, channels]; arguments as for `max_pool1d`.

    >>> max_pool3d([[[[[1.], [2.]], [[3.], [4.]]]]], [1, 2, 2], 1, "VALID").numpy().tolist()
    [[[[[4.0]]]]]
    """)  # fmt: skip
avg_pool1d = _over(1, "avg_pool1d", "AVG", """Return the means of windows over one axis; see `max_pool1d`.

    >>> avg_pool1d([[[1.], [3.], [2.]]], 2, 1, "VALID").numpy().tolist()
    [[[2.0], [2.5]]]
    """)  # fmt: skip
avg_pool2d = _over(2, "avg_pool2d", "AVG", """Return the means of windows over two axes; see `max_pool2d`.

    >>> avg_pool2d([[[[1.], [2.]], [[3.], [4.]]]], 2, 1, "SAME").numpy()[0, :, :, 0].tolist()
    [[2.5, 3.0], [3.5, 4.0]]
    """)  # fmt: skip
avg_pool3d = _over(3, "avg_pool3d", "AVG", """Return the means of windows over three axes; see `max_pool3d`.

    >>> avg_pool3d([[[[[1.], [2.]], [[3.], [4.]]]]], [1, 2, 2], 1, "VALID").numpy().tolist()
    [[[[[2.5]]]]]
    """)  # fmt: skip
max_pool = _over(None, "max_pool", "MAX", """Return the largest elements of windows over all inner axes.

    These are the one, two or three axes between batch and channels; arguments as for `max_pool1d`.

    >>> max_pool([[[1.], [3.], [2.]]], 2, 1, "VALID").numpy().tolist()
    [[[3.0], [3.0]]]
    """)  # fmt: skip
avg_pool = _over(None, "avg_pool", "AVG", """Return the means of windows over all inner axes; see `max_pool`.

    >>> avg_pool([[[1.], [3.], [2.]]], 2, 1, "VALID").numpy().tolist()
    [[[2.0], [2.5]]]
    """)  # fmt: skip


def _spatial(x: Tensor, data_format: str | None, what: str) -> int:
    rank = len(data_format) if data_format is not None else x.shape.rank
    if rank is None:
        raise ValueError(f"{what}: the rank of `input` must be known, or a `data_format` given")
    if not 3 <= rank <= 5:
        raise ValueError(f"{what}: `input` must have rank 3, 4 or 5. Received: rank {rank}")
    return rank - 2


class MaxPoolWithArgmax(NamedTuple):
    """The result of `max_pool_with_argmax`."""

    output: Tensor
    argmax: Tensor


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: Name = None,
) -> MaxPoolWithArgmax:
    """Return the largest elements of windows over two axes, and their indices in the flattened `input`.

    An index is `(y * width + x) * channels + channel`; `include_batch_in_index` adds the batch as the leading
    axis.

    >>> values, places = max_pool_with_argmax([[[[1.], [2.]], [[4.], [3.]]]], 2, 2, "VALID")
    >>> places.numpy().tolist()
    [[[[2]]]]
    """
    if data_format != "NHWC":
        raise ValueError(f"max_pool_with_argmax: `data_format` must be 'NHWC'. Received: {data_format!r}")
    x = convert_to_tensor(input)
    if x.shape.rank not in (None, 4):
        raise ValueError(f"max_pool_with_argmax: `input` must have rank 4. Received: shape {x.shape}")
    setting = _setting("max_pool_with_argmax", 2, ksize, strides, padding, data_format)
    values, positions = pool_primitive.max_pool_argmax(
        x, output_dtype=output_dtype, include_batch_in_index=include_batch_in_index, name=name, **setting
    )
    return MaxPoolWithArgmax(values, positions)


@export("nn.pool")
def pool(
    input: TensorLike,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: str = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """Pool with the type "MAX" or "AVG" over as many axes as `window_shape` has numbers.

    Args:
        dilations: the distance between elements of a window; not together with strides larger than 1.

    >>> pool([[[1.], [3.], [2.]]], [2], "MAX").numpy().tolist()
    [[[3.0], [3.0]]]
    >>> pool([[[1.], [3.], [2.]]], [2], "AVG", dilations=[2]).numpy().tolist()
    [[[1.5]]]
    """
    window = shapes.as_dims(window_shape)
    assert window is not None
    n = len(window)
    if not isinstance(pooling_type, str) or pooling_type not in _POOLS:
        raise ValueError(f"Invalid `pooling_type`: {pooling_type!r}. Should be 'AVG' or 'MAX'")
    if not 1 <= n <= 3:
        raise ValueError(f"pool: `window_shape` must have 1, 2 or 3 numbers. Received: {window_shape!r}")
    first = is_channels_first(data_format, n, "pool")
    steps = per_axis(strides, n, first, "pool: strides")
    rates = per_axis(dilations, n, first, "pool: dilations")

    def pooled(x: Any, padding: str) -> Tensor:
        return _pool("pool", pooling_type, n, x, window, steps, padding, data_format, name)

    if max(rates) == 1:
        return pooled(input, padding)
    if max(steps) > 1:
        raise ValueError("`strides` > 1 not supported in conjunction with `dilations` > 1")
    from .dilation import with_space_to_batch

    axes = [axis + (2 if first else 1) for axis in range(n)]
    x, of_part = convert_to_tensor(input), lambda part, *_: pooled(part, "VALID")
    # Pool separately for each class of elements with a common remainder.
    return with_space_to_batch(x, rates, padding, of_part, window, axes)  # type: ignore[no-any-return]
