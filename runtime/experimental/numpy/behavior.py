"""`experimental_enable_numpy_behavior`: NumPy's operators, indexing and methods for all tensors of the process.

tf.constant([1, 2]) + 1.5        InvalidArgumentError        ==>    a float64 tensor
x.T, x.reshape(-1), x[[0, 2]]    AttributeError              ==>    as in NumPy
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core.tensor import Tensor
from ...core.variable import Variable
from ...interop.numpy_dispatch import manipulation, statistics
from ...ops.math.cast import cast
from . import indexing, parameters
from .lifting import compute
from .promotion import Rules, promote

MODES = ("off", "legacy", "safe", "all")

_BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "divmod": np.divmod, "matmul": np.matmul,
}  # fmt: skip
_COMPARISONS = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
NAMES = (*_BINARY, *(f"r{name}" for name in _BINARY), *_COMPARISONS)
"""The operators that change, without underscores."""


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Give tensors NumPy's operators, advanced indexing and methods, for the rest of the process.

    The methods are `T`, `astype`, `clip`, `data`, `flatten`, `max`, `mean`, `min`, `ravel`, `reshape`, `size`,
    `tolist` and `transpose`. With `prefer_float32`, Python's floats become float32. The dtype conversion modes
    are "legacy" (NumPy's promotion), "all", "safe" (nothing that loses digits), and "off" (the operators stay).

    >>> import subprocess, sys  # in a process of its own, since all tensors are concerned
    >>> program = "import agc.runtime as tf; tf.experimental.numpy.experimental_enable_numpy_behavior();"
    >>> program += "x = tf.reshape(tf.range(6), [2, 3]); print((x.T + 0.5)[[0, 2], 1].tolist())"
    >>> subprocess.check_output([sys.executable, "-c", program], text=True)
    '[3.5, 5.5]\\n'
    """
    if dtype_conversion_mode not in MODES:
        raise ValueError(
            f"dtype_conversion_mode: The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the "
            f"provided dtype conversion mode is one of {', '.join(MODES)}"
        )
    Rules.prefer_float32, Rules.mode = prefer_float32, dtype_conversion_mode
    for name, method in METHODS.items():
        setattr(Tensor, name, method)
    Tensor.__getitem__ = indexing.getitem  # type: ignore[method-assign]  # a part of a variable keeps `assign`
    if dtype_conversion_mode != "off":
        _install_operators(Tensor)
        _install_operators(Variable)


def _install_operators(kind: type) -> None:
    for name, ufunc in _BINARY.items():
        if name == "matmul" and Rules.mode != "legacy":
            continue
        setattr(kind, f"__{name}__", _operator(ufunc, getattr(kind, f"__{name}__"), False))
        setattr(kind, f"__r{name}__", _operator(ufunc, getattr(kind, f"__r{name}__"), True))
    for name, ufunc in _COMPARISONS.items():
        setattr(kind, f"__{name}__", _operator(ufunc, getattr(kind, f"__{name}__"), False))


def _operator(
    ufunc: np.ufunc, plain: Callable[[Any, Any], Any], is_reflected: bool
) -> Callable[[Any, Any], Any]:
    """Return an operator that promotes; `plain`, TensorFlow's operator, serves strings, None and other objects."""

    def method(self: Any, other: Any) -> Any:
        if self.dtype is dtypes.string or not isinstance(other, _OPERANDS):
            return plain(self, other)
        return compute(ufunc, promote((other, self) if is_reflected else (self, other)))

    return method


_OPERANDS = (Tensor, Variable, bool, int, float, complex, list, tuple, np.ndarray, np.generic)


def _astype(self: Any, dtype: Any) -> Any:
    return cast(self, dtypes.as_dtype(dtype))


def _reshape(self: Any, *shape: Any, order: str = "C") -> Any:
    return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, order)


def _tolist(self: Any) -> Any:
    return self.numpy().tolist()


METHODS: dict[str, Any] = {
    "T": property(manipulation.transpose),
    "astype": _astype,
    "clip": parameters.clip,
    "data": property(lambda self: self),
    "flatten": parameters.flatten,
    "max": parameters.max,
    "mean": statistics.mean,
    "min": parameters.min,
    "ravel": lambda self: manipulation.ravel(self),
    "reshape": _reshape,
    "size": property(parameters.size_of),
    "tolist": _tolist,
    "transpose": lambda self, axes=None: manipulation.transpose(self, axes),
}
"""The attributes that tensors get, by name."""
