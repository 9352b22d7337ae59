"""JAX as an array library: pytrees, weak types, tracing to jaxprs, and `lax.cond`, `lax.while_loop` and `lax.scan`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from agc.arrays import Build, Library, Program, Type, raise_of
from agc.autograph.api import running

import jax
import jax.extend.core
import jax.numpy as jnp
from jax import lax
from jax.extend.core import get_opaque_trace_state

from .flax_state import of_the_same_level, with_flax
from .reverse import forwards_only
from .unknown_values import unknown_value

_LINEAR = {
    lax.add_p, lax.broadcast_in_dim_p, lax.convert_element_type_p, lax.max_p, lax.min_p, lax.neg_p, lax.reshape_p,
    lax.select_n_p, lax.squeeze_p, lax.sub_p,
}  # fmt: skip
"""Operations on elements whose derivatives are finite constants."""

_DISCRETE = {
    lax.and_p, lax.div_p, lax.eq_p, lax.ge_p, lax.gt_p, lax.le_p, lax.lt_p, lax.mul_p, lax.ne_p, lax.not_p, lax.or_p,
    lax.rem_p, lax.sign_p, lax.xor_p,
}  # fmt: skip
"""Operations on elements that have no derivatives if they give integers or bools."""

_WEAK_ZEROS = {"i": 0, "f": 0.0, "c": 0j}


class JaxProgram:
    """A jaxpr with its constants."""

    def __init__(self, closed: Any) -> None:
        self._closed = closed
        outer = {id(var): const for var, const in zip(closed.jaxpr.constvars, closed.consts, strict=True)}
        self.passed_on: Sequence[Any] = [outer.get(id(var)) for var in closed.jaxpr.outvars]
        self.has_effects = bool(closed.effects)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        found: list[Any] = jax.extend.core.jaxpr_as_fun(self._closed)(*arrays)
        return found

    def operations(self) -> float:
        return _operations(self._closed.jaxpr)

    def is_selectable(self) -> bool:
        return _is_selectable(self._closed.jaxpr)


def _operations(jaxpr: Any) -> float:
    count = 0.0
    for equation in jaxpr.eqns:
        if equation.primitive in (lax.cond_p, lax.while_p, lax.scan_p):
            return math.inf
        inner = _inner(equation)
        count += sum(map(_operations, inner)) if inner else 1
    return count


def _is_selectable(jaxpr: Any) -> bool:
    for equation in jaxpr.eqns:
        if equation.primitive.name in ("jit", "pjit"):
            if not all(map(_is_selectable, _inner(equation))):
                return False
        elif equation.primitive in _DISCRETE:
            if equation.outvars[0].aval.dtype.kind not in "biu" and not _is_scaling(equation):
                return False
        elif equation.primitive not in _LINEAR:
            return False
    return True


def _is_scaling(equation: Any) -> bool:
    """Return whether a product has a finite number as a factor, which is its derivative."""
    literals = [var.val for var in equation.invars if isinstance(var, jax.extend.core.Literal)]
    return equation.primitive is lax.mul_p and any(map(np.isfinite, literals))


def _inner(equation: Any) -> list[Any]:
    return [getattr(each, "jaxpr", each) for each in jax.extend.core.jaxprs_in_params(equation.params)]


class JaxLibrary:
    """Implements `agc.arrays.Library`."""

    name = "JAX"
    package = "jax"
    value = "array"
    has_weak_arrays = True
    reductions = "jnp.all(...) or jnp.any(...)"
    conversions = ".astype or jnp.broadcast_to"

    def conversion_to(self, dtype: str) -> str:
        return f".astype('{dtype}')"

    def flatten(self, value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Build]:
        leaves, tree = jax.tree.flatten(value, is_leaf=is_leaf)
        return leaves, lambda new: jax.tree.unflatten(tree, new)

    def flatten_with_path(self, value: Any, is_leaf: Callable[[Any], bool]) -> list[tuple[str, Any]]:
        pairs, _ = jax.tree.flatten_with_path(value, is_leaf=is_leaf)
        return [(jax.tree_util.keystr(path), leaf) for path, leaf in pairs]

    def structure(self, value: Any, is_leaf: Callable[[Any], bool]) -> Any:
        return jax.tree.structure(value, is_leaf=is_leaf)

    def is_array(self, leaf: Any) -> bool:
        return isinstance(leaf, (jax.Array, np.ndarray, np.generic))  # a PRNG key is one

    def as_array(self, leaf: Any) -> Any:
        return jnp.asarray(leaf)

    def type_of(self, leaf: Any) -> Type:
        return _type_of_aval(jax.typeof(leaf if self.is_array(leaf) else jnp.asarray(leaf)))

    def dtype_name(self, dtype: Any) -> str:
        return str(dtype)

    def common_dtype(self, types: Sequence[Type]) -> Any:
        if any(jnp.issubdtype(type.dtype, jax.dtypes.extended) for type in types):
            return None
        if {type.dtype == bool for type in types} == {True, False}:
            return None
        return jnp.result_type(
            *(_WEAK_ZEROS[type.dtype.kind] if type.is_weak else type.dtype for type in types)
        )

    def converted(self, leaf: Any, type: Type) -> Any:
        if type.is_weak:  # adding a Python number keeps an array weak
            leaf = jnp.asarray(leaf) + _WEAK_ZEROS[type.dtype.kind]
        elif not self.is_array(leaf):
            leaf = jnp.asarray(leaf, type.dtype)
        elif leaf.dtype != type.dtype:
            leaf = lax.convert_element_type(leaf, type.dtype)
        new = type.varies - _axes_of(jax.typeof(leaf)) if type.varies else None
        return lax.pcast(leaf, tuple(new), to="varying") if new else leaf

    def blank(self, type: Type) -> Any:
        return self.converted(jnp.zeros(type.shape, type.dtype), type._replace(is_weak=False))

    def is_concrete(self, value: Any) -> bool:
        """Return whether Python can read the value now; JAX's tracers outside of `jit` often can be read.

        >>> LIBRARY.is_concrete(jnp.ones(2)), jax.jit(lambda x: x * LIBRARY.is_concrete(x))(3)
        (True, Array(0, dtype=int32, weak_type=True))
        """
        if not isinstance(value, jax.core.Tracer):
            return True
        try:
            jax.extend.core.concrete_or_error(None, value)
        except jax.errors.ConcretizationTypeError:
            return False
        return True

    unknown_value = staticmethod(unknown_value)

    def is_integer(self, value: Any) -> bool:
        return bool(jnp.issubdtype(jnp.result_type(value), jnp.integer))

    def truth(self, value: Any) -> Any:
        value = jnp.asarray(value)
        value = value.reshape(()) if value.ndim else value
        if jnp.issubdtype(value.dtype, jax.dtypes.extended):
            raise TypeError(f"a value of {value.dtype} has no truth value")
        return value if value.dtype == bool else value != 0

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        if self.is_array(one) and self.is_array(other):
            type = self.type_of(one)
            if type == self.type_of(other) and not (type.varies or type.shape):
                return lax.select(condition, one, other)  # without a call of its own in the program
        return jnp.where(condition, one, other)

    logical_and = staticmethod(jnp.logical_and)
    logical_or = staticmethod(jnp.logical_or)
    logical_not = staticmethod(jnp.logical_not)
    minimum = staticmethod(jnp.minimum)
    maximum = staticmethod(jnp.maximum)
    arange = staticmethod(jnp.arange)
    code = staticmethod(jnp.int32)
    rows = staticmethod(jnp.unstack)
    trace_state = staticmethod(get_opaque_trace_state)
    tracing = staticmethod(with_flax)

    def item(self, array: Any, index: Any) -> Any:
        return lax.dynamic_index_in_dim(array, index, keepdims=False)

    def reversed(self, array: Any) -> Any:
        return jnp.flip(array, 0)

    def trace(self, function: Callable[..., list[Any]], types: Sequence[Type]) -> Program:
        return JaxProgram(jax.make_jaxpr(of_the_same_level(function))(*map(self._example, types)))

    def _example(self, type: Type) -> Any:
        if type.varies:
            return self.converted(jnp.zeros(type.shape, type.dtype), type)
        return jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.is_weak)

    def types_of_results(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return jax.tree.map(_type_of_aval, jax.eval_shape(function, *arguments))

    def cond(self, test: Any, then: Callable[[], list[Any]], orelse: Callable[[], list[Any]]) -> list[Any]:
        results: list[Any] = lax.cond(test, then, orelse)
        return results

    def while_loop(
        self, test: Callable[[list[Any]], Any], body: Callable[[list[Any]], list[Any]], start: list[Any]
    ) -> list[Any]:
        carry = lax.while_loop(test, body, start)
        where = running()
        return [forwards_only(array, where) for array in carry]

    def scan(
        self,
        body: Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]],
        start: list[Any],
        rows: list[Any],
        length: int,
    ) -> tuple[list[Any], list[Any]]:
        carry, stacked = lax.scan(body, start, rows, length)
        return carry, stacked

    def raise_when_run(self, errors: tuple[BaseException, ...], code: Any) -> None:
        jax.debug.callback(lambda code: raise_of(errors, int(code)), code)


def _type_of_aval(aval: Any) -> Type:
    return Type(aval.shape, aval.dtype, bool(getattr(aval, "weak_type", False)), _axes_of(aval))


def _axes_of(aval: Any) -> frozenset[str]:
    """Return the axes of the mesh along which a value differs, in the body of a `jax.shard_map`."""
    kind = getattr(aval, "manual_axis_type", None)
    found = getattr(aval, "vma", None) if kind is None else kind.varying  # `vma` in older versions of JAX
    return found or frozenset()


LIBRARY: Library = JaxLibrary()
