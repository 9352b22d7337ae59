"""The keys of eager calls, which the C extension and Python compute alike."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
from agc.runtime.ops.framework import eager_calls

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class Uncalled:
    """What the C extension reads of an operation without kept calls, which returns the key of each call."""

    def __init__(self, calls: dict[Any, Any], by_reference: bool) -> None:
        self._fields = lambda: (calls, None, only_key, by_reference)


def only_key(args: Any, kwargs: Any, *key: Any) -> Any:
    return key


def key_of(args: Any, kwargs: Any, by_reference: bool = False, calls: Any = None) -> Any:
    """Return the key of a call, the number of tensors in it, and its types."""
    if eager_calls.native is None:
        return python_key_of(args, kwargs, by_reference, calls)
    return eager_calls.native.caller(Uncalled(calls or {}, by_reference))(*args, **kwargs)


def python_key_of(args: Any, kwargs: Any, by_reference: bool = False, calls: Any = None) -> Any:
    """Return the same without the C extension."""
    return eager_calls.run_kept(calls or {}, args, kwargs, by_reference, [], only_key)


def test_a_list_that_contains_itself_has_no_key() -> None:
    numbers: list[Any] = [1.0]
    numbers.append(numbers)
    assert python_key_of((numbers,), {}) == key_of((numbers,), {}) == (None, 0, None)
    assert tf.reduce_sum([1.0, 2.0]).numpy() == 3.0


def test_keys_are_the_same_with_and_without_the_extension() -> None:
    x, v = tf.constant(X), tf.Variable(X)
    for args in (
        (x, 1, [0.0, (True, None)]),
        (x.shape, tf.float32, "text"),
        (range(2), np.float32, np.dtype("int8")),
        (..., (slice(None), slice(-1, 2**70, 3)), slice(0)),
        (slice(1.0),),
        (slice(None, True),),
        ("x" * 256, "x"),
        ("x" * 257,),
        (v, -0.0),
        ([0] * 33,),
        ([x] * 256,),
        ([x] * 257,),
        ([0, *[x] * 32],),
        (object(),),
        (X.astype(object),),
        (2**31 - 1, -(2**31), 2**31, -(2**31) - 1, 2**70, True, [[1], (2, 0.5)]),
        (1e37, 1e38, -1e37, -1e38, float("inf")),
    ):
        for by_reference in (False, True):
            found = key_of(args, {"axis": 1}, by_reference)
            assert found == python_key_of(args, {"axis": 1}, by_reference)
    given = (X, X[0, 1], [np.int64(3), X.astype(np.float16)], tf.TensorArray(tf.float32, 2).flow)
    assert key_of(given, {}) == python_key_of(given, {})
    assert key_of(given, {})[1] == 5
    key, count, types = key_of((v, x), {"axis": 1}, True)
    assert key == ("axis", tf.Variable, tf.float32, (2, 3), x._kind, int, 1) and count == 2
    assert types == (*key[:-1], None) and key_of((x, True, 2**31), {})[2] is None
    assert key_of((v, x), {"axis": 1}, True, {key: False}) == (None, 2, None)
