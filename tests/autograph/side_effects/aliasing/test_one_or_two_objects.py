"""One object in some runs and two in others is an error, once the program can notice the difference."""

import collections
import operator

import agc.runtime as tf
import pytest
from agc.autograph import StagingError
from support.shared_objects import Total, agrees, refused


class TestOneOrTwo:
    """What is one object in some runs and two in others is an error, once that can be noticed."""

    @staticmethod
    def refused(f, title):
        with pytest.raises(StagingError, match=f"AGC291.*{title}"):
            tf.function(f)(tf.constant(2.0))

    def test_a_change(self):
        def f(x):
            if x > 0:
                first = second = [x]
            else:
                first, second = [x], [x + 1]
            first.append(x)
            return second[-1]

        def in_parts(x):
            item = [x]
            box = {"p": item, "q": item} if x > 0 else {"p": [x], "q": item}
            p = box["p"]
            p[0] = x * 2
            return box["q"][0]

        def unseen(x):
            if x > 0:
                first = second = [x]
            else:
                first, second = [x], [x + 1]
            other = [first]
            for change in [other[0].append, other[0].append]:
                change(x)
            return second[-1]

        self.refused(f, "`first` and `second` are one object on one path .* two on another")
        self.refused(in_parts, "")
        self.refused(unseen, "`first` and `second` are one object")

    def test_module_loaders_are_not_searched(self, monkeypatch):
        """It leads to all that a program has, and to none of its lists."""

        class Loader:
            @property
            def __dict__(self):
                raise AssertionError("searched")

        shared = [1.0]

        def f(x):
            items = shared if x > 0 else [2.0]
            items[0] = 5.0
            return x + shared[0]

        monkeypatch.setitem(globals(), "__loader__", Loader())
        self.refused(f, "`items` is changed in place")

    def test_a_change_visible_under_another_name(self):
        shared = [1.0]

        def of_the_callers(x):
            def replaced(items):
                if x > 0:
                    items = [x]
                items[0] = x * 5
                return items[0]

            items = [x]
            return replaced(items), items[0]

        def on_the_way(x):
            def chosen(items):
                return items if x > 0 else [x]

            def changed(items, other):
                other[0] = x * 5
                return items[0]

            items = [x]
            return changed(items, chosen(items))

        def in_a_closure(x):
            items = shared if x > 0 else [2.0]
            items[0] = 5.0
            return x + shared[0]

        def in_a_generator(x):
            def twice():
                items = [x]
                yield items
                yield items

            for items in twice():
                chosen = items if x > 0 else [x]
                chosen[0] = chosen[0] + 1
            return chosen[0]

        def in_attributes(x):
            class Cursor:
                def __init__(self):
                    self.items, self.current = [x], [x]

                def move(self):
                    if x > 0:
                        self.current = self.items

                def change(self):
                    self.current[0] = x * 5

            cursor = Cursor()
            cursor.move()
            cursor.change()
            return cursor.items[0]

        def that_was_in_doubt_before(x):
            first = second = [x]
            if x > 0:
                second = [x]
            for _ in tf.range(0):
                first = [x]
            first[0] = x * 5
            return second[0]

        for f in (
            of_the_callers,
            on_the_way,
            in_a_closure,
            in_a_generator,
            in_attributes,
            that_was_in_doubt_before,
        ):
            self.refused(f, "is changed in place, and bound to another object")

    def test_objects_swapped_in_each_iteration(self):
        def f(x):
            p, q = Total(x), Total(x)
            held = [p]
            for _ in tf.range(3):
                p, q = q, p
                p.value = p.value + 1
            return p.value, q.value, held[0].value

        refused(f, "p")

    def test_the_line_of_the_change(self):
        def f(x):
            first = second = [x]
            if x > 0:
                second = [x]
            first[0] = x * 5
            return second[0]

        with pytest.raises(StagingError) as caught:
            tf.function(f)(tf.constant(2.0))
        (note,) = caught.value.diagnostic.notes
        line = f.__code__.co_firstlineno
        assert (note.where.line - line, note.label) == (4, "changed here")
        assert caught.value.diagnostic.where.line - line == 2

    def test_no_change(self):
        def f(x):
            if x > 0:
                first = second = [x]
            else:
                first, second = [x], [x + 1]
            return first[0], second[0]

        agrees(f)

    def test_a_comparison(self):
        def after(x):
            first = [x]
            second = first if x > 0 else [x]
            return x if first is second else -x

        def in_a_loop(x):
            first = last = [x]
            for _ in tf.range(3):
                x = x + 1 if last is first else x
                last = [x]
            return x

        def same(one, other):
            return one is other

        def in_a_function(x):
            if x > 0:
                first = second = {"x": x}
            else:
                first, second = {"x": x}, {"x": x}
            return x if same(first, second) else -x

        def in_the_next_round(x):
            first = last = [x]
            for _ in range(2):
                if x > 0:
                    x = x + 1 if last is first else x
                else:
                    last = [x]
            return x + last[0]

        def same_as_well(one, other):
            return same(one, other)

        def further_in(x):
            first = [x]
            second = first if x > 0 else [x]
            both = second, first
            return x if same_as_well(*both) else -x

        def by_a_function(x):
            first = [x]
            second = first if x > 0 else [x]
            return x if operator.is_(second, first) else -x

        def by_number(x):
            first = [x]
            second = first if x > 0 else [x]
            return x if id(second) == id(first) else -x

        def by_a_method(x):
            first = Total(x)
            second = first if x > 0 else Total(x)
            return x if second.is_the(first) else -x

        after_it = further_in, by_a_function, by_number, by_a_method
        for f in (after, in_a_loop, in_a_function, in_the_next_round, *after_it):
            self.refused(
                f, "is depends on a block that the graph runs, but `is` tests it while the code is traced"
            )

    def test_objects_that_differ_in_more_than_their_parts(self):
        def length(x):
            recent = collections.deque([x], 1) if x > 0 else collections.deque([x], 2)
            return recent[0]

        def attribute(x):
            total = Total(x)
            if x > 0:
                total = Total(x)
                total.made = False
            return total.value

        self.refused(length, "the objects that a block of the graph binds to `recent` differ in `maxlen`")
        self.refused(attribute, "binds to `total` differ in `made`")
