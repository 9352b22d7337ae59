"""Changes of attributes in functions that a staged block calls: Python's answer or an error."""

import dataclasses
import functools
import types

import agc.runtime as tf
import pytest
from support.hidden_changes import Counter, agrees, refused


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


def test_the_dictionary_of_a_library_class_is_no_change():
    """Each access of `functools.partial.__dict__` gives a new view."""

    class Proxy:
        def adopt(self, other):
            self.__dict__ = other.__dict__

    proxy = Proxy()

    def f(n):
        i, total = 0, 0
        while i < n:
            total = functools.partial(max, total)(i)
            if isinstance(proxy, functools.partial):
                proxy.adopt(proxy)
            i += 1
        return total

    agrees(f)


def test_a_class_may_hide_its_module():
    """The class of `wrapt.ObjectProxy` has a property `__module__`."""

    class Proxy:
        __module__ = property(lambda self: "elsewhere")

        def __init__(self):
            self.n = 0

    def f(n):
        proxy, i = Proxy(), 0
        while i < n:
            proxy.n += i
            i += 1
        return proxy.n

    agrees(f)


def test_an_attribute_that_a_graph_has_changed_is_refused_with_its_line():
    counter = Counter()

    @tf.function
    def f(n):
        total = 0
        for _ in tf.range(n):
            counter.bump()
            total += counter.n
        return total

    assert int(f(tf.constant(3))) == 6
    with pytest.raises(tf.errors.InaccessibleTensorError, match=r"belongs in a tf\.Variable") as caught:
        counter.bump()
    assert "for _ in tf.range(n):" in caught.value.diagnostic.notes[0].where.text()
