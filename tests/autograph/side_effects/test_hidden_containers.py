"""Changes of lists, dicts and arrays in functions that a staged block calls: Python's answer or an error."""

import collections
import itertools
import operator

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph import StagingError
from support.hidden_changes import Counter, agrees, refused


class TestContainers:
    @pytest.mark.parametrize(
        "change",
        [
            lambda d: d.update(a=d["a"] + 1),
            lambda d: operator.setitem(d, "a", d["a"] + 1),
            lambda d: d.__setitem__("a", d.pop("a") + 1),
        ],
    )
    @pytest.mark.parametrize(
        "kind", [dict, collections.OrderedDict, collections.UserDict, collections.Counter]
    )
    def test_values_of_a_dict(self, kind, change):
        def f(n):
            d, i = kind({"a": 1, "b": 7}), 0
            while i < n:
                change(d)
                i += 1
            return d["a"], d["b"], len(d)

        agrees(f, [0, 3])

    def test_values_of_a_dict_past_its_methods(self):
        def f(n):
            d, i = {"a": 1}, 0
            while i < n:
                dict.__setitem__(d, "a", d["a"] + 1)
                d |= {"a": d["a"] * 2}
                i += 1
            return d["a"]

        agrees(f)

    def test_items_of_lists(self):
        def f(n):
            xs, nest, queue, i = [1, 2, 3], {"a": ([0], 5)}, collections.deque([1, 2, 3]), 0

            def change():
                xs[0:2] = [xs[1], xs[0] + 1]
                xs.reverse()
                nest["a"][0][0] += xs[0]
                queue.append(queue.popleft() + 10)

            while i < n:
                change()
                i += 1
            return *xs, nest["a"][0][0], *queue

        agrees(f)

    def test_a_key_added_or_removed_in_both_branches(self):
        def f(n):
            d = {"old": 1}

            def put(x):
                d["new"] = x
                d.pop("old")

            if n > 2:
                put(n)
            else:
                put(-n)
            return d["new"], len(d)

        agrees(f)

    def test_a_key_that_may_be_there(self):
        def f(n):
            d, i = {}, 0
            while i < n:
                d["k"] = d.get("k", 0) + 1
                i += 1
            return d["k"]

        def g(n):
            d = {"a": 1}

            def take():
                d.pop("a", None)

            if n > 2:
                take()
            return len(d)

        def h(n):
            counts, i = collections.defaultdict(int), 0
            while i < n:
                counts["x"] += 1
                i += 1
            return counts["x"]

        refused(f, "AGC291", "`d['k']` gets its first value in a block")
        refused(g, "AGC291", "`d['a']` is deleted on one path through a block")
        refused(h, "AGC291", "`counts['x']`")

    def test_a_loop_may_assign_a_key_or_attribute_first(self):
        class Box:
            def put(self, value):
                self.content = value

        def filled(d, n):
            for i in tf.range(n):
                d["a"] = i

        def f(n):
            d, box, other, i = {}, Box(), Box(), 0
            filled(d, n)
            while i < n:
                other.content = i * 2
                box.put(i)
                i += 1
            d["a"] += 1
            return d["a"], box.content, other.content

        for count in (1, 3):
            found, own, other = tf.function(f)(tf.constant(count))
            assert (int(found), int(own), int(other)) == (count, count - 1, 2 * count - 2)

        def g(n):
            box = Box()
            for i in tf.range(n):
                box.put(i)
            return box.content

        for function, kind in ((f, KeyError), (g, AttributeError)):
            for executor in ("plan", "interpret"):
                traced = tf.function(function, experimental_executor=executor)
                with pytest.raises(kind, match="is used after a loop that assigns it first and has not run"):
                    traced(tf.constant(0))

        def nested(n):
            d = {}
            for i in tf.range(n):
                for j in tf.range(i):
                    d["a"] = i + j
            return d["a"]

        refused(nested, "AGC291", "`d['a']` gets its first value in a block")

        def unused(n):
            box = Box()
            for i in tf.range(n):
                box.put(i)
            return n

        assert tf.function(unused)(tf.constant(0)).numpy() == 0

    def test_a_key_that_a_loop_removes(self):
        def f(n):
            d, i = {"a": 1}, 0
            while i < n:
                d.pop("a", None)
                i += 1
            return len(d)

        refused(f, "AGC205", "the loop leaves `d['a']` without a value")

    def test_an_attribute_that_may_be_there(self):
        def f(n):
            c, i = Counter(), 0
            while i < n:
                if not hasattr(c, "h"):
                    c.h = 0
                c.h += 1
                i += 1
            return c.h

        refused(f, "AGC291", "`c.h`")

    def test_a_list_that_grows_and_is_read(self):
        def length(n):
            c, i = Counter(), 0
            while i < n:
                c.log.append(i)
                i += 1
            return len(c.log)

        def inside(n):
            c, i, total = Counter(), 0, 0

            def size():
                return len(c.log)

            while i < n:
                c.log.append(1)
                total += size()
                i += 1
            return total

        def further_out(n):
            c = Counter()

            def run():
                i = 0
                while i < n:
                    c.log.append(i)
                    i += 1

            run()
            return len(c.log)

        def members(n):
            seen, i = set(), 0
            while i < n:
                seen.add(1)
                i += 1
            return len(seen)

        for f in (length, inside, further_out):
            refused(f, "AGC291", "`c.log` changes from 0 to 1 items", "`log` is used here", "tf.TensorArray")
        refused(members, "AGC291", "`seen` changes from 0 to 1 members")

    def test_the_error_shows_only_lines_that_name_the_list(self):
        def f(n):
            c, last = Counter(), 0
            for i in tf.range(n):
                log = c.log
                if i > 0:
                    log.append(i)
                    last = i
                elif len(log) > 3:
                    last = -1
            return log, last

        with pytest.raises(StagingError, match="AGC291") as caught:
            tf.function(f)(tf.constant(3))
        shown = [line for line in str(caught.value).splitlines() if line.endswith("is used here")]
        assert shown
        assert all("log" in line.partition("`")[0] for line in shown)

    def test_a_growing_list_read_by_a_later_call_is_refused(self):
        def size_of(log):
            return lambda: len(log)

        def size_in(c):
            return len(c.log)

        def fill(c, n):
            i = 0
            while i < n:
                c.log.append(i)
                i += 1
            return c

        def by_method(n):
            return fill(Counter(), n).size()

        def by_function(n):
            c = Counter()
            fill(c, n)
            return size_in(c)

        def by_bound_method(n):
            c = Counter()
            size = c.size
            fill(c, n)
            return size()

        def by_closure(n):
            c = Counter()
            size = size_of(c.log)
            fill(c, n)
            return size()

        def by_another_way(n):
            c = Counter()
            ways = {"a": [[[[c.log]]]]}
            fill(c, n)
            return len(ways["a"][0][0][0][0])

        for f in (by_method, by_function, by_bound_method, by_closure, by_another_way):
            refused(f, "AGC291", "`c.log` changes from 0 to 1 items", "`log` is used here")

    def test_a_list_that_only_grows_is_filled_once_for_each_trace(self):
        log, names = [], set()

        @tf.function
        def f(n, x):
            i, x = 0, x * 1
            while i < n:
                log.append(i)
                names.add("loop")
                i += 1
                x = x + 0.5  # an int at first: the body is traced again
            if n > 3:
                log.append("then")
            else:
                log.append("else")
            return x

        assert f(tf.constant(4), 1).numpy() == 3.0
        assert len(log) == 3
        assert log[1:] == ["then", "else"]
        assert names == {"loop"}

    def test_arrays(self):
        def f(n):
            a, i = np.zeros(2), 0

            def change():
                a[0] += 1

            while i < n:
                change()
                i += 1
            return a[0]

        refused(f, "AGC291", "`a` gets other items")

    @pytest.mark.parametrize(
        "make",
        [
            lambda: iter([1, 2, 3]),
            lambda: itertools.count(),
            lambda: (k for k in [1, 2, 3]),
            lambda: zip([1, 2, 3], [1, 2, 3], strict=True),
            lambda: map(abs, [1, 2, 3]),
        ],
    )
    def test_iterators(self, make):
        def f(n):
            it, i = make(), 0
            while i < n:
                next(it)
                i += 1
            return i

        refused(f, "AGC291", "`it` is consumed")


Pair = collections.namedtuple("Pair", "a b")


class TestListsInTuplesInDicts:
    def test_a_nest_rebuilt_in_each_iteration(self):
        def f(n):
            state = {"a": (0, [1, 2]), "b": Pair(1, [2])}
            while n > 0:
                state = {"a": (state["a"][0] + 1, [state["a"][1][1], n]), "b": Pair(n, [state["b"].a])}
                n -= 1
            return state

        agrees(f)

    def test_a_list_inside_keeps_its_other_names(self):
        def f(n):
            state = {"a": (0, [1, 2]), "b": [(1, [5])]}
            known, inner = state["a"][1], state["b"][0][1]
            while n > 0:
                state["a"][1][0] += n
                inner[0] += known[0]
                n -= 1
            return state, known, inner

        agrees(f)


def test_a_built_in_method_as_a_value():
    """The block does not name the object that it belongs to."""

    def grown(x, log):
        push = log.append
        while x > 0:
            push(x)
            x -= 1
        return len(log)

    def counted(x, table):
        put = table.__setitem__
        while x > 0:
            put("n", table["n"] + 1)
            x -= 1
        return table["n"]

    with pytest.raises(StagingError, match="AGC291"):
        tf.function(lambda x: grown(x, [5]))(tf.constant(3))
    assert tf.function(lambda x: counted(x, {"n": 0}))(tf.constant(3)).numpy() == 3
