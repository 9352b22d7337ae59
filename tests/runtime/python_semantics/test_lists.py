"""Python lists in staged code: what they do there, and what comes back, is what Python does."""

from typing import Any

import agc.runtime as tf
import pytest
from agc import autograph
from support.agreement import agrees


def test_collecting_in_a_loop_under_a_condition() -> None:
    def f(xs, limit):
        out = []
        for x in xs:
            if x > limit:
                out.append(x * 2)
        return out

    agrees(f, ([1, 5, 3, 7], 2), ([1, 2], 5), converted=True)


def test_an_initially_empty_list_grows_and_shrinks_at_its_end() -> None:
    """While it is traced for the first time, it is shorter than it will be."""

    def f(n):
        found, last = [], []
        for i in range(n):
            found.append(i)
            last.append(i)
            if i > 3:
                found[-1] = found.pop() + found.pop()
            elif i == 3:
                x = last.pop()
                last[-1] = x
                del last[0]
        return found, last

    def g(n):
        found = [7, 8]
        for i in range(n):
            x = found.pop()
            if i < 5:
                found[-1] = x
        return found

    agrees(f, 5, 7, converted=True)
    with pytest.raises(IndexError):
        g(3)
    with pytest.raises(IndexError):
        tf.function(g)(tf.constant(3))


def test_a_python_loop_with_a_staged_condition() -> None:
    def f(x):
        out = []
        for i in range(5):
            if x > i:
                out.append(i * x)
        return out, len(out)

    agrees(f, 3, 0, converted=True)


def test_a_growing_list_is_searched_in_the_loop() -> None:
    """`break` and `else` of the loop over it read the list, and keep nothing of it."""

    def primes(n: Any) -> Any:
        found = []
        for k in range(2, n):
            for p in found:
                if k % p == 0:
                    break
            else:
                found.append(k)
        return found, len(found)

    agrees(primes, 3, converted=True)
    agrees(primes, 20, converted=True)


def test_a_list_as_a_stack() -> None:
    def f(n):
        stack, total = [n], 0
        while stack:
            node = stack.pop()
            total += node
            if node > 3:
                stack.append(node - 1)
                stack.append(node - 2)
        return total

    agrees(f, 7, 1, converted=True)


def test_a_list_as_a_queue() -> None:
    def f(n):
        queue, seen = [n], 0
        while len(queue) > 0:
            x = queue.pop(0)
            seen += 1
            if x > 1:
                queue.append(x // 2)
                queue.append(x // 3)
            if seen > 50:
                break
        return seen, queue

    agrees(f, 10, 100, converted=True)


def test_a_list_that_is_replaced_by_a_slice_of_it() -> None:
    def f(xs):
        kept = []
        for x in xs:
            if x > 0:
                kept.append(x)
            else:
                kept = kept[:-1]
        return kept

    agrees(f, [1, 2, -1, 4], [-1], converted=True)


def test_indices_slices_and_queries() -> None:
    def f(n):
        xs = [0, 1]
        for i in range(n):
            xs.append(xs[-1] + xs[i])
        total = 0
        for k, x in enumerate(reversed(xs)):
            total += k * x
        return xs[n], xs[1:], xs[::-1], xs[:-1], xs[n:], len(xs), sum(xs), max(xs), total, xs + xs[:1]

    agrees(f, 5, 0, converted=True)


def test_items_by_a_traced_index() -> None:
    def f(n, k):
        xs = [0, 0, 0]
        for i in range(n):
            xs[i % 3] += i
        xs[k] = 100
        return xs

    agrees(f, (5, 1), (0, 1), converted=True)


def test_other_mutating_list_methods() -> None:
    def f(n):
        xs = [1, 2]
        xs += [n]
        if n > 2:
            xs.extend([n, n + 1])
            xs.insert(0, 9)
            del xs[1]
        else:
            xs.reverse()
        ys = [n]
        for i in range(n):
            if i == 2:
                ys.clear()
            ys.extend(xs)
        return xs, ys

    agrees(f, 3, 1, 0, converted=True)


def test_elements_are_nests() -> None:
    def f(xs):
        out, total = [], 0
        for i, x in enumerate(xs):
            if x % 2 == 0:
                out.append((i, {"x": x}))
        for i, d in out:
            total += i * d["x"]
        return out, total

    agrees(f, ([2, 3, 4],), converted=True)


def test_a_list_for_each_iteration() -> None:
    def f(n):
        rows, sums = [], []
        for i in range(3):
            row = []
            for j in range(n):
                row.append(i * j)
            sums.append(sum(row))
            rows.append(row)
        return rows, sums

    agrees(f, 3, 0, converted=True)


def test_a_new_list_in_the_loop() -> None:
    def f(n):
        out = []
        for i in range(n):
            if i % 3 == 0:
                out = []
            out.append(i)
        return out

    agrees(f, 5, 0, 4, converted=True)


def test_returned_from_the_middle_of_a_loop() -> None:
    def f(n):
        out = []
        for i in range(n):
            if i * i > 10:
                return out
            out.append(i)
        return out

    agrees(f, 3, 8, converted=True)


def test_elements_of_different_shapes() -> None:
    @tf.function
    def f(n):
        out = []
        for i in range(n):
            out.append(tf.range(i))
        return out, tf.concat(out, 0)

    parts, joined = f(tf.constant(4))
    assert [part.numpy().tolist() for part in parts] == [[], [0], [0, 1], [0, 1, 2]]
    assert joined.numpy().tolist() == [0, 0, 1, 0, 1, 2]


def test_stacked_in_the_graph_and_given_to_another_function() -> None:
    @tf.function
    def squares(n):
        out = []
        for i in range(n):
            out.append(i * i)
        return out

    @tf.function
    def f(n):
        found = squares(n)
        found.append(tf.constant(-1))
        return tf.stack(found), tf.reduce_sum(found), found

    stacked, total, found = f(tf.constant(4))
    assert stacked.numpy().tolist() == [0, 1, 4, 9, -1]
    assert int(total) == 13
    assert type(found) is list and len(found) == 5
    assert type(squares(tf.constant(0))) is list


def test_python_numbers_take_the_dtype_of_tensors() -> None:
    @tf.function
    def f(n):
        out = [1]
        for i in range(n):
            out.append(tf.cast(i, tf.float32) / 2)
        return out

    assert [x.numpy() for x in f(tf.constant(2))] == [1.0, 0.0, 0.5]


def test_pop_from_an_empty_list_fails_at_run_time() -> None:
    def f(n):
        xs = [1]
        while n > 0:
            xs.pop()
            n -= 1
        return xs

    agrees(f, 1, 0, converted=True)
    with pytest.raises(IndexError, match="pop from empty list"):
        tf.function(f)(tf.constant(2))

    def g(n):
        xs = []
        for i in range(n):
            if i > 1:
                xs.pop()
            else:
                xs.append(i)
        return xs

    agrees(g, 3, 0, converted=True)
    with pytest.raises(IndexError, match="pop from empty list"):
        tf.function(g)(tf.constant(5))


def refuses(f: Any, code: str, *said: str) -> None:
    with pytest.raises(autograph.StagingError) as caught:
        tf.function(f)(tf.constant(3))
    text = str(caught.value)
    assert f"error[{code}]" in text
    for part in said:
        assert part in text


def test_elements_of_different_types_are_refused() -> None:
    def mixed(n):
        xs = []
        for i in range(n):
            xs.append(i)
            xs.append(0.5)
        return xs

    def objects(n):
        xs = []
        for _ in range(n):
            xs.append(object())
        return len(xs)

    def pairs(n):
        xs = [(1, 2)]
        for i in range(n):
            xs.append(i)
        return xs

    refuses(mixed, "AGC274", "the list `xs`", "different dtypes")
    refuses(objects, "AGC273", "the list `xs`", "object (Python)")
    refuses(pairs, "AGC273", "the list `xs`")


def test_operations_that_need_python_elements_are_refused() -> None:
    def contains(n):
        xs = [1]
        for i in range(n):
            xs.append(i)
        return 2 in xs

    def parts(n):
        xs = [1]
        for i in range(n):
            xs.append(i)
        xs[1:] = [2]
        return xs

    refuses(contains, "AGC275", "tf.reduce_any(tf.equal(tf.stack(xs), value))")
    refuses(parts, "AGC275", "assigning a slice")
    for rewrite, use in {
        "`xs + [x]` for `[*xs, x]`": lambda xs: [*xs, 5],
        "`a, b = xs[0], xs[1]`": lambda xs: max(*xs),
        "a tuple of the list `xs`": tuple,
        "xs.pop(xs.index(value))": lambda xs: xs.remove(1),
        "`sorted(xs)`": lambda xs: xs.sort(),
    }.items():
        refuses(_given_a_list(use), "AGC275", rewrite)


def _given_a_list(use: Any) -> Any:
    def f(n):
        xs = []
        for i in range(n):
            xs.append(i)
        return use(xs)

    return f


def test_lists_are_compared_repeated_and_copied() -> None:
    def f(n):
        xs = [1]
        ys = [1]
        for i in range(n):
            xs.append(i)
            ys.append(i * i)
        zs = list(xs)
        zs.append(7)
        xs *= 2
        return (
            xs == ys,
            xs != ys,
            xs == [1, 1],
            ys == [1],
            ys == 1,
            xs,
            ys * 2,
            2 * zs,
            xs.count(1),
            ys.index(1),
        )

    agrees(f, 0, 1, 3, converted=True)

    def g(n):
        xs = [1]
        for i in range(n):
            xs = xs * 2 + [i]
        return (
            xs,
            list(range(n)),
            list(map(abs, xs)),
            [a * b for a, b in zip(xs, xs, strict=True)],
        )

    agrees(g, 0, 3, converted=True)
    with pytest.raises(ValueError, match="9 is not in list"):
        tf.function(_given_a_list(lambda xs: xs.index(9)))(tf.constant(3))


def test_rows_are_not_compared_as_a_whole() -> None:
    def f(n):
        xs = []
        for i in range(n):
            xs.append(tf.stack([i, i]))
        return xs == xs

    refuses(f, "AGC275", "compare the tensor tf.stack(xs)")


def test_a_traced_index_into_a_python_list_names_tf_gather() -> None:
    with pytest.raises(TypeError, match=r"tf\.gather\(tf\.stack\(\[10, 20, 30\]\), n\)"):
        tf.function(lambda n: [10, 20, 30][n])(tf.constant(1))


def test_the_error_shows_both_different_elements() -> None:
    def f(n):
        xs = []
        for i in range(n):
            square = i * i
            xs.append(square)
        half = tf.cast(n, tf.float32)
        xs.append(half)
        return xs

    refuses(f, "AGC274", "int32 and float32", "square = i * i", "half = tf.cast(n, tf.float32)")


def test_membership_in_a_tensor_names_the_replacement() -> None:
    with pytest.raises(TypeError, match=r"tf\.reduce_any\(xs == "):
        tf.function(lambda xs, n: n in xs)(tf.constant([1, 2]), tf.constant(1))


def test_lists_of_constant_length_stay_nests() -> None:
    def f(n):
        window = [1, 2, 3]
        while n > 0:
            window.append(n)
            window.pop(0)
            n -= 1
        return window

    agrees(f, 5, 0, converted=True)
    graph = str(tf.function(f).get_concrete_function(tf.constant(5)).graph)
    assert "list_" not in graph


def test_an_outer_list_is_filled_while_tracing() -> None:
    log = []

    @tf.function
    def f(n):
        for _ in range(n):
            log.append("traced")
        return n

    f(tf.constant(3))
    assert set(log) == {"traced"}


def test_an_aliased_list_agrees_or_is_refused() -> None:
    def aliased(n):
        xs = [1]
        ys = xs
        for _ in range(n):
            xs.append(5)
        return len(ys)

    def in_a_dict(n):
        xs = [1]
        d = {"a": xs}
        if n > 1:
            xs.append(4)
        return d["a"]

    def in_a_list(n):
        xs = [1]
        ys = [xs]
        for _ in range(n):
            ys[0].append(3)
        return xs

    for f in (aliased, in_a_dict, in_a_list):
        refuses(f, "AGC291", "from 1 to 2 items")
