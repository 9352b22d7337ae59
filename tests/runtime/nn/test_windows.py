"""Depthwise convolutions and pools, and their gradients, are the same in C and in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.nn import windows


def numbers(*shape: int, dtype: str = "float32") -> Any:
    return tf.constant(np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(dtype))


def results(compute: Callable[..., Any], *tensors: Any) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = compute(*tensors)
    weights = tf.constant(
        np.cos(np.arange(y.shape.num_elements())).reshape(y.shape).astype(y.dtype.as_numpy_dtype)
    )
    return [y.numpy(), *(gradient.numpy() for gradient in tape.gradient(y, tensors, weights))]


def check(monkeypatch: pytest.MonkeyPatch, compute: Callable[..., Any], *tensors: Any) -> None:
    """Compare both, and require that the extension computes something."""
    if windows.native is None:
        pytest.skip("the extension is not built")
    kinds: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(windows, "native", Recorded(kinds))
        found = results(compute, *tensors)
        patch.setattr(windows, "native", None)
        wanted = results(compute, *tensors)
    assert kinds
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)


class Recorded:
    """The extension, which notes the kinds that it computes."""

    def __init__(self, kinds: list[str]) -> None:
        self.kinds, self.native = kinds, windows.native

    def slide(self, kind: str, *arguments: Any) -> Any:
        self.kinds.append(kind)
        return self.native.slide(kind, *arguments)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [2, 1], [0, 3], [0, 0]]])
@pytest.mark.parametrize(("strides", "dilations"), [((1, 1), (1, 1)), ((2, 2), (1, 1)), ((1, 1), (2, 3))])
@pytest.mark.parametrize("outputs", [1, 2])
def test_depthwise_convolutions(
    outputs: int, strides: Any, dilations: Any, padding: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, w = numbers(2, 9, 10, 35, dtype=dtype), numbers(3, 2, 35, outputs, dtype=dtype)
    check(
        monkeypatch,
        lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, *strides, 1], padding, None, dilations),
        x,
        w,
    )


def test_depthwise_convolutions_along_one_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = numbers(2, 11, 6), numbers(3, 1, 12)
    check(monkeypatch, lambda x, w: tf.nn.conv1d(x, w, 2, "SAME"), x, w)


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("window", "strides"), [([2, 2], [2, 2]), ([3, 2], [1, 2]), ([2], [1])])
def test_pools(kind: str, padding: str, window: Any, strides: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = numbers(2, *(9, 10)[: len(window)], 35)
    check(monkeypatch, lambda x: tf.nn.pool(x, window, kind, strides, padding), x)


def test_nan_and_infinity_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.constant([[[[np.nan], [1.0], [np.inf]], [[-np.inf], [2.0], [3.0]]]])
    for kind in ("MAX", "AVG"):
        check(monkeypatch, lambda x, kind=kind: tf.nn.pool(x, [2, 2], kind, padding="SAME"), x)


def test_the_extension_refuses_other_shapes() -> None:
    if windows.native is None:
        pytest.skip("the extension is not built")
    geometry = ((2, 2), (1, 1), (1, 1), (0, 0))
    x, y, w = (np.zeros(shape, np.float32) for shape in ((1, 3, 3, 2), (1, 2, 2, 2), (2, 2, 2)))
    assert windows.native.slide("convolve", x, y, w, None, geometry)
    assert not windows.native.slide("convolve", x, y, w[:1].copy(), None, geometry)
    assert not windows.native.slide("convolve", x, y[..., :1].copy(), w, None, geometry)
    assert not windows.native.slide("sum", x, y, w, None, geometry)
    with pytest.raises(ValueError, match="no kind twist"):
        windows.native.slide("twist", x, y, None, None, geometry)
