"""Comprehensions over tensors, and with conditions on tensors: what they give on Python's numbers."""

from typing import Any

import agc.runtime as tf
import pytest
from agc import autograph
from support.agreement import agrees, plainly
from support.versions import converted_version


def test_over_a_tensor() -> None:
    agrees(lambda xs: [x * x for x in xs], ([1, 2, 3],), converted=True)


def test_with_conditions() -> None:
    def f(xs, n):
        return [x * x for x in xs if x > n if x < 9], [-x for x in xs if 2 < x <= n or x == 1]

    agrees(f, ([1, 5, 3, 10], 2), ([1], 5), converted=True)


def test_with_conditions_decided_in_python() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)])
    def f(xs: Any, n: Any) -> Any:
        """The number of items is not known while tracing, whether they are taken is."""
        return (
            [x * n for x in xs if n is not None],
            [x for x in xs if isinstance(x, str)],
            sum(x for x in xs if x is not n),
            [x * y for x in xs if True for y in xs if y is not x],
        )

    assert plainly(f(tf.constant([1, 2]), tf.constant(3))) == ([3, 6], [], 3, [1, 2, 2, 4])


def test_over_ranges_and_pairs() -> None:
    def f(xs, n):
        return [i * n for i in range(n)], [i * x for i, x in enumerate(xs) if i != n], [x for x in xs]  # noqa: C416

    agrees(f, ([4, 5, 6], 2), ([4], 0), converted=True)


def test_a_condition_on_tensors_over_pythons_items() -> None:
    def f(a, b, c):
        return [x * 2 for x in (a, b, c) if x > 1], len([x for x in (a, b) if x != c])

    agrees(f, (1, 2, 3), (0, 0, 0), converted=True)


def test_generators_in_reductions() -> None:
    def f(xs):
        return sum(x * x for x in xs), max(x + 1 for x in xs), min(-x for x in xs)

    agrees(f, ([1, 5, 3],), converted=True)


def test_the_result_is_a_list_like_any_other() -> None:
    def f(xs):
        out = [x for x in xs if x > 1]
        for x in xs:
            if x > 2:
                out.append(x)
        return out, len(out)

    agrees(f, ([1, 2, 3],), converted=True)


def test_any_and_all_compute_no_element_after_the_one_that_decides() -> None:
    def f(xs):
        computed = 0

        def is_large(x):
            nonlocal computed
            computed += 1
            return x > 2

        found = [any(is_large(x) for x in xs), all(is_large(x) for x in xs)]
        found += [any(is_large(x) for x in xs if x > 1), all(is_large(x) for x in xs if x > 1 if x < 9)]
        found += [any(x for x in xs if x > 2), all(x - 3 for x in xs if x > 2)]
        return found, computed

    for xs in ([1, 2, 3, 4], [3, 4], [1], [9, 1]):
        agrees(f, (xs,), converted=True)


def test_any_and_all_of_nested_parts_and_of_map_end_there_too() -> None:
    def f(xs, ys):
        computed = 0

        def is_larger(x, y):
            nonlocal computed
            computed += 1
            return x > y

        def minus_three(x):
            return x - 3

        found = [any(is_larger(x, y) for x in xs for y in ys), all(is_larger(x, y) for x in xs for y in ys)]
        found += [any(is_larger(x, y) for x in xs if x != 3 for y in ys if y > 1)]
        found += [all(is_larger(x, y) for x in xs if x > 2 for y in ys)]
        found += [any(map(is_larger, xs, ys)), all(map(is_larger, xs, ys)), any(map(minus_three, xs))]
        return found, computed

    for args in (([1, 2, 3, 4], [3, 1]), ([3, 4], [1, 2]), ([1], [5]), ([9, 1], [2, 2, 2])):
        agrees(f, args, converted=True)

    found = tf.function(lambda n, f, g: (any(map(f, range(n))), all(map(g, range(n)))))
    for n, expected in ((0, (False, True)), (3, (False, True)), (4, (True, False))):
        assert plainly(found(tf.constant(n), lambda i: i * i > 8, lambda i: i < 3)) == expected


def test_any_and_all_of_rows_with_several_elements() -> None:
    """An error names `any` or `all`, which tests the rows, however the rows are written."""
    programs = (
        lambda m: any(row for row in m),
        lambda m: all([row + 1 for row in m]),  # noqa: C419
        lambda m: any(list(m)),
        lambda m: all((m[0], m[1])),
        lambda m: any(map(abs, m)),
        lambda m: all(m),
    )
    for f in programs:
        name = f.__code__.co_names[0]
        for rows in (3, None):
            with pytest.raises(autograph.StagingError, match=f"AGC207.* this `{name}` has shape \\(2,\\)"):
                tf.function(f).get_concrete_function(tf.TensorSpec((rows, 2)))


def test_any_and_all_of_rows_with_one_element() -> None:
    for rows in ([[0.0], [2.0]], [[0.0], [0.0]], [[1.0], [2.0]]):
        for shape in ((2, 1), (None, 1), (None, None)):
            f = tf.function(lambda m: (any(m), all(m)), input_signature=[tf.TensorSpec(shape)])
            assert plainly(f(tf.constant(rows))) == (any(x for (x,) in rows), all(x for (x,) in rows))


def test_variables_that_only_the_comprehension_mentions_stay_in_it() -> None:
    def f(xs):
        roots = [y for x in xs if (y := x * x - 4) > 0]
        return roots, any((u := x) > 1 and u < 4 for x in xs), sum((v := x + 1) * v for x in xs)

    agrees(f, ([1, 5, 3],), ([-1],), converted=True)

    def seen(xs):
        return any((last := x) > 1 for x in xs), sorted(locals())

    assert converted_version(seen)([1, 2]) == seen([1, 2]) == (True, ["last", "xs"])

    def later(xs):
        found = any((last := x) > 1 for x in xs)
        return found, last

    with pytest.raises(autograph.StagingError, match=r"AGC291.*`last`"):
        tf.function(later)(tf.constant([1, 2]))


def test_only_the_chosen_elements_are_computed() -> None:
    counter = tf.Variable(0)

    def noted(x):
        counter.assign_add(1)
        return x

    @tf.function
    def f(xs):
        return [noted(x) for x in xs if x > 1]

    assert plainly(f(tf.constant([1, 2, 3]))) == [2, 3]
    assert counter.numpy() == 2


def test_conditions_by_truth() -> None:
    def f(xs, n):
        flags = [1 for x in (n > 1, n > 5, n > 0) if x]
        return [x for x in xs if x], [x for x in xs if not x], flags, [x for x in xs if x in (1, 2)]

    agrees(f, ([1, 0, 2, 3], 2), ([0], 0), converted=True)


def square(x):
    return x * x


def test_elements_that_call() -> None:
    def f(xs, n):
        return [square(x) for x in range(n)], [square(x) for x in xs], [x for x in xs if square(x) > 3]

    agrees(f, ([1, 0, 2, 3], 2), ([0], 0), converted=True)


def test_several_for() -> None:
    def f(xs, n):
        return (
            [x * y for x in xs for y in range(n)],
            [x * y for x in xs if x > 1 for y in range(n) if y < x],
            [z for x in range(n) for z in (x, x + 1)],
            [y for i in (1, 2) for y in range(n) if y < i],
            [y for x in (1, 2) for y in (3, 4) if n > x],
            sum(x * y for x in xs for y in range(n)),
            sum(x * y for x in (1, 2) if n > x for y in range(n)),
            sum(k + j for k in range(3) if n > k for j in range(2)),
        )

    agrees(f, ([1, 0, 2, 3], 2), ([2], 1), ([5], 0), converted=True)


def test_comprehensions_in_comprehensions() -> None:
    def f(xs, n):
        return [[x * y for y in xs] for x in xs], [sum([x * y for y in range(n)]) for x in xs]

    agrees(f, ([1, 0, 2, 3], 2), ([2], 0), converted=True)
    with pytest.raises(autograph.StagingError, match=r"tf.stack\(\[\.\.\. for \.\.\.\]\)"):
        tf.function(lambda n: [[y for y in range(n)] for _ in range(n)])(tf.constant(2))  # noqa: C416


def test_generators_with_conditions() -> None:
    def f(xs, n):
        return (
            sum(x for x in xs if x > 1),
            min(x for x in xs if x > 1),
            max((x for x in xs if x > n), default=0),
            list(x for x in xs if x > 1),  # noqa: C400
            any(x > 2 for x in range(n)),
            all(x < 3 for x in xs if x),
            sum(x for x in (n, 1, 5) if x > 2),
        )

    agrees(f, ([1, 0, 2, 3], 2), ([2], 5), converted=True)

    def g(xs, n):
        return tf.stack(sorted(-x for x in xs if x > n))

    for run in (tf.function(g), tf.function(g, experimental_executor="interpret")):
        assert plainly(run(tf.constant([1, 3, 2]), tf.constant(1))) == [-3, -2]


def test_a_dynamic_number_of_rows() -> None:
    signature = [tf.TensorSpec([None], tf.int32)]

    @tf.function(input_signature=signature)
    def f(xs):
        pairs = [x * y for i, x in enumerate(xs) for y in xs if i > 0]
        return [square(x) for x in xs], pairs, sum(x for x in xs if x)

    assert plainly(f(tf.constant([1, 2]))) == ([1, 4], [2, 4], 3)


def test_few_rows_make_a_python_list() -> None:
    @tf.function
    def f(xs):
        a, b = [x + 1 for x in xs]
        pairs = [(i, x) for i, x in enumerate(xs)]
        return a * b, len(pairs), [("a", "b")[i] for i, _ in pairs] == ["a", "b"]

    assert plainly(f(tf.constant([1, 2]))) == (6, 2, True)


class Items:
    def of(self, xs: Any) -> Any:
        return [x + 1 for x in xs if x > 0]


class Larger(Items):
    def of(self, xs: Any) -> Any:
        found = super().of(xs)
        return [x for x in super().of(xs) if x > 2], len(found)


def test_in_a_method_that_calls_super() -> None:
    agrees(lambda xs: Larger().of(xs), ([1, -2, 3],), ([-1],), converted=True)


def test_comprehensions_that_only_python_can_run_are_refused() -> None:
    refused = {
        "set": (lambda n: {x for x in range(n)}, lambda n: {x for x in (1, 2) if x < n}),  # noqa: C416
        "dict": (lambda n: {x: 1 for x in range(n)}, lambda n: {x: n for x in (1, 2) if x < n}),  # noqa: C420
    }
    for kind, (over_items, under_condition) in refused.items():
        with pytest.raises(autograph.StagingError, match=f"AGC276.*a {kind} comprehension iterates over"):
            tf.function(over_items)(tf.constant(2))
        with pytest.raises(autograph.StagingError, match=f"AGC276.*a {kind} comprehension has a condition"):
            tf.function(under_condition)(tf.constant(2))
    with pytest.raises(autograph.StagingError, match=r"AGC276.*a list comprehension has a condition"):
        tf.function(lambda xs: ([y for x in xs if (y := x * 2) > 0], y))(tf.constant([1, 2]))
    for f in (lambda xs: {x for x in xs}, lambda xs: {x: 1 for x in xs}):  # noqa: C416, C420
        with pytest.raises(TypeError, match="Tensor is unhashable"):
            tf.function(f)(tf.constant([1, 2]))

    @tf.function
    def named(xs):
        return {name: x * 2 for name, x in zip("ab", xs, strict=True) if name != "c"}

    assert plainly(named(tf.constant([1, 2]))) == {"a": 2, "b": 4}


def test_plain_python_is_unaffected() -> None:
    log = []

    def note(x):
        log.append(x)
        return x

    def f(xs, n):
        it = iter(xs)
        return [note(x) for x in map(note, xs) if note(x * 2) > n], [next(it) for x in xs if x != n]

    for args in (([1, 2, 3], 2), ([], 0), ((5,), 9)):
        log.clear()
        expected, order = f(*args), list(log)
        log.clear()
        assert converted_version(f)(*args) == expected
        assert log == order
    with pytest.raises(StopIteration):
        converted_version(lambda it, xs: [next(it) for x in xs if x > 0])(iter(()), [1])
    for lazily in (
        lambda xs: any(1 / x for x in xs),
        lambda xs: any(1 / x for x in xs if x != 7),
        lambda xs: any(1 / x for x in xs if x != 7 for _ in (1,)),
    ):
        assert converted_version(lazily)([7, 1, 0])
        with pytest.raises(ZeroDivisionError):
            converted_version(lazily)([0, 1])
    assert converted_version(lambda xs, ys: [x + y for x in xs if x for y in ys if y > x])(
        [0, 1], [1, 2]
    ) == [3]
