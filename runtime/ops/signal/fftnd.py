"""The top-level n-dimensional Fourier transforms of TensorFlow: all arguments are required.

In `tf.signal.fftnd` and related functions, lengths and axes are optional.

>>> fftnd([[1.0, 2.0], [3.0, 4.0]], fft_length=[2], axes=[0]).numpy().tolist()
[[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
"""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ..framework.op import Name
from ..math.cast import cast
from . import fft_api


@export("fftnd")
def fftnd(input: TensorLike, fft_length: Any, axes: Any, name: Name = None) -> Tensor:
    """Return the Fourier transform along `axes`, truncated or padded with zeros to `fft_length`.

    >>> import agc.runtime as tf
    >>> tf.signal.fftnd(tf.ones([2, 2], tf.complex64), [2, 2], [0, 1]).numpy().real.tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return fft_api.fftnd(input, fft_length, axes, name=name)


@export("ifftnd")
def ifftnd(input: TensorLike, fft_length: Any, axes: Any, name: Name = None) -> Tensor:
    """Invert `fftnd`.

    >>> ifftnd([[4.0, 6.0], [-2.0, -2.0]], [2], [0]).numpy().tolist()
    [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    return fft_api.ifftnd(input, fft_length, axes, name=name)


@export("rfftnd")
def rfftnd(
    input: TensorLike,
    fft_length: Any,
    axes: Any,
    Tcomplex: Any = dtypes.complex64,  # noqa: N803 (TensorFlow's name)
    name: Name = None,
) -> Tensor:
    """Compute `fftnd` of real numbers, in the dtype `Tcomplex`: the last of `axes` keeps its first half and the middle.

    >>> rfftnd([[1.0, 2.0], [3.0, 4.0]], [2], [0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """
    return cast(fft_api.rfftnd(input, fft_length, axes, name=name), Tcomplex)


@export("irfftnd")
def irfftnd(
    input: TensorLike,
    fft_length: Any,
    axes: Any,
    Treal: Any = dtypes.float32,  # noqa: N803 (TensorFlow's name)
    name: Name = None,
) -> Tensor:
    """Invert `rfftnd`, in the dtype `Treal`.

    >>> irfftnd([[4.0, 6.0], [-2.0, -2.0]], [2], [0]).numpy().tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return cast(fft_api.irfftnd(input, fft_length, axes, name=name), Treal)
