"""Exceptions in graphs: what Python raises on numbers, a graph raises when it comes there, and not before."""

# ruff: noqa: B011, RET504, RET506, SIM108, UP031, UP032  (programs as people write them)

from __future__ import annotations

import contextlib
import io
import sys
import traceback

import agc.runtime as tf
import numpy as np
import pytest
from agc import autograph
from agc.runtime.ir.parser import parse
from support.versions import converted_version


class RejectedError(Exception):
    def __init__(self, code, value):
        super().__init__(f"rejected with code {code}: {value}")
        self.code, self.value = code, value


def outcome(f, *args):
    """What a call gives, or the exception's class, message and that of its cause."""
    try:
        return np.asarray(f(*args)).tolist()
    except Exception as error:
        return type(error), str(error), type(error.__cause__), str(error.__cause__)


def agrees(f, *inputs):
    """On numbers, converted or not, and in graphs of both executors the same comes out."""
    for args in inputs:
        args = args if isinstance(args, tuple) else (args,)
        expected = outcome(f, *args)
        assert outcome(autograph.convert(f), *args) == expected
        assert outcome(converted_version(f), *args) == expected
        for executor in ("plan", "interpret"):
            graph = tf.function(f, experimental_executor=executor)
            assert outcome(graph, *map(tf.constant, args)) == expected, (executor, args)


# The positions that a `raise` can have


def test_a_guard():
    def f(x):
        if x < 0:
            raise ValueError(f"bad value {x}")
        return x * 2

    agrees(f, -3, 3, 0)


def test_an_exception_that_exists_before_the_branch():
    refused = ValueError("refused")

    def f(x):
        below = KeyError("below")
        if x < 0:
            raise below
        if x > 9:
            raise refused
        return x

    agrees(f, 3, -3, 10, 3)


def test_a_class_alone():
    def f(x):
        if x < 0:
            raise IndexError
        return x

    agrees(f, 3, -3)


def test_in_every_branch():
    def f(x):
        if x < 0:
            raise KeyError("low")
        elif x > 9:
            raise RejectedError(9, x)
        else:
            raise LookupError

    agrees(f, -1, 5, 10)


def test_a_raising_branch_between_branches_with_values():
    def f(x):
        if x < 0:
            y = 1
        elif x == 0:
            raise ZeroDivisionError("zero")
        else:
            y, z = 2, 3
            if y * x > 10:
                raise OverflowError(x * y, z)
        return y + x

    def g(x):
        return -x if x < 0 else fail(x) if x > 9 else x

    def fail(x):
        raise RuntimeError(f"{x} is too much")

    agrees(f, -1, 0, 1)
    agrees(g, -1, 1, 10)


def test_in_loops():
    def counted(n):
        total = 0
        for i in range(n):
            if i == 5:
                raise IndexError(f"{i=} {total=}")
            total += i
        else:
            if total == 3:
                raise ArithmeticError("three")
        return total

    def endless(n):
        while True:
            n -= 1
            if n < 3:
                raise OSError(2, "gone")
            if n % 5 == 0:
                break
        return n

    def at_once(n):
        while n > 0:
            raise StopAsyncIteration("at once")
        return n

    agrees(counted, 0, 3, 4, 9)
    agrees(endless, 2, 6, 8, 4)
    agrees(at_once, 0, 1)


@pytest.mark.parametrize("leave", [sys.exit, exit, quit])
@pytest.mark.parametrize("executor", ["plan", "interpret", "native"])
def test_a_program_ends_where_the_graph_exits(leave, executor, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())  # `exit` and `quit` close it

    def stop():
        leave(3)

    def f(x):
        while x > 10:
            x -= 1
            if x > 20:
                stop()
        return x

    graph = tf.function(f, experimental_executor=executor)
    assert graph(tf.constant(15)) == 10
    with pytest.raises(SystemExit) as end:
        graph(tf.constant(25))
    assert end.value.code == 3


def test_in_functions_that_a_block_calls():
    class Account:
        def __init__(self, balance):
            self.balance = balance

        def withdraw(self, amount):
            if amount > self.balance:
                raise RejectedError("funds", self.balance - amount)
            self.balance -= amount

    def f(x, amount):
        account = Account(x)
        if amount > 0:
            account.withdraw(amount)
        return account.balance

    agrees(f, (5, 0), (5, 3), (5, 7))


def test_effects_and_failures_keep_program_order():
    """What comes first in the program fails first, and what was done before is done."""
    done = tf.Variable(0)

    @tf.function
    def f(x):
        done.assign_add(1)
        if x > 0:
            raise ValueError("first")
        done.assign_add(10)
        raise KeyError("second")

    for x, error in ((1, ValueError), (-1, KeyError), (-1, KeyError)):
        with pytest.raises(error):
            f(tf.constant(x))
    assert int(done) == 1 + 11 + 11


def test_a_python_failure_while_tracing_is_not_cached():
    ready = []

    @tf.function
    def f(x):
        tf.print("running", output_stream=sys.stdout)
        if not ready:
            raise RuntimeError("not ready")
        return x

    with pytest.raises(RuntimeError, match="not ready"):
        f(tf.constant(1))
    ready.append(True)
    assert int(f(tf.constant(1))) == 1


def test_graphs_that_call_graphs():
    @tf.function
    def inner(x):
        if x > 5:
            raise ValueError(f"{x} > 5")
        else:
            raise KeyError("small")

    @tf.function
    def outer(x):
        y = inner(x) if x > 0 else x
        return y

    assert int(outer(tf.constant(-1))) == -1
    assert outcome(outer, tf.constant(9))[:2] == (ValueError, "9 > 5")
    assert outcome(outer, tf.constant(1))[:2] == (KeyError, "'small'")


# What is raised


def test_every_form_of_message():
    def f(x, y):
        text = "{} and {:>4}".format(x, y)
        if x < 0:
            raise ValueError(text + " %s" % x, [f"{x}", ("y",)], {"y": f"{y!r}"})
        if y < 0:
            error = LookupError(f"{x + y:+d}")
            raise error
        assert x != y, f"both are {x}, {x * y}"
        return x

    agrees(f, (-1, 2), (2, -1))
    for executor in ("plan", "interpret"):
        graph = tf.function(f, experimental_executor=executor)
        with pytest.raises(AssertionError) as caught:
            graph(tf.constant(3), tf.constant(3))
        assert str(caught.value) == "both are 3, 9"


def test_tensors_in_messages_are_written_as_in_eager_code():
    def f(x, name):
        if tf.reduce_sum(x) > 0:
            raise ValueError(f"{x} {x[0]:.2f} {name} {name!r}")
        return x

    assert outcome(tf.function(f), tf.constant([1.5, 2.0]), tf.constant("ü"))[1] == "[1.5 2. ] 1.50 ü 'ü'"


@pytest.mark.parametrize(
    "text",
    [lambda x: f"{x:>4}", lambda x: f"a {x:.2f}", lambda x: "{:>4}".format(x), lambda x: format(x, ">4")],
)
def test_a_formatted_tensor_is_no_data(text):
    with pytest.raises(
        TypeError, match=r"__format__: .*test_exceptions.py:\d+ formats a traced tensor \(int32\)"
    ):
        tf.function(text)(tf.constant(3))


def test_exceptions_keep_attributes_cause_and_notes():
    @tf.function
    def f(x):
        if x > 0:
            try:
                {}["key"]
            except KeyError as error:
                raise RejectedError(7, x + 1) from error
        return x

    for _ in range(2):  # each run makes its own
        with pytest.raises(RejectedError) as caught:
            f(tf.constant(1))
        error = caught.value
        assert (error.code, int(error.value), repr(error.__cause__)) == (7, 2, "KeyError('key')")
        assert len(error.__notes__) == 1


def test_the_line_is_named():
    @tf.function
    def f(x):
        if x > 0:
            raise ValueError("no")
        return x

    with pytest.raises(ValueError) as caught:
        f(tf.constant(1))
    shown = "".join(traceback.format_exception(caught.value))
    line = f.python_function.__code__.co_firstlineno + 3
    assert shown.endswith(f"ValueError: no\n  at {__file__}:{line}, in f\n")


def test_runtime_errors_by_tensorflows_names():
    @tf.function
    def f(x):
        if x > 0:
            raise tf.errors.OutOfRangeError(f"end at {x}")
        return x

    with pytest.raises(tf.errors.OutOfRangeError) as caught:
        f(tf.constant(4))
    assert caught.value.message == "end at 4"


def test_a_graph_that_raises_can_be_parsed_back():
    def f(x):
        if x < 0:
            raise ValueError(f"bad value {x:3d}!")
        return x

    graph = tf.function(f).get_concrete_function(tf.constant(1)).graph
    assert "raise x [error='ValueError', forms=(':3d',), pieces=('bad value ', '!')]" in str(graph)
    assert parse(str(graph)) == graph


# What was never meant to run


def test_an_unreachable_assertion_is_not_reached():
    def f(x):
        if x > 0:
            return 1
        if x <= 0:
            return 2
        assert False, "unreachable"

    def g(x, mode):
        if x > 0:
            if mode == "strict":
                raise ValueError(f"unknown mode {mode}")
            x = -x
        return x

    agrees(f, 1, 0)
    assert [outcome(tf.function(g), tf.constant(x), "strict") for x in (-1, 1)] == [
        -1,
        (ValueError, "unknown mode strict", type(None), "None"),
    ]


def test_a_python_error_while_tracing_mentions_the_trace():
    @tf.function
    def f(x):
        if x > 0:
            y = 1 // 0
        else:
            y = 0
        return y

    with pytest.raises(ZeroDivisionError) as caught:
        f(tf.constant(-1))
    assert "raised while tracing" in caught.value.__notes__[0]


def test_a_refusal_to_stage_is_no_failure_of_the_branch():
    @tf.function
    def f(x):
        if x > 0:
            try:
                y = tf.constant(1) if x > 2 else tf.constant(0.5)
            except TypeError as error:
                raise RuntimeError("wrapped") from error
        else:
            y = 1.0
        return y

    with pytest.raises(RuntimeError, match="wrapped") as caught:
        f(tf.constant(-1))
    assert isinstance(caught.value.__cause__, autograph.StagingError)


# try, with


def test_exceptions_that_stay_in_their_block():
    def f(x):
        y = 0
        if x > 0:
            try:
                raise ValueError(x)
            except ValueError:
                y = 1
            finally:
                y += 10
        with contextlib.suppress(KeyError):
            if x > 5:
                raise ValueError("other")
        return y

    agrees(f, -1, 1, 6)


def refused(f, code):
    with pytest.raises(autograph.StagingError) as caught:
        tf.function(f)(tf.constant(1))
    assert caught.value.diagnostic.code == code
    return caught.value.diagnostic


def checked(x):
    if x < 0:
        raise ValueError("negative")
    return x


def test_an_except_around_a_staged_branch_is_refused():
    def named(x):
        try:
            return checked(x)
        except (KeyError, ValueError):
            return 0

    def bare(x):
        try:
            while x > 0:
                if x == 3:
                    raise ValueError
                x -= 1
        except:  # noqa: E722
            x = -1
        return x

    def wrapping(x):
        try:
            y = checked(x)
        except Exception as error:
            raise RuntimeError("wrapped") from error
        return y

    def suppressed(x):
        with contextlib.suppress(ArithmeticError, ValueError):
            x = checked(x)
        return x

    def asserted(x):
        try:
            assert x > 0
        except AssertionError:
            x = 0
        return x

    def both(x):
        try:
            if x > 0:
                raise KeyError
            else:
                raise ValueError
        except LookupError:
            return 1

    for f in (named, bare, wrapping, suppressed, asserted, both):
        diagnostic = refused(f, "AGC260")
        assert diagnostic.notes[0].label.startswith("catches ")


def test_an_except_around_a_python_error_in_a_staged_block_is_refused():
    """Tracing meets the error in any case, so the handler would run for every value of `x`."""

    def after_a_return(x):
        try:
            if x > 3:
                return x
            x = {}["key"]
        except KeyError:
            x = -1
        return x

    def in_a_loop(x):
        with contextlib.suppress(LookupError):
            for _ in tf.range(x):
                x += (1, 2)[5]
        return x

    for f in (after_a_return, in_a_loop):
        diagnostic = refused(f, "AGC260")
        assert diagnostic.title.endswith("Error: it is raised in a block that the graph may skip")
        assert diagnostic.notes[0].label.startswith("catches ")


def test_a_python_error_is_caught_in_its_block_and_outside_of_blocks():
    def f(x):
        try:
            x = {}["key"]
        except KeyError:
            x = x * 2
        if x > 3:
            try:
                x = len(5)
            except TypeError:
                x = x + 1
        return x

    agrees(f, 1, 2)


def test_an_unrelated_except_clause_is_allowed():
    def f(x):
        try:
            x = checked(x)
        except KeyError:
            x = 0
        else:
            x += 1
        try:
            late = lambda: checked(x - 5)  # noqa: E731
        except ValueError:
            return 0
        return late()

    agrees(f, -1, 3, 9)


def test_finally_runs_when_a_block_is_left(capsys):
    def f(x):
        if x > 0:
            try:
                raise ValueError("no")
            finally:
                print("traced")
                tf.print("cleaning", output_stream=sys.stdout)
        return x

    for executor in ("plan", "interpret"):
        graph = tf.function(f, experimental_executor=executor)
        assert outcome(graph, tf.constant(1))[0] is ValueError
        assert capsys.readouterr().out == "traced\ncleaning\n"
        assert outcome(graph, tf.constant(-1)) == -1
        assert capsys.readouterr().out == ""


def test_a_finally_with_effects_around_a_staged_branch_is_refused():
    count = tf.Variable(0)

    def f(x):
        try:
            x = checked(x)
        finally:
            release()
        return x

    def release():
        count.assign_add(1)

    def pure(x):
        y = x
        try:
            x = checked(x)
        finally:
            y = x + count
        return y

    assert "finally" in refused(f, "AGC261").title
    agrees(pure, -1, 4)


def test_with_around_and_inside():
    class Scope:
        def __init__(self, log):
            self.log = log

        def __enter__(self):
            self.log.append("in")
            return self

        def __exit__(self, *exc):
            self.log.append("out")
            return False

    def f(x):
        log = []
        with Scope(log):
            if x > 0:
                with Scope(log):
                    raise ValueError("inside")
            x -= 1
        return x

    agrees(f, 1, 0)
