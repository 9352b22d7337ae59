"""Errors of traced code show the user's line, and name the user's variables and expressions."""

import inspect

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.errors import OperatorNotAllowedInGraphError


def text_at(n):
    texts = ["a", "b", "c"]
    x = n
    return texts[x] + "!"


def item_in_a_loop(n, seen=(False, [1])):
    x = n
    while x < 4:
        if seen[x + 1]:
            break
        x += 1
    return x


def first_items(n):
    items = [1, 2, 3]
    return items[:n]


def repeated_removal(n):
    items = [1, 2, "x"]
    return items.pop(n)


def array_of_zeros(n):
    return np.zeros((n, 2))


def sorted_in_place(n):
    items = [n, n - 1]
    items.sort()
    return items


def sum_of_two_dtypes(n):
    scaled = n * 2
    return 1 + (scaled + tf.constant(0.5))


def sum_of_two_shapes(n):
    row = tf.zeros([2])
    return 1 + (row + tf.zeros([3]))


def array_of_a_tensor(n):
    doubled = n * 2
    return np.array(doubled).sum()


def tensor_of_another_dtype(x):
    return tf.convert_to_tensor(x, tf.float64)


CASES = [
    (text_at, OperatorNotAllowedInGraphError, "texts[x]", "`x` (int32[])", "tf.gather(tf.stack(texts), x)"),
    (text_at, OperatorNotAllowedInGraphError, "texts[x]", "", "tf.switch_case(x, texts)"),
    (item_in_a_loop, OperatorNotAllowedInGraphError, "seen[x + 1]", "`x + 1`", "tf.stack(seen), x + 1)"),
    (first_items, OperatorNotAllowedInGraphError, "items[:n]", "`n` (int32[])", "tf.stack(items)[:n]"),
    (repeated_removal, OperatorNotAllowedInGraphError, "items.pop(n)", "in `items.pop(n)`", "tf.gather"),
    (array_of_zeros, OperatorNotAllowedInGraphError, "np.zeros((n, 2))", "`n` (int32[])", "a function of tf"),
    (sorted_in_place, OperatorNotAllowedInGraphError, "items.sort()", "`less`", "xs = sorted(xs)"),
    (sum_of_two_dtypes, TypeError, "scaled + tf.constant(0.5)", "int32 tensor but is a float32", "tf.cast"),
    (sum_of_two_shapes, ValueError, "row + tf.zeros([3])", "(2,) vs. (3,)", ""),
    (
        tensor_of_another_dtype,
        ValueError,
        "tf.convert_to_tensor(x, tf.float64)",
        "float64 for Tensor with dtype int32",
        "",
    ),
    (array_of_a_tensor, NotImplementedError, "np.array(doubled)", "to a numpy array", "tf.numpy_function"),
]


@pytest.mark.parametrize(("program", "kind", "expression", "reason", "fix"), CASES)
def test_the_message_shows_the_users_expression(program, kind, expression, reason, fix):
    with pytest.raises(kind) as caught:
        tf.function(program)(tf.constant(1))
    lines, first = inspect.getsourcelines(program)
    line = next(i for i, text in enumerate(lines) if expression in text)
    text = str(caught.value)
    message, _, excerpt = text.partition("\n  --> ")
    assert reason in message
    assert fix in message
    place, source, carets = excerpt.splitlines()
    assert f"{first + line}:" in place and place.endswith(f"in {program.__name__}")
    marked = source[carets.index("^") : carets.rindex("^") + 1]
    assert marked == expression


def test_the_proposed_fixes_work():
    def fixed(x):
        texts, numbers = ["a", "b", "c"], [4, 5, 6]
        functions = [lambda: 7, lambda: 8]
        rows = tf.gather(tf.stack(texts), x), tf.stack(numbers)[:x], tf.switch_case(x, functions)
        return *rows, tf.strings.substr("abc", x, 1), sorted([x, x - 1])[0]

    text, numbers, called, letter, least = tf.function(fixed)(tf.constant(1))
    assert (text.numpy(), numbers.numpy().tolist(), called.numpy()) == (b"b", [4], 8)
    assert (letter.numpy(), least.numpy()) == (b"b", 0)


def test_eager_errors_have_no_excerpt():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.constant(1) + tf.constant(0.5)
    assert "-->" not in str(caught.value)
