"""Errors of a traced function say what to write instead of the code that failed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import pytest
from support.each_case import each_case


def keys_of_text(n: Any) -> dict[str, Any]:
    found = {}
    for i in range(n):
        found[f"key {i}"] = i
    return found


@each_case(
    "program, argument, advice",
    [
        (
            lambda n: {1: 10, 3: 30}[n],
            3,
            "Tensor is unhashable. Instead, use tensor.ref() as the key. Or, as `n`",
        ),
        (lambda n: {1: 10, 3: 30}[n], 3, "write tf.gather(values, index), or use a table of tf.lookup"),
        (lambda n: [tf.sin, tf.cos][n](1.0), 1, "of functions tf.switch_case(n, xs)"),
        (lambda n: [1, 2, 3][:n], 1, "for a slice, tf.stack(xs)[:n]"),
        (lambda x: x.item(), 1.0, "when the graph runs. Return it, and write x.numpy().item() there"),
        (lambda x: x.upper(), "text", "write tf.strings.upper(x)"),
        (lambda x: x.append(1), [1], "write tf.concat([x, [value]], 0), or append to a list"),
        (lambda n: n * 0.5, 3, "convert the int32 tensor first, for instance with tf.cast(x, tf.float32)"),
        (lambda n: n + "px", 3, "make text of the int32 tensor with tf.strings.as_string(x)"),
        (lambda n: "px" + n, 3, "make text of the int32 tensor with tf.strings.as_string(x)"),
        (lambda n: tuple(range(n)), 3, "a tuple of items whose number the graph decides is not possible"),
        (
            lambda x: x[[0, 1]],
            [1, 2],
            "a list is one index for each axis, as a tuple is; tf.gather takes several rows",
        ),
        (
            lambda x: x if x > 0 else None,
            1.0,
            "AGC203]: the branches give values that a graph cannot choose between",
        ),
        (lambda x: x if x > 0 else None, 1.0, "fix: give a tensor of one dtype in every branch"),
        (
            lambda x: 1 if x > 0 else "no",
            1.0,
            "make them agree, for instance with tf.strings.as_string in one",
        ),
        (lambda n: n * tf.constant(0.5), 3, "(argument `y`): convert one with tf.cast"),
        (lambda n: n / tf.constant(0.5), 3, "got tf.int32 != tf.float32: convert one with tf.cast"),
        (keys_of_text, 3, "fix: take keys from Python numbers"),
    ],
)
def test_the_error_says_what_to_write_instead(
    program: Callable[[Any], Any], argument: Any, advice: str
) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError), match=re.escape(advice)):
        tf.function(program)(tf.constant(argument))
