"""Assertions on tensors and arrays: `assertAllClose`, `assertAllEqual` and others of `tf.test.TestCase`."""

from __future__ import annotations

import re
import unittest
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..composite.indexed_slices import IndexedSlices
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..ragged.tensor import RaggedTensor
from ..sparse.dense_conversion import to_dense
from ..sparse.tensor import SparseTensor

Array = Any


class ArrayAssertions(unittest.TestCase):
    """Assertions whose arguments are nests of tensors, arrays and Python values.

    A message of a failure has the elements that differ. `evaluate` returns the value of a tensor.
    """

    def evaluate(self, tensors: Any) -> Any:
        raise NotImplementedError

    def _array(self, value: Any) -> Array:
        """Return a tensor or Python value as an array. Raises TypeError for a ragged one. Functions are not called."""
        if type(value) in (list, tuple) and any(map(callable, value)):
            return np.asarray(value)
        value = value if callable(value) else self._evaluated(value)
        if isinstance(value, IndexedSlices):
            raise TypeError("the assertion takes dense values: compare `values` and `indices`")
        if isinstance(value, SparseTensor):
            value = to_dense(value).numpy()
        if isinstance(value, RaggedTensor):
            raise TypeError("the assertion takes dense values: compare `to_list()`")
        if isinstance(value, TensorShape):
            value = value.as_list()
        if isinstance(value, (list, tuple)):
            value = [self._array(item) for item in value]
        return np.asarray(value)

    def _evaluated(self, value: Any) -> Any:
        """Return a nest with the values of its tensors. The session of a graph evaluates tensors only."""
        leaves = nest.flatten(value)
        tensors = {i: leaf for i, leaf in enumerate(leaves) if _is_evaluated(leaf)}
        if not tensors:
            return value
        found = dict(zip(tensors, self.evaluate([*tensors.values()]), strict=True))
        return nest.pack_sequence_as(value, [found.get(i, leaf) for i, leaf in enumerate(leaves)])

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Assert that the elements of two nests satisfy |a - b| <= atol + rtol * |b|; NaN equals NaN.

        Raises AssertionError for other structures, shapes or values.
        """
        self._close(a, b, rtol, atol, "" if msg is None else f"{msg}: ", "")

    def _close(self, a: Any, b: Any, rtol: float, atol: float, msg: str, path: str) -> None:
        a, b = _opened(a), _opened(b)
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            self.fail(f"{msg}Can't compare dict to non-dict, {type(a)} vs {type(b)}{path}")
        if isinstance(a, Mapping):
            self.assertCountEqual(a, b, f"{msg}mismatched keys{path}")
            for key in a:
                self._close(a[key], b[key], rtol, atol, msg, f"{path}[{key!r}]")
        elif isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            self._close(_rows(a), _rows(b), rtol, atol, msg, path)
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and not _is_array(a, b):
            self.assertEqual(len(a), len(b), f"{msg}different lengths{path}")
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self._close(x, y, rtol, atol, msg, f"{path}[{i}]")
        else:
            self._close_arrays(self._array(a), self._array(b), rtol, atol, msg, path)

    def _close_arrays(self, a: Array, b: Array, rtol: float, atol: float, msg: str, path: str) -> None:
        if a.dtype.kind in "OUS" or b.dtype.kind in "OUS":
            self.assertAllEqual(a, b, msg)
            return
        self.assertEqual(a.shape, b.shape, f"{msg}Shape mismatch: expected {a.shape}, got {b.shape}{path}")
        near = np.isclose(_wide(a), _wide(b), rtol=rtol, atol=atol, equal_nan=True)
        if not near.all():
            self.fail(f"{msg}Values differ{path} (rtol={rtol}, atol={atol})\n{_differing(a, b, ~near)}")

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Assert that `assertAllClose` fails."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(f"{'' if msg is None else f'{msg}: '}The two values are close at all elements.")

    def assertAllCloseAccordingToType(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6,
        float_atol: float = 1e-6, half_rtol: float = 1e-3, half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2, msg: str | None = None,
    ) -> None:  # fmt: skip
        """Assert as `assertAllClose` does, with larger tolerances for dtypes of less precision."""
        kinds = {dtypes.of_array(x) for x in (self._array(a), self._array(b)) if x.dtype.kind not in "US"}
        if dtypes.float32 in kinds or dtypes.complex64 in kinds:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if dtypes.float16 in kinds:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if dtypes.bfloat16 in kinds:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Assert that two tensors, ragged tensors or arrays have one shape and equal elements; NaN equals NaN."""
        prefix = "" if msg is None else f"{msg}: "
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            self.assertEqual(_rows(a), _rows(b), msg)
            return
        a, b = _bytes(self._array(a)), _bytes(self._array(b))
        self.assertEqual(a.shape, b.shape, f"{prefix}Shape mismatch: expected {a.shape}, got {b.shape}")
        same = np.asarray(a == b)
        if a.dtype.kind in "fcV" and b.dtype.kind in "fcV":
            same = same | (np.isnan(_wide(a)) & np.isnan(_wide(b)))
        if not same.all():
            self.fail(f"{prefix}Values differ\n{_differing(a, b, ~same)}")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Assert that `assertAllEqual` fails."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(f"{'' if msg is None else f'{msg}: '}The two values are equal at all elements.")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Assert that each element is greater than `comparison_target`."""
        self._all(self._array(a), lambda x: x > comparison_target, f"not > {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Assert that each element is less than `comparison_target`."""
        self._all(self._array(a), lambda x: x < comparison_target, f"not < {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that each element is at least `comparison_target`."""
        self._all(self._array(a), lambda x: x >= comparison_target, f"not >= {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that each element is at most `comparison_target`."""
        self._all(self._array(a), lambda x: x <= comparison_target, f"not <= {comparison_target}")

    def assertAllInRange(
        self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:  # fmt: skip
        """Assert that each element is between two bounds, which may be excluded."""
        array = self._array(target)
        self._all(
            array,
            lambda x: (
                (x > lower_bound if open_lower_bound else x >= lower_bound)
                & (x < upper_bound if open_upper_bound else x <= upper_bound)
            ),
            f"not in the range from {lower_bound} to {upper_bound}",
        )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Assert that each element is in `expected_set`."""
        array = self._array(target)
        unexpected = {item for item in array.reshape(-1).tolist() if item not in expected_set}
        if unexpected:
            self.fail(f"{len(unexpected)} unique element(s) are not in the set {expected_set}: {unexpected}")

    def _all(self, array: Array, holds: Any, text: str) -> None:
        fits = np.asarray(holds(array))
        if not fits.all():
            self.fail(
                f"{int((~fits).sum())} of {array.size} elements are {text}: {array[~fits][:10].tolist()}"
            )

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Assert the dtype of a tensor, or of an array that it evaluates to."""
        dtype = dtypes.as_dtype(target.dtype if hasattr(target, "dtype") else self._array(target).dtype)
        self.assertEqual(dtype, dtypes.as_dtype(expected_dtype))

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Assert that two tensors or arrays have the same static shape."""
        for one in (input_a, input_b):
            if not hasattr(one, "shape"):
                raise TypeError(f"assertShapeEqual takes tensors and arrays, not {one!r}")
        self.assertEqual(list(input_a.shape), list(input_b.shape), msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Assert that two numbers differ by at most `err`."""
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err,
            f"{f1!r} != {f2!r} +/- {err!r}{'' if msg is None else f' ({msg})'}",
        )

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Assert that the numbers of two sequences differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """Assert that the norm of the difference of two arrays is at most `err`."""
        distance = float(np.linalg.norm(self._array(ndarray1) - self._array(ndarray2)))
        self.assertTrue(
            distance <= err, f"Diff (norm {distance}) is more than {err}{'' if msg is None else f': {msg}'}"
        )

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Assert that a text begins with another one."""
        if not actual.startswith(expected_start):
            self.fail(self._formatMessage(msg, f"{actual!r} does not start with {expected_start!r}"))

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = Exception, msg: str | None = None
    ) -> Any:
        """Return a context that asserts that an error about incompatible shapes is raised."""
        pattern = re.compile(
            r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes|not broadcast"
        )
        return self.assertRaisesRegex(exception_type, pattern)


def _is_evaluated(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, Variable)) or nest.is_composite(leaf)


def _opened(value: Any) -> Any:
    """Return an object with named fields as a dict."""
    if hasattr(value, "_asdict"):
        return value._asdict()
    fields = getattr(type(value), "__attrs_attrs__", None)
    return value if fields is None else {field.name: getattr(value, field.name) for field in fields}


def _is_array(a: Any, b: Any) -> bool:
    """Return whether two sequences are arrays of numbers."""
    try:
        return all(np.asarray(x).dtype.kind in "biufc" for x in (a, b))
    except (ValueError, TypeError):
        return False


def _rows(value: Any) -> Any:
    if isinstance(value, RaggedTensor):
        return value.to_list()
    return value.numpy().tolist() if hasattr(value, "numpy") else np.asarray(value, object).tolist()


def _bytes(array: Array) -> Array:
    """Return an array whose texts are bytes, as in tensors."""
    if array.dtype.kind not in "OUS":
        return array
    encoded = [item.encode() if isinstance(item, str) else item for item in array.reshape(-1).tolist()]
    flat = np.empty(len(encoded), object)
    flat[:] = encoded
    return flat.reshape(array.shape)


def _wide(array: Array) -> Array:
    """Return numbers that NumPy's functions take."""
    if array.dtype.kind == "V" or dtypes.of_array(array) is dtypes.bfloat16:
        return array.astype(np.float32)
    return array


def _differing(a: Array, b: Array, wrong: Array) -> str:
    count = int(np.asarray(wrong).sum())
    where = np.argwhere(wrong)[:10].tolist()
    if a.ndim == 0:
        return f"a = {a[()]!r}, b = {b[()]!r}"
    return f"{count} of {a.size} elements, at {where}:\na = {a[wrong][:10].tolist()}\nb = {b[wrong][:10].tolist()}"
