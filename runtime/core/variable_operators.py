"""Variables as operands of Python: conversions read the value, and operators in place are refused.

float(v), bool(v), list(v), np.array(v)      as of v.value()
v += 1                                       RuntimeError: use v.assign_add(1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .tensor import Tensor


def _refused(operator: str, method: str) -> Callable[[Any, Any], NoReturn]:
    def refuse(self: Any, other: Any) -> NoReturn:
        raise RuntimeError(
            f"`variable {operator}= value` with `tf.Variable`s is not supported. Use `variable.{method}` to modify the "
            f"variable, or `out = variable {operator} value` if you need to get a new output Tensor."
        )

    return refuse


class AsValue:
    """Python's conversions of a variable, and its operators in place."""

    if TYPE_CHECKING:

        def value(self) -> Tensor: ...
        def numpy(self) -> Any: ...

    __iadd__ = _refused("+", "assign_add(value)")
    __isub__ = _refused("-", "assign_sub(value)")
    __imul__ = _refused("*", "assign(variable * value)")
    __itruediv__ = _refused("/", "assign(variable / value)")
    __ipow__ = _refused("**", "assign(variable ** value)")

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.value())

    def __index__(self) -> int:
        return self.value().__index__()

    def __len__(self) -> int:
        return len(self.value())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.value(), dtype=dtype)
