"""AutoGraph and the runtime together: Python control flow on tensors gives what Python gives on numbers."""

import agc.runtime as tf
import numpy as np
import pytest
from support.agreement import agrees


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


def test_a_variable_with_the_name_of_the_counter_in_graphs():
    def f(n):
        index = 0
        for i in range(n):
            index += 0.5
            last = i
        return index, last

    agrees(f, 3)


def test_loop_variables_after_the_loop():
    def f(n):
        last = -1
        for i in range(n):
            last = i
        return last

    agrees(f, 0, 4)


def test_a_variable_defined_only_in_a_loop():
    @tf.function
    def f(n):
        for i in tf.range(n):
            square = i * i
        return square

    assert f(tf.constant(4)).numpy() == 9
    with pytest.raises(UnboundLocalError, match="square"):
        f(tf.constant(0))


def test_a_variable_defined_in_one_branch():
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


def test_a_previous_item_missing_in_the_first_iteration():
    def rises(xs):
        total = 0
        for i, x in enumerate(xs):
            if i > 0:
                total += x - before  # noqa: F821
            before = x  # noqa: F841
        return total

    f = tf.function(rises)
    assert f(tf.constant([1, 4, 9])).numpy() == rises([1, 4, 9]) == 8
    assert f.get_concrete_function(tf.TensorSpec([None], tf.int32))(tf.constant([], tf.int32)).numpy() == 0


def test_an_unbound_variable_fails_at_its_read():
    @tf.function
    def f(x):
        if x > 0:
            y = x + 1
            return y - 1
        if x < -5:
            return y
        while x < -3:
            x += y
        return x

    assert f(tf.constant(2)).numpy() == 2
    assert f(tf.constant(-1)).numpy() == -1
    for x in (-9, -4):
        with pytest.raises(UnboundLocalError, match="'y'"):
            f(tf.constant(x))


def test_a_branch_that_always_fails_takes_its_types_from_the_other():
    def f(x):
        if x > 0:
            a, b, c = x, "text", tf.TensorArray(tf.int32, size=1).write(0, x)
        else:
            a, b, c = missing, "text", None  # noqa: F821
            missing = 1  # noqa: F841
        return a, c.read(0) + len(b)

    assert [t.numpy() for t in tf.function(f)(tf.constant(3))] == [3, 7]
    with pytest.raises(UnboundLocalError, match="'missing'"):
        tf.function(f)(tf.constant(0))


def test_a_tensor_array_created_in_one_branch():
    @tf.function
    def f(x):
        if x > 0:
            array = tf.TensorArray(tf.int32, size=2).write(0, x)
        if x > 5:
            return array.read(0)
        return -x

    assert [f(tf.constant(x)).numpy() for x in (7, -1)] == [7, 1]


def test_and_or_return_the_deciding_operand():
    def f(a, x):
        return a and x > 1, a or x > 1, a > 0 and a, a > 0 and 2, a > 0 or 3, a > 0 and x

    agrees(f, (0, 0.5), (0, 1.5), (7, 0.5), (-7, 1.5))


def test_numbers_and_comparisons_mixed_in_conditions():
    def f(a, b):
        n = 0
        while (a or b > 3) and n < 5:
            n += 1
            if n > 2 and b:
                a = 0
        return n

    agrees(f, (0, 0), (0, 4), (1, 0), (1, 1))


def test_walrus_after_and_and_in_loop_tests():
    def f(n, limit):
        total = k = 0
        while k < 9 and (k := k + 1) <= n:
            total += k
            if total > limit:
                break
        if total > 0 and (half := total // 2) > 3:
            return half
        return k

    agrees(f, (0, 9), (3, 99), (7, 5), (20, 99))


def test_walrus_in_an_and_before_an_or():
    def f(x, y):
        z = x
        if (x > 0 and (z := x * 2) > 4) or y > 0:
            x += 1
        (x > 3 and (z := z + 1) > 9) or (z := z - 1)
        is_far = (x > 2 and (y := z * x) > 8) or y > 5
        return is_far, x, y, z

    agrees(f, (0, 0), (1, 0), (3, 0), (3, 9), (8, 1), (-2, 7))


def test_walrus_in_the_values_of_a_conditional_expression():
    def f(x):
        z = x
        y = (z := x * 2) if x > 0 else 0
        k = (z := z + 1) if y > 9 else (x if x > 2 else (z := z - 1) * 2)
        return (k, z, y) if x > 5 else (y := k + 1, z, x)

    agrees(f, (0,), (3,), (7,), (-4,))


def test_a_loop_test_with_an_effect_and_a_number():
    calls = tf.Variable(0)

    @tf.function
    def f(n):
        while n > 0 and calls.assign_add(1):
            n -= 1
        return n

    assert f(tf.constant(3)).numpy() == 0
    assert calls.numpy() == 3


def test_variables_are_conditions():
    switch = tf.Variable(1)

    @tf.function
    def f(x):
        if switch:
            x += 1
        if x > 0 and switch:
            x += 10
        while not switch and x < 100:
            x += 50
        return x, switch or 7

    assert [t.numpy() for t in f(tf.constant(1))] == [12, 1]
    switch.assign(0)
    assert [t.numpy() for t in f(tf.constant(1))] == [101, 7]


def test_a_variable_of_one_branch_shared_with_a_closure():
    @tf.function
    def f(x):
        if x > 0:
            step = 5
            x = (lambda: x + step)()
        return x + step

    assert f(tf.constant(2)).numpy() == 12
    with pytest.raises(UnboundLocalError, match="'step'"):
        f(tf.constant(-1))


def agrees_or_is_unbound(f, *inputs):
    """`f` gives in graphs what it gives in Python, and fails in them where Python has no value for `y`."""
    graphs = {}, {"experimental_executor": "interpret"}, {"jit_compile": True}
    runs = [f, *(tf.function(f, **options) for options in graphs)]
    for args in inputs:
        try:
            expected = int(f(*args))
        except UnboundLocalError:
            expected = None
        for run in runs:
            if expected is not None:
                assert int(run(*map(tf.constant, args))) == expected
                continue
            with pytest.raises(UnboundLocalError, match="'y'"):
                run(*map(tf.constant, args))


def test_a_handler_s_variable_that_a_block_of_a_loop_binds_first():
    def branch(a, n):
        try:
            while a < 2:
                if n > 0:
                    y = a + 5
                a = a + 1
        except KeyError:
            a = a + 1
        return y

    def loop(a, n):
        try:
            while a < 2:
                while a < n:
                    y = a + 5
                    a = a + 1
                a = a + 1
        except KeyError:
            a = a + 1
        return y

    def items(a, n):
        try:
            while a < 2:
                for y in tf.range(n):
                    a = a + y
                a = a + 1
        except KeyError:
            a = a + 1
        return y

    def deleted(a, n):
        try:
            while a < 3:
                if n > 1:
                    y = a + n
                n = n - 1
                a = a + 1
                if n > 1:
                    del y
        except KeyError:
            a = a + 1
        return y

    for f in (branch, loop, items, deleted):
        agrees_or_is_unbound(f, (0, 3), (0, 1), (0, 0), (5, 3))


def test_a_closure_s_variable_that_a_block_of_a_loop_binds_first():
    def f(a, n):
        def bind(value):
            nonlocal y
            y = value

        while a < 2:
            if n > 0:
                bind(a + 5)
            a = a + 1
        if False:
            y = 0
        return y

    agrees_or_is_unbound(f, (0, 3), (0, 0), (5, 3))


def test_a_loop_test_that_may_bind_a_handlers_variable():
    def f(a, n):
        try:
            while a < 2 and (n > 1 and (y := a + 7) > 0):
                a = a + 1
        except KeyError:
            a = a + 1
        return y

    agrees_or_is_unbound(f, (0, 3), (1, 3), (0, 0), (5, 3))


def test_the_gradient_of_a_variable_that_a_block_of_a_loop_binds_first():
    @tf.function
    def f(x):
        try:
            while x < 10.0:
                if x > 1.0:
                    y = x * x
                x = x + 4.0
        except KeyError:
            x = x + 1.0
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (36.0, 12.0)


def test_a_loop_deletes_a_possibly_unbound_variable():
    def f(a, n):
        if n > 0:
            y = a
        while a < 2:
            del y
            a = a + n
        return a

    agrees_or_is_unbound(f, (0, 3), (1, 3), (0, 0), (0, 1), (5, 0))


def test_walrus_next_to_numbers_as_conditions():
    def f(x, n):
        k = 0
        while (k := k + 1) <= n and (x or n):
            x += 1
            if x > 5:
                break
        if x or (y := x + 1) > 1:
            k += 1
        else:
            k += y
        return x, k

    agrees(f, (1, 3), (0, 0), (4, 9), (-1, 1))
