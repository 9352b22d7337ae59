"""Arrays that kernels may change, in place of NumPy's: values that JAX traces, and constants.

    y = np.zeros(3)                           y = KernelArray(np.zeros(3))
    y[1:] += x                    ==>         y.value = y.value.at[1:].set(y.value[1:] + x)
    if np.any(x < 0): raise ...               demand(~any(x < 0))

A slice is a view, as in NumPy: writes change the array that it is part of. Other operations return new arrays.
A condition of an `if` on traced values is a check: the kernel goes on as if it had not failed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

DEMAND: ContextVar[Callable[[Any], None]] = ContextVar("DEMAND")
"""The function that adds a check to the operation whose kernel is traced."""

_TRACED = (jax.Array, type(jax.export.symbolic_shape("n")[0]))
_SCALARS = (int, np.integer, slice, type(None), type(Ellipsis))


class KernelArray:
    """An array of JAX or NumPy, or a view of another one, `base`: its part `key`, or what a function `key` returns."""

    __slots__ = ("_base", "_is_expected", "_key", "_whole")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, whole: Any, base: KernelArray | None = None, key: Any = None, is_expected: bool = False
    ) -> None:
        self._whole, self._base, self._key, self._is_expected = whole, base, key, is_expected

    @property
    def value(self) -> Any:
        """The array of JAX or NumPy."""
        if self._base is None:
            return self._whole
        return self._key(self._base.value) if callable(self._key) else self._base.value[self._key]

    def reshape(self, *shape: Any, **_: Any) -> KernelArray:
        """Return a view with another shape."""
        return KernelArray(None, self, lambda array: array.reshape(*bare(shape)))

    def assign(self, new: Any) -> None:
        """Change all elements."""
        self[...] = new

    def __getitem__(self, key: Any) -> Any:
        key, array = bare(key), self.value
        parts = key if isinstance(key, tuple) else (key,)
        is_view = all(isinstance(part, _SCALARS) and not isinstance(part, bool) for part in parts)
        if is_view and (Ellipsis in parts or np.ndim(array[key])):
            return KernelArray(None, self, key)
        return wrapped((jnp.asarray(array) if _has_traced(parts) else array)[key])

    def __setitem__(self, key: Any, new: Any) -> None:
        if self._base is None:
            self._whole = _stored(self._whole, bare(key), bare(new))
        else:
            changed, is_reshaped = _stored(self.value, bare(key), bare(new)), callable(self._key)
            self._base[... if is_reshaped else self._key] = (
                changed.reshape(self._base.shape) if is_reshaped else changed
            )

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.value, name)
        if not callable(found) or isinstance(found, type):
            return wrapped(found)
        return lambda *args, **options: wrapped(found(*bare(args), **bare(options)), name == "all")

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        value = self.value
        if not isinstance(value, jax.Array):
            return bool(value)
        DEMAND.get()(value if self._is_expected else jnp.logical_not(value))
        return self._is_expected

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.asarray(self.value, *args, **options)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)


def _operator(name: str) -> tuple[Any, Any, Any]:
    """Return the methods of a binary operator: `x + y`, with `x` on the right, and in place."""
    compute = getattr(operator, name)

    def forward(self: KernelArray, other: Any) -> Any:
        return wrapped(compute(self.value, bare(other)))

    def backward(self: KernelArray, other: Any) -> Any:
        return wrapped(compute(bare(other), self.value))

    def in_place(self: KernelArray, other: Any) -> Any:
        self.assign(compute(self.value, bare(other)))
        return self

    return forward, backward, in_place


for _name in [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
]:
    for _prefix, _method in zip(("", "r", "i"), _operator(f"__{_name}__"), strict=True):
        setattr(KernelArray, f"__{_prefix}{_name}__", _method)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(KernelArray, f"__{_name}__", _operator(_name)[0])


def _unary(compute: Callable[[Any], Any]) -> Callable[[KernelArray], Any]:
    return lambda self: wrapped(compute(self.value))


for _name in ("neg", "pos", "invert", "abs"):
    setattr(KernelArray, f"__{_name}__", _unary(getattr(operator, _name)))


def bare(thing: Any) -> Any:
    """Return a value, or the values in a list, a tuple or a dict, as arrays of JAX and NumPy."""
    if isinstance(thing, KernelArray):
        return thing.value
    if isinstance(thing, (list, tuple)):
        return type(thing)(map(bare, thing)) if type(thing) in (list, tuple) else thing
    return {name: bare(each) for name, each in thing.items()} if isinstance(thing, dict) else thing


def wrapped(thing: Any, is_expected: bool = False) -> Any:
    """Return arrays, also in a list or a tuple, as kernel arrays; other values unchanged."""
    if isinstance(thing, (jax.Array, np.ndarray)):
        return KernelArray(thing, is_expected=is_expected)
    return type(thing)(map(wrapped, thing)) if type(thing) in (list, tuple) else thing


def _has_traced(thing: Any) -> bool:
    """Return whether a value, or one in a list, a tuple or a dict, is an array of JAX."""
    if isinstance(thing, (list, tuple)):
        return any(map(_has_traced, thing))
    return any(map(_has_traced, thing.values())) if isinstance(thing, dict) else isinstance(thing, _TRACED)


def _stored(array: Any, key: Any, new: Any) -> Any:
    """Return an array with new elements at `key`, converted to its dtype."""
    if getattr(key, "dtype", None) is np.dtype(bool) and _has_traced(key) and not np.ndim(new):
        return jnp.where(
            key.reshape(*key.shape, *(1,) * (array.ndim - key.ndim)), jnp.asarray(new, array.dtype), array
        )
    if _has_traced([array, key, new]):
        return jnp.asarray(array).at[key].set(jnp.asarray(new).astype(array.dtype))
    changed = np.array(array)
    changed[key] = new
    return changed


class NumpyFunction:
    """A function of NumPy for kernel arrays: jax.numpy's if an argument is traced."""

    def __init__(self, own: Any, counterpart: Any) -> None:
        self._own, self._counterpart = own, counterpart

    def __call__(self, *args: Any, out: Any = None, where: Any = True, **options: Any) -> Any:
        args, options = bare(args), bare(options)
        compute = self._counterpart if _has_traced([args, options]) else self._own
        found = compute(*args, **options)
        if out is None:
            return wrapped(found, self._own is np.all)
        out.assign(found if where is True else jnp.where(bare(where), found, bare(out)))
        return out

    def __getattr__(self, name: str) -> Any:  # a method such as `np.add.reduce`
        own = getattr(self._own, name)
        return NumpyFunction(own, getattr(self._counterpart, name, None)) if callable(own) else own

    def at(self, array: KernelArray, index: Any, *values: Any) -> None:
        """Combine values into an array in place."""
        array.assign(
            self._counterpart.at(
                jnp.asarray(array.value), bare(index), *map(jnp.asarray, bare(values)), inplace=False
            )
        )
