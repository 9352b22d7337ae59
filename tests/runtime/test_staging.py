"""AutoGraph and the runtime together: Python control flow on tensors gives what Python gives on numbers."""

import agc.runtime as tf
import numpy as np
import pytest


def agrees(f, *inputs, dtype=None):
    """Run `f` on Python numbers, eager tensors and in graphs; all must give the same."""
    for args in inputs:
        args = args if isinstance(args, tuple) else (args,)
        expected = f(*args)
        tensors = [tf.constant(arg, dtype) for arg in args]
        for run in (f, tf.function(f), tf.function(f, experimental_executor="interpret")):
            found = run(*tensors)
            tf.nest.map_structure(
                lambda e, g: np.testing.assert_allclose(np.asarray(g), e, rtol=1e-6), expected, found
            )


def test_if_elif_else():
    def sign(x):
        if x > 0:
            s = 1
        elif x < 0:
            s = -1
        else:
            s = 0
        return s * 10

    agrees(sign, 5, -5, 0)


def test_early_returns():
    def f(x):
        if x < 0:
            return -x
        y = x * 2
        if y > 10:
            return y
        if y > 6:
            y = y + 1
        return y + 100

    agrees(f, -3, 9, 4, 1)


def test_while_with_break_continue_and_else():
    def f(n):
        total, i = 0, 0
        while i < n:
            i += 1
            if i % 3 == 0:
                continue
            if total > 20:
                break
            total += i
        else:
            total += 1000
        return total, i

    agrees(f, 0, 3, 5, 50)


def test_for_over_range_with_steps():
    def f(a, b, s):
        total = 0
        for i in range(a, b, s):
            total = total * 2 + i
        return total

    agrees(f, (0, 5, 1), (5, 0, -1), (5, 0, 1), (0, 10, 3), (7, -8, -4))


def test_for_over_rows_enumerate_zip_reversed():
    @tf.function
    def f(xs, ys):
        total = tf.zeros([2])
        for i, (x, y) in enumerate(zip(xs, reversed(ys))):  # noqa: B905
            total += tf.cast(i, tf.float32) * x + y
        return total

    xs, ys = np.arange(6.0).reshape(3, 2), np.arange(10.0).reshape(5, 2)
    expected = sum(i * x + y for i, (x, y) in enumerate(zip(xs, ys[::-1], strict=False)))
    np.testing.assert_allclose(f(tf.constant(xs, tf.float32), tf.constant(ys, tf.float32)), expected)


def test_nested_loops_with_early_return():
    def find(n):
        for i in range(n):
            for j in range(i):
                if i * j == 12:
                    return i * 100 + j
        return -1

    agrees(find, 3, 5, 10)


def test_loop_variables_after_the_loop():
    def f(n):
        last = -1
        for i in range(n):
            last = i
        return last

    agrees(f, 0, 4)


def test_a_variable_that_only_the_loop_defines():
    @tf.function
    def f(n):
        for i in tf.range(n):
            square = i * i
        return square

    assert f(tf.constant(4)).numpy() == 9
    with pytest.raises(UnboundLocalError, match="square"):
        f(tf.constant(0))


def test_a_variable_that_only_one_branch_defines():
    @tf.function
    def f(x):
        if x > 0:
            y = x * 2
        if x > 10:
            return y
        return x

    assert f(tf.constant(20)).numpy() == 40
    assert f(tf.constant(-1)).numpy() == -1

    @tf.function
    def g(x):
        if x > 0:
            y = x * 2
        return y

    assert g(tf.constant(1)).numpy() == 2
    with pytest.raises(UnboundLocalError, match="'y'"):
        g(tf.constant(-1))


def test_and_or_not_and_chains_are_lazy():
    @tf.function
    def f(x, i):
        if (0 <= i < 3 and x[i] > 0) or not i < 100:
            return 1
        return 0

    x = tf.constant([1, -1, 1])
    assert [f(x, tf.constant(i)).numpy() for i in (0, 1, 2, 7, -1, 100)] == [1, 0, 1, 0, 0, 1]


def test_ternaries():
    def f(x):
        return (x if x > 0 else -x) + (1 if x == 3 else 2 if x == 4 else 3)

    agrees(f, 3, 4, -5)


def test_attributes_and_items_that_a_block_assigns():
    class Account:
        def __init__(self):
            self.balance = tf.constant(0)

    @tf.function
    def f(x):
        account, log = Account(), {"count": tf.constant(0)}
        for i in tf.range(x):
            if i % 2 == 0:
                account.balance += i
                log["count"] += 1
        return account.balance, log["count"]

    assert [r.numpy() for r in f(tf.constant(7))] == [12, 4]


def test_attributes_of_self():
    class Model:
        def __init__(self):
            self.scale = tf.constant(1.0)

        @tf.function
        def fit(self, x):
            self.scale = tf.constant(1.0)
            while self.scale < x:
                self.scale = self.scale * 2
            return self.scale

    assert Model().fit(tf.constant(100.0)).numpy() == 128.0


def test_closures_see_the_last_value():
    @tf.function
    def f(n):
        k = 0

        def current():
            return k

        while k < n:
            k += 1
        return current()

    assert f(tf.constant(5)).numpy() == 5


def test_a_python_loop_left_by_a_tensor():
    @tf.function
    def f(x):
        total = 0
        for i in [1, 2, 3, 4]:
            if total > x:
                break
            total += i
        return total

    assert [f(tf.constant(x)).numpy() for x in (-1, 0, 2, 100)] == [0, 1, 3, 10]


def test_while_true_with_a_tensor_break():
    @tf.function
    def f(x):
        n = 0
        while True:
            if x < 2:
                break
            x = x // 2
            n += 1
        return n

    assert f(tf.constant(1000)).numpy() == 9


def test_called_functions_are_converted():
    def absolute(x):
        if x < 0:
            return -x
        return x

    f = tf.function(lambda x: absolute(x) + absolute(-x))
    assert f(tf.constant(-4)).numpy() == 8


def test_python_values_stay_python():
    @tf.function
    def f(x, mode):
        if mode == "double":
            x = x * 2
        for name in ("a", "b"):
            x = x + len(name)
        return x

    concrete = f.get_concrete_function(tf.constant(1), "double")
    assert [operation.type for operation in concrete.graph.get_operations()] == ["multiply", "add", "add"]


def test_none_in_one_branch_names_the_variable():
    @tf.function  # noqa: RET503
    def f(x):
        if x > 0:
            return x

    with pytest.raises(TypeError, match=r"AGC203"):
        f(tf.constant(1))


def test_printed_graph_has_the_users_names():
    @tf.function
    def collatz(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:  # noqa: SIM108
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    graph = collatz.get_concrete_function(tf.TensorSpec([], tf.int64)).graph
    assert str(graph).splitlines()[0] == "graph collatz(n: int64[]) -> int32[]"
    assert "while n, 0" in str(graph)
    assert collatz(tf.constant(27, tf.int64)).numpy() == 111
