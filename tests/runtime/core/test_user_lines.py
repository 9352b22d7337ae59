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


def asserted_rank(x):
    doubled = x * 2
    tf.debugging.assert_rank(doubled, 2)


def asserted_rank_in_a_branch(x):
    if x > 0:
        tf.debugging.assert_rank(x, 2)
    return x


def asserted_type_after_an_effect(x):
    tf.print("an operation before the failing one")
    tf.debugging.assert_type(x, tf.float32)


def asserted_shapes(x):
    tf.debugging.assert_shapes([(x, ("N", 3))])


def rows_of_another_dtype(x):
    row = tf.stack([x, x])
    return tf.map_fn(lambda i: tf.cast(i, tf.float32), row)


def rows_of_another_structure(x):
    row = tf.stack([x, x])
    return tf.map_fn(lambda i: (i, i), row)


def random_numbers(x):
    return x + tf.random.stateless_uniform([2], seed=[1, 2, 3], dtype=tf.int32, maxval=9)


def unknown_argument(x):
    return tf.reduce_sum(x, axes=0)


def variable_in_a_loop(x):
    for _ in range(2):
        x = x + tf.Variable(1)
    return x


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
    (asserted_rank, ValueError, "tf.debugging.assert_rank(doubled, 2)", "doubled:0 must have rank 2", ""),
    (asserted_rank_in_a_branch, ValueError, "tf.debugging.assert_rank(x, 2)", "x:0 must have rank 2", ""),
    (
        asserted_type_after_an_effect,
        TypeError,
        "tf.debugging.assert_type(x, tf.float32)",
        "x:0 must be of type tf.float32",
        "",
    ),
    (asserted_shapes, ValueError, 'tf.debugging.assert_shapes([(x, ("N", 3))])', "x:0 must have rank 2", ""),
    (
        rows_of_another_dtype,
        TypeError,
        "tf.map_fn(lambda i: tf.cast(i, tf.float32), row)",
        "results of int32 are expected, but fn gives float32",
        "fn_output_signature",
    ),
    (rows_of_another_structure, ValueError, "tf.map_fn(lambda i: (i, i), row)", "structure", ""),
    (
        random_numbers,
        ValueError,
        "tf.random.stateless_uniform([2], seed=[1, 2, 3], dtype=tf.int32, maxval=9)",
        "shape [2]",
        "",
    ),
    (unknown_argument, TypeError, "tf.reduce_sum(x, axes=0)", "'axes'", ""),
    (variable_in_a_loop, ValueError, "tf.Variable(1)", "singleton tf.Variables", "`if self.v is None`"),
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


def test_operations_of_a_graph_without_a_function_show_the_line_too():
    said = r"\[op add .*\n  --> .*test_user_lines.py:.*\n.*ones"
    with pytest.raises(ValueError, match=said) as caught, tf.Graph().as_default():
        tf.zeros([2]) + tf.ones([3])
    assert str(caught.value).count("-->") == 1


def test_errors_of_the_program_and_of_python_stay_as_they_are():
    def own(x):
        raise ValueError("mine")

    def pythons(x):
        return int("seven")

    for program, message in ((own, "mine"), (pythons, "invalid literal for int() with base 10: 'seven'")):
        with pytest.raises(ValueError) as caught:
            tf.function(program)(tf.constant(1))
        assert str(caught.value) == message


def test_a_line_is_shown_once_though_traces_are_nested():
    @tf.function
    def inner(x):
        tf.debugging.assert_rank(x, 2)

    with pytest.raises(ValueError) as caught:
        tf.function(lambda x: inner(x))(tf.constant(1))
    assert str(caught.value).count("-->") == 1
    assert "in inner\n" in str(caught.value)


def test_eager_errors_have_no_excerpt():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.constant(1) + tf.constant(0.5)
    assert "-->" not in str(caught.value)
