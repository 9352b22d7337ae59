"""Printing and assertions: format, order, and what a failed assertion says."""

import sys

import agc.runtime as tf
import pytest


def printed(capsys, *args, **kwargs):
    tf.print(*args, output_stream=sys.stdout, **kwargs)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "values, text",
    [
        ((tf.constant([1.0, 0.1, 1e-7]),), "[1 0.1 1e-07]"),
        ((tf.constant([[1, 2], [3, 4]]),), "[[1 2]\n [3 4]]"),
        ((tf.reshape(tf.range(8), [2, 2, 2]),), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
        ((tf.range(100),), "[0 1 2 ... 97 98 99]"),
        ((tf.range(6),), "[0 1 2 3 4 5]"),
        ((1.0, 2.5, True, None, "a"), "1.0 2.5 True None a"),
        ((tf.constant(1e6), tf.constant(12345678.0), tf.constant(1 / 3)), "1e+06 12345678 0.333333343"),
        ((tf.constant(0.1, tf.float64), tf.constant(1 / 3, tf.float64)), "0.1 0.33333333333333331"),
        (([1, tf.constant(2)], {"k": tf.constant(4)}), "[1, 2] {'k': 4}"),
        ((tf.constant(True), tf.constant([True, False])), "1 [1 0]"),
        ((tf.Variable([1.0, 2.0]),), "[1 2]"),
    ],
)
def test_format_is_tensorflows(capsys, values, text):
    assert printed(capsys, *values) == text + "\n"


def test_print_options(capsys, tmp_path):
    assert printed(capsys, "x:", 1, sep="|", end="!") == "x:|1!"
    assert printed(capsys, tf.range(10), summarize=2) == "[0 1 ... 8 9]\n"
    assert printed(capsys, tf.range(10), summarize=-1) == "[0 1 2 3 4 5 6 7 8 9]\n"
    path = tmp_path / "log.txt"
    tf.print("one", output_stream=f"file://{path}")
    tf.print("two", output_stream=f"file://{path}")
    assert path.read_text() == "one\ntwo\n"
    with pytest.raises(ValueError, match="output stream"):
        tf.print(1, output_stream=3)


def test_standard_error_is_the_default(capsys):
    tf.print("hello")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "hello\n")


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_print_runs_in_program_order_at_each_call(capsys, executor):
    v = tf.Variable(0)

    @tf.function(experimental_executor=executor)
    def f(n):
        for i in tf.range(n):
            tf.print("i", i, output_stream=sys.stdout)
            if i % 2 == 0:
                v.assign_add(1)
                tf.print("even", v, output_stream=sys.stdout)

    for _ in range(2):
        f(tf.constant(2))
    assert capsys.readouterr().out.split("\n") == ["i 0", "even 1", "i 1", "i 0", "even 2", "i 1", ""]


@pytest.mark.parametrize(
    "check, args",
    [
        (tf.debugging.assert_equal, ([1, 2], [1, 3])),
        (tf.debugging.assert_none_equal, ([1, 2], [3, 2])),
        (tf.debugging.assert_less, (2, 2)),
        (tf.debugging.assert_less_equal, (3, 2)),
        (tf.debugging.assert_greater, ([1, 2], 1)),
        (tf.debugging.assert_greater_equal, (0, 1)),
        (tf.debugging.assert_positive, ([1, 0],)),
        (tf.debugging.assert_negative, (0.0,)),
        (tf.debugging.assert_non_negative, (-1,)),
        (tf.debugging.assert_non_positive, (1.5,)),
        (tf.debugging.assert_near, (1.0, 1.1)),
        (tf.Assert, (tf.constant(False), ["data"])),
    ],
)
def test_assertions_fail_eagerly_and_in_graphs(check, args):
    with pytest.raises(tf.errors.InvalidArgumentError):
        check(*args)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda: check(*args))()


def test_assertions_that_hold():
    tf.debugging.assert_equal([1, 2], [1, 2])
    tf.debugging.assert_near(1.0, 1.0 + 1e-7)
    tf.debugging.assert_greater(tf.constant(2.0), 1)


def test_the_message_and_the_data_are_shown():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)too big.*x < y.*\[5\].*\[3\]"):
        tf.debugging.assert_less(5, 3, message="too big")


def test_an_assert_statement_is_both_kinds_of_error():
    @tf.function
    def root(x):
        assert x >= 0, "negative input"
        return tf.sqrt(x)

    assert root(tf.constant(4.0)).numpy() == 2.0
    for kind in (AssertionError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match="negative input"):
            root(tf.constant(-1.0))


@pytest.mark.parametrize("check", [tf.debugging.check_numerics, tf.debugging.assert_all_finite])
def test_numbers_that_are_not_finite(check):
    checked = tf.function(lambda x: check(1.0 / x, "ratio"))
    assert checked(tf.constant([2.0])).numpy().tolist() == [0.5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="ratio : Tensor had Inf values"):
        checked(tf.constant([0.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="ratio : Tensor had NaN values"):
        checked(tf.constant([float("nan")]))


def test_strings_are_quoted_unless_printed_alone(capsys):
    assert printed(capsys, tf.constant("alone")) == "alone\n"
    assert (
        printed(capsys, "said", tf.constant("yes"), ["a", tf.constant(["b"])])
        == 'said "yes" [\'a\', ["b"]]\n'
    )
    assert printed(capsys, tf.constant(["a", "b"])) == '["a" "b"]\n'


def test_strings_within_quotes_have_escape_sequences(capsys):
    text = tf.constant(b"a\tb\n\"'\\\x01\0\xc3\xa9\xff")
    escaped = r'"a\tb\n\"\'\\\001\000'
    assert printed(capsys, text[None]) == f'[{escaped}é\\xff"]\n'
    assert tf.strings.format("{}", text).numpy() == escaped.encode() + b'\xc3\xa9\xff"'


def test_shapes_and_dtypes_are_printed_as_their_repr(capsys):
    assert printed(capsys, tf.TensorShape([1, None]), tf.int32) == "TensorShape([1, None]) tf.int32\n"


def test_details_of_the_format(capsys):
    assert (
        printed(capsys, {"b": 1, "a": {"d": tf.constant("s"), "c": 2}})
        == "{'a': {'c': 2, 'd': \"s\"}, 'b': 1}\n"
    )
    assert (
        printed(capsys, tf.constant([1e-7, 1 / 3, 65504, 2.5], tf.float16))
        == "[1.1920929e-07 0.333251953 65504 2.5]\n"
    )
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.print("x", output_stream="file:///no/such/directory/file")


def test_functions_that_print_are_called_by_other_functions(capfd):
    @tf.function
    def inner(x):
        tf.print("x is", x)
        return 2.0 * x

    assert tf.function(lambda x: inner(x) + 1.0)(tf.constant(3.0)).numpy() == 7.0
    assert "x is 3" in "".join(capfd.readouterr())
