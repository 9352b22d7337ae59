"""What functions change out of sight of a staged block: the answer is Python's, or there is an error."""

import collections
import dataclasses
import functools
import itertools
import operator
import types

import agc.runtime as tf
import numpy as np
import pytest
from agc import autograph
from agc.autograph import StagingError

ROUNDS = 0, 1, 2, 4


def agrees(f, inputs=ROUNDS):
    """Run `f` on Python's numbers, converted and not, on eager tensors and in graphs: all give the same."""
    runs = autograph.convert(f), tf.function(f), tf.function(f, experimental_executor="interpret")
    for n in inputs:
        expected = f(n)
        assert runs[0](n) == expected
        for run in (f, *runs[1:]):
            found = tf.nest.map_structure(lambda x: getattr(x, "numpy", lambda: x)(), run(tf.constant(n)))
            assert tf.nest.flatten(found) == tf.nest.flatten(expected)


def refused(f, *said):
    with pytest.raises(StagingError) as caught:
        tf.function(f)(tf.constant(3))
    for text in said:
        assert text in str(caught.value)


class Counter:
    first = True

    def __init__(self):
        self.n = 0
        self.log = []
        self.memo = {"a": 0}
        self.other = None

    def bump(self):
        self.n += 1
        return self.n

    def twice(self):
        self.bump()
        return self.bump()

    def size(self):
        return len(self.log)

    def down(self, depth):
        if depth > 0:
            self.n += 1
            self.down(depth - 1)

    def opening(self):
        if self.first:
            self.first = False
            return 100
        return 1


class TestAttributes:
    def test_a_method_changes_self(self):
        def f(n):
            c, i, total = Counter(), 0, 0
            while i < n:
                c.bump()
                total += c.n
                i += 1
            return total, c.n

        agrees(f)

    def test_a_change_two_calls_deep(self):
        def f(n):
            c, total = Counter(), 0
            for i in range(n):
                total += c.twice() * i
            return total, c.n

        agrees(f)

    def test_recursion(self):
        def f(n):
            c, i = Counter(), 0
            while i < n:
                c.down(3)
                i += 1
            return c.n

        agrees(f)

    def test_two_objects_of_one_class(self):
        def f(n):
            a, b, i = Counter(), Counter(), 0
            while i < n:
                a.bump()
                if i % 2 == 0:
                    b.bump()
                i += 1
            return a.n, b.n

        agrees(f)

    def test_nested_loops_and_branches(self):
        def f(n):
            c, i, total = Counter(), 0, 0
            while i < n:
                j = 0
                while j < i:
                    if (i + j) % 2 == 0:
                        c.twice()
                    else:
                        c.down(1)
                    total += c.n
                    j += 1
                i += 1
            return total, c.n

        agrees(f)

    def test_branches(self):
        def f(n):
            c = Counter()
            if n > 1:
                c.bump()
            else:
                c.twice()
            return c.n, (c.bump() if n > 2 else c.twice()), c.n

        agrees(f)

    def test_break_and_return(self):
        def f(n):
            c, total = Counter(), 0
            for i in range(n + 3):
                if c.bump() > 3:
                    break
                total += i
            for _ in range(n):
                if c.bump() > 6:
                    return total, c.n * 100
            return total, c.n

        agrees(f)

    def test_setattr_and_the_dictionary_of_an_object(self):
        def f(n):
            c, i = Counter(), 0

            def change(name):
                setattr(c, name, getattr(c, name) + 1)
                vars(c)["n"] *= 2
                c.__dict__.update(n=c.n + 1)

            while i < n:
                change("n")
                i += 1
            return c.n

        agrees(f)

    def test_an_attribute_that_only_the_class_has(self):
        def f(n):
            c, i, total = Counter(), 0, 0
            while i < n:
                total += c.opening()
                i += 1
            return total

        agrees(f)

    def test_slots_properties_and_dataclasses(self):
        class Slots:
            __slots__ = ("n",)

        class Property:
            def __init__(self):
                self._n = [0]

            @property
            def n(self):
                return self._n[0]

            @n.setter
            def n(self, value):
                self._n = [value]

        @dataclasses.dataclass
        class Data:
            n: int = 0

        def add(thing, k):
            thing.n += k

        def f(n):
            slots, prop, data, i = Slots(), Property(), Data(), 0
            slots.n = 0
            while i < n:
                add(slots, 1)
                add(prop, 2)
                add(data, 3)
                prop.n += 1
                i += 1
            return slots.n, prop.n, data.n

        agrees(f)

    def test_an_object_with_setattr(self):
        class Watching:
            def __init__(self):
                object.__setattr__(self, "writes", 0)

            def __setattr__(self, name, value):
                object.__setattr__(self, "writes", self.writes + 1)
                object.__setattr__(self, name, value)

            def put(self, i):
                self.x = i

        def f(n):
            w, i = Watching(), 0
            w.x = 5
            while i < n:
                w.put(i)
                i += 1
            return w.x, w.writes

        agrees(f)

    def test_classes_modules_and_functions_hold_values_as_well(self):
        class Total:
            total = 0

            @classmethod
            def add(cls):
                cls.total += 1

            @staticmethod
            def add_more():
                Total.total += 10

        space = types.SimpleNamespace(n=0)

        def step():
            step.calls += 1
            space.n += step.calls

        def f(n):
            Total.total = step.calls = space.n = 0
            i = 0
            while i < n:
                Total.add()
                Total.add_more()
                step()
                i += 1
            result = Total.total, step.calls, space.n
            Total.total = step.calls = space.n = 0
            return result

        agrees(f)

    def test_operators_and_context_managers(self):
        class Gauge:
            def __init__(self):
                self.v = 0

            def __iadd__(self, other):
                self.v += other
                return self

            def __enter__(self):
                self.v += 1

            def __exit__(self, *error):
                self.v += 10

            def __len__(self):
                self.v += 100
                return 1

        def f(n):
            gauge, i = Gauge(), 0
            while i < n:
                gauge += 2
                with gauge:
                    len(gauge)
                i += 1
            return gauge.v

        agrees(f)

    def test_layers_with_state(self):
        class Layer:
            def __init__(self):
                self.state = 0

            def __call__(self, x):
                self.state = self.state * 2 + x
                return self.state

        class Model:
            def __init__(self):
                self.layers = [Layer(), Layer()]

            def __call__(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        def f(n):
            model, total, i = Model(), 0, 0
            while i < n:
                total += model(i)
                i += 1
            return total, model.layers[0].state, model.layers[1].state

        agrees(f)

    def test_partials_bound_methods_and_keys_of_sorted(self):
        def f(n):
            c, i, total = Counter(), 0, 0
            bound, partial = c.bump, functools.partial(Counter.bump, c)
            while i < n:
                total += bound() + partial()
                sorted([2, 1], key=lambda k: (c.bump(), k)[1])
                i += 1
            return total, c.n

        agrees(f)

    def test_objects_made_in_the_block_are_private(self):
        def f(n):
            total, i = 0, 0
            while i < n:
                c = Counter()
                c.twice()
                c.log.append(i)
                total += c.n + len(c.log)
                i += 1
            return total

        agrees(f)

    def test_objects_chosen_by_a_tensor(self):
        def f(n):
            c = Counter()

            def exchange():
                c.other = Counter()

            if n > 2:
                exchange()
            return c.other

        refused(f, "AGC203", "c.other")


class TestOtherNames:
    def test_an_attribute(self):
        def f(n):
            c, i, total = Counter(), 0, 0
            c.other = Counter()
            while i < n:
                inner = c.other
                inner.n += 1
                total += c.other.n
                i += 1
            return total, c.other.n

        agrees(f)

    def test_two_names_of_one_object(self):
        def f(n):
            a, i = Counter(), 0
            b = a
            while i < n:
                a.n += 1
                b.n += 2
                i += 1
            return a.n, b.n

        agrees(f)

    def test_a_variable_that_cycles_through_objects(self):
        def f(n):
            a, b, i = Counter(), Counter(), 0
            a.other, b.other = b, a
            while i < n:
                here = a
                for _ in range(3):
                    here.n += 1
                    here = here.other
                i += 1
            return a.n, b.n

        agrees(f)

    def test_a_list_or_dict_that_is_state_is_still_the_same_object(self):
        def add(d):
            d["n"] += 1
            return d

        def f(n):
            first, numbers, seen, i = {"n": 0}, [0, [0]], 0, 0
            d, xs = first, numbers
            while i < n:
                d = add(d)
                xs[1][0] += 2
                xs = numbers
                seen += first["n"]
                i += 1
            return d["n"], first["n"], seen, numbers[1][0], d is first

        agrees(f)

    def test_containers_in_a_tuple(self):
        def step(x, state):
            state[0]["h"] += x
            state[1][0] += 1
            return state

        def f(n):
            d = {"h": 0}
            state, i = (d, [1]), 0
            while i < n:
                state = step(i, state)
                i += 1
            return state[0]["h"], state[1][0], d["h"]

        agrees(f)

    def test_a_list_changed_in_a_closure_keeps_its_identity(self):
        def f(n):
            c, i = Counter(), 0
            c.other = [0]
            kept = c.other

            def add():
                c.other[0] += 10

            while i < n:
                add()
                i += 1
            return c.other[0], kept[0], kept is c.other

        agrees(f)

    def test_swapped_variables(self):
        def f(n):
            p, q = [0], [10]
            a, b, i = p, q, 0
            while i < n:
                a, b = b, a
                a[0] += 1
                i += 1
            return p[0], q[0]

        refused(f, "AGC291", "`b` is changed in place, and bound to another object")

    def test_a_choice_of_two_dicts(self):
        def read(n):
            d = first = {"k": 0}
            if n > 2:
                d = {"k": 5}
            return d["k"], first["k"]

        def write(n):
            d = first = {"k": 0}
            if n > 2:
                d = {"k": 5}
            d["k"] += 1
            return d["k"], first["k"]

        agrees(read)
        refused(write, "AGC291", "`d` is changed in place")

    def test_a_dict_that_is_changed_and_then_another(self):
        def f(n):
            first = {"n": 0}
            d, i = first, 0
            while i < n:
                d["n"] = d["n"] + 1
                if i > 1:
                    d = {"n": 0}
                i += 1
            return first["n"], d["n"]

        refused(f, "AGC291", "`d` is changed in place, and bound to another object")


class TestVariables:
    def test_nonlocal(self):
        def f(n):
            k = 0

            def inc():
                nonlocal k
                k += 1

            i, total = 0, 0
            while i < n:
                inc()
                i += 1
                total += k
            return k, total

        agrees(f)

    def test_counters_in_closures(self):
        def counter():
            k = 0

            def inc():
                nonlocal k
                k += 1
                return k

            return inc

        def f(n):
            a, b = counter(), counter()
            i, total = 0, 0
            while i < n:
                total += a() + a() * b()
                i += 1
            return total, a(), b()

        agrees(f)

    def test_globals(self):
        def f(n):
            global tally
            tally = 0
            i, total = 0, 0
            while i < n:
                total += count()
                globals()["tally"] += 1
                i += 1
            result, tally = tally, 0
            return total, result

        agrees(f)

    def test_default_arguments(self):
        def f(n):
            def keep(x, store=[0]):  # noqa: B006
                store[0] += x
                return store[0]

            i, total = 0, 0
            while i < n:
                total += keep(i)
                i += 1
            return total

        agrees(f)

    def test_closures_made_in_a_loop(self):
        def f(n):
            late, early = [], []
            for k in range(3):
                late.append(lambda: k * n)  # noqa: B023
                early.append(lambda k=k: k * n)
            return [g() for g in late], [g() for g in early]

        agrees(f)

    def test_closures_made_in_a_staged_loop(self):
        def f(n):
            late, i = [], 0
            while i < n:
                late.append(lambda: i)  # noqa: B023
                i += 1
            return late[0]()

        refused(f)

    def test_the_test_of_a_loop(self):
        def f(n):
            c, total = Counter(), 0
            while c.bump() < n:
                c.n += 1
                total += c.n
            return total, c.n

        agrees(f)

    def test_an_operand(self):
        def f(n):
            c = Counter()
            return n > 2 and c.bump() > 0, c.n

        refused(f, "AGC291", "an operand of this `and` changes `c.n`")


tally = 0


def count():
    global tally
    tally += 1
    return tally


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


class TestTraces:
    def test_a_failed_trace_leaves_objects_as_they_were(self):
        c = Counter()

        @tf.function
        def f(n):
            i = 0
            while i < n:
                c.twice()
                c.log.append(i)
                c.memo["a"] += 1
                c.memo = [i]
                i = tf.zeros([2]) + tf.zeros([3])
            return i

        with pytest.raises(ValueError):
            f(tf.constant(3))
        assert (c.n, c.log, c.memo) == (0, [], {"a": 0})

    def test_an_object_that_creates_its_variables_on_first_use(self):
        class Dense:
            def __init__(self):
                self.is_built = False

            def __call__(self, x):
                if not self.is_built:
                    self.w = tf.Variable(2.0)
                    self.is_built = True
                return self.w * x

        dense = Dense()

        @tf.function
        def f(n):
            i, total = 0, 0.0
            while i < n:
                total += dense(3.0)
                i += 1
            return total

        assert f(tf.constant(3)).numpy() == 18.0
        assert dense.is_built is True

    def test_a_change_in_the_first_trace_only_is_refused(self):
        def f(n):
            made = [0]

            @functools.cache
            def table(k):
                made[0] += 1
                return k * 2

            i, total = 0, 0
            while i < n:
                total += table(3) + made[0]
                i += 1
            return total

        refused(
            f,
            "AGC291",
            "`made[0]` changes when a block is traced for the first time, and not in the next trace",
        )

    def test_a_cached_property_is_read_again(self):
        class Table:
            @functools.cached_property
            def size(self):
                return 7

        def f(n):
            table, i, total = Table(), 0, 0
            while i < n:
                total += table.size
                i += 1
            return total

        agrees(f)


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
    """What it belongs to is not named in the block."""

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


def test_attributes_that_a_library_manages_are_not_carried():
    class Layer:
        _untracked_attributes = ("has_run",)
        has_run = False
        calls = 0

        def run(self):
            self.calls += 1
            if not self.has_run:
                self.has_run = True
            return self.calls

    layer = Layer()

    @tf.function
    def f(n):
        total = 0
        for _ in tf.range(n):
            total += layer.run()
        return total, layer.calls

    assert [int(x) for x in f(tf.constant(3))] == [6, 3]
    assert layer.has_run is True
