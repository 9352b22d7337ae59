"""A list, dict or dataclass that blocks change and bind stays one object for all who know it, or there is an error."""

import collections
import dataclasses
import operator
import types

import agc.runtime as tf
import pytest
from agc.autograph import StagingError


@dataclasses.dataclass
class Total:
    value: object
    steps: int = dataclasses.field(default=0, init=False)

    def __post_init__(self):
        self.made = True

    def is_the(self, other):
        return self is other

    def add(self, x):
        self.value = self.value + x
        return self


@dataclasses.dataclass(slots=True)
class Slots:
    value: object

    def add(self, x):
        self.value = self.value + x
        return self


class Items(list):
    def add(self, x):
        self[0] = self[0] + x
        return self


class Named(collections.OrderedDict):
    def add(self, x):
        self["value"] = self["value"] + x
        return self


class Recent(collections.deque):
    def add(self, x):
        self.append(self[-1] + x)
        return self


KINDS = {
    "dataclass": (Total, lambda total: total.value),
    "slots": (Slots, lambda total: total.value),
    "list": (lambda x: Items([x]), lambda items: items[0]),
    "dict": (lambda x: Named(value=x, other=x), lambda named: named["value"]),
    "deque": (lambda x: Recent([x, x], 2), lambda recent: recent[-1]),
}


def agrees(f, *others):
    """`f` gives the same in a graph, for positive and negative numbers."""
    run = tf.function(f)
    for x in (2.0, -1.0):
        expected = tf.nest.flatten(f(tf.constant(x), *others))
        assert [float(y) for y in tf.nest.flatten(run(tf.constant(x), *others))] == [
            float(y) for y in expected
        ]


def refused(f, name):
    with pytest.raises(
        StagingError, match=f"AGC291.*`{name}` is changed in place, and bound to another object"
    ):
        tf.function(f)(tf.constant(2.0))


PROGRAMS = []


def program(function):
    """Enter a function of a kind and a number."""
    PROGRAMS.append(function)
    return function


@program
def a_method_that_changes_and_returns_self(make, read, x):
    acc = kept = make(x)
    if x > 0:
        acc = acc.add(x)
    else:
        acc.add(-2 * x)
    for _ in tf.range(3):
        acc = acc.add(x)
    return read(acc), read(kept)


@program
def a_new_object_in_one_branch(make, read, x):
    acc = make(x)
    if x > 0:
        acc.add(x)
    else:
        acc = make(x * 3)
    return read(acc)


def bumped(acc, x):
    if x > 0:
        return acc.add(x)
    return acc


@program
def a_function_that_returns_its_argument(make, read, x):
    acc = make(x)
    same = bumped(acc, x)
    same.add(x)
    return read(acc), read(same)


@program
def one_new_object_in_two_variables(make, read, x):
    if x > 0:
        first = second = make(x)
    else:
        second = make(x + 1)
        first = second
    first.add(x * 10)
    return read(first), read(second), float(first is second)


@program
def one_new_object_in_containers(make, read, x):
    if x > 0:
        new = make(x)
        held = {"p": new, "q": (new, [new])}
    else:
        new = make(-x)
        held = {"p": new, "q": (new, [new])}
    held["q"][1][0].add(x * 10)
    return read(held["p"]), read(held["q"][0]), read(new)


def doubled_in_both(make, x):
    if x > 0:
        first = make(x)
        return first, first
    first = make(x + 1)
    return first, first


@program
def one_new_object_returned_twice(make, read, x):
    first, second = doubled_in_both(make, x)
    first.add(x * 10)
    return read(first), read(second)


@program
def objects_made_in_each_iteration(make, read, x):
    for _ in tf.range(3):
        first = second = make(x + 1)
        second.add(x)
    first.add(x * 10)
    return read(first), read(second)


@program
def objects_made_before_and_in_each_iteration(make, read, x):
    first = second = make(x)
    for _ in tf.range(3):
        first = second = make(x + 1)
        second.add(x)
    first.add(x * 10)
    return read(first), read(second)


@program
def an_old_object_inside_new_objects(make, read, x):
    inner = make(x)
    try:
        outer = [inner, x] if x > 0 else [inner, -x]
    finally:
        inner.add(x)
    outer[0].add(x * 10)
    return read(inner), outer[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", PROGRAMS)
def test_objects_stay_what_they_are(function, kind):
    agrees(lambda x: function(*KINDS[kind], x))


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


class TestCopies:
    """Allow changes to a copy in the same block as changes to the original."""

    def test_in_a_branch(self):
        def f(x):
            first = chosen = [x]
            if x > 0:
                chosen = list(first)
                chosen[0] = x * 2
            return first[0], chosen[0]

        agrees(f)

    @pytest.mark.parametrize(
        "copied", [dict, lambda d: {**d}, lambda d: d.copy()], ids=["dict", "stars", "copy"]
    )
    def test_lists_made_in_each_iteration(self, copied):
        def step(state):
            state = copied(state)
            state["n"] = state["n"] + 1
            return state

        def f(x):
            start = state = {"n": x}
            for _ in tf.range(3):
                state = step(state)
            return start["n"], state["n"]

        agrees(f)

    def test_in_items_of_a_dict(self):
        def f(x):
            table = {"a": [x], "b": [x + 1]}
            for key in table:
                if x > 0:
                    table[key] = [table[key][0] * 2]
            return table["a"][0], table["b"][0]

        agrees(f)

    def test_a_dataclass_with_other_fields(self):
        def f(x):
            start = state = Slots(x)
            for _ in tf.range(3):
                state = dataclasses.replace(state, value=state.value + 1)
                state.add(x)
            return start.value, state.value

        agrees(f)


class TestRounds:
    """A round of a loop does not begin with the object that the first one began with, if it is given another."""

    def test_other_references_keep_the_old_list(self):
        def f(x):
            first = last = [x]
            for _ in tf.range(3):
                last = [first[0] + last[0]]
            return last[0], first[0]

        agrees(f)

    def test_swapped_lists(self):
        def f(x):
            p, q = [x], [x + 1]
            for _ in tf.range(3):
                p[0] = p[0] + q[0]
                p, q = q, p
            return p[0], q[0]

        agrees(f)

    def test_an_own_list_of_shared_objects(self):
        def f(x):
            first = [x]
            held = [first, first]
            for _ in tf.range(2):
                first[0] += 5
                held[1] = first
            first[0] += 100
            return first[0], held[0][0], held[1][0]

        agrees(f)


class TestDataclasses:
    def test_an_object_is_initialized_once(self):
        def f(x):
            total = Total(x)
            for _ in tf.range(3):
                total = total.add(x)
                total.steps += 1
            assert total.made
            return total.value, total.steps

        agrees(f)

    def test_a_module_that_is_a_dataclass_is_one_object(self):
        @dataclasses.dataclass(eq=False)
        class Scale(tf.Module):
            factor: float
            calls: int = 0

            def __post_init__(self):
                super().__init__()
                self.weight = tf.Variable(self.factor)

            def __call__(self, x):
                self.calls += 1
                return x * self.weight

        scale = Scale(3.0)
        apply = tf.function(lambda layer, x: layer(x))
        assert apply(scale, tf.constant(2.0)) == 6.0
        scale.weight.assign(5.0)
        assert apply(scale, tf.constant(2.0)) == 10.0
        assert scale.calls == 1  # once for the trace
        assert not tf.nest.is_nested(scale)

        def chosen(x):
            if x > 0:
                scale.weight.assign(7.0)
                layer = scale
                y = layer(x)
            else:
                layer = scale
                y = layer(-x)
            return y, layer.weight + 0.0

        agrees(chosen)

    def test_a_frozen_dataclass_keeps_its_fields(self):
        @dataclasses.dataclass(frozen=True)
        class Pair:
            one: object
            other: object

        def f(x):
            items = [x]
            pair = Pair(items, x) if x > 0 else Pair(items, -x)
            pair.one[0] = x * 10
            return items[0], pair.other

        agrees(f)


class TestTwoNames:
    def test_the_same_list_in_both_branches(self):
        def f(x):
            first = [x]
            if x > 0:  # noqa: SIM108
                chosen = first
            else:
                chosen = first
            chosen[0] = chosen[0] + 1
            return first[0], chosen[0]

        agrees(f)

    def test_a_choice_of_two_lists_not_used_again(self):
        def f(x):
            first, second = [x], [x + 1]
            if x > 0:  # noqa: SIM108
                chosen = first
            else:
                chosen = second
            chosen[0] = chosen[0] * 2
            return chosen[0]

        agrees(f)

    def test_swapped_lists(self):
        def f(x):
            p, q = [x], [x + 1]
            if x > 0:
                p, q = q, p
            p[0] = x * 10
            return p[0], q[0]

        agrees(f)

    @pytest.mark.parametrize("change", ["item", "augmented", "append", "in a function", "the other"])
    def test_a_choice_of_two_lists_with_the_other_read_later_is_refused(self, change):
        def item(x):
            first = chosen = [x]
            if x > 0:
                chosen = [x + 1]
            chosen[0] = x * 2
            return first[0], chosen[0]

        def augmented(x):
            first = [x]
            chosen = first if x > 0 else [x + 1]
            chosen[0] += 1
            return first[0], chosen[0]

        def append(x):
            first = [x]
            if x > 0:  # noqa: SIM108
                chosen = first
            else:
                chosen = [x]
            chosen.append(x)
            return first[-1], chosen[-1]

        def bump(items, x):
            items[0] = x

        def in_a_function(x):
            first = [x]
            chosen = first if x > 0 else [x + 1]
            bump(chosen, x * 2)
            return first[0], chosen[0]

        def the_other(x):
            first = [x]
            chosen = first if x > 0 else [x + 1]
            first[0] = x * 2
            return chosen[0]

        programs = item, augmented, append, in_a_function, the_other
        refused({f.__name__.replace("_", " "): f for f in programs}[change], "chosen")

    @pytest.mark.parametrize("holder", ["a class", "far inside", "a slot", "a module", "a default"])
    def test_a_list_reachable_through_other_objects_is_found(self, holder):
        """Find a list that no variable names, but that is reachable from the variables."""
        module = types.ModuleType("module")
        module.__file__ = __file__
        slots = Slots(0)
        held = []

        class Box:
            items = None

        def f(x):
            first = [x]
            if holder == "a class":
                Box.items = first
            elif holder == "far inside":
                held.append([[{"a": [[[first]]]}]])
            elif holder == "a slot":
                slots.value = (first,)
            elif holder == "a module":
                module.items = first
            else:

                def last(items=first):
                    return items[0]

                held.append(last)
            chosen = first if x > 0 else [x + 1]
            chosen[0] = x * 2
            return x if Box.items is None else Box.items[0]

        refused(f, "chosen")

    def test_a_choice_of_two_unchanged_lists(self):
        def total(items):
            return items[0] + items[1]

        def f(x):
            first, second = [x, x], [x + 1, x]
            chosen = first if x > 0 else second
            return total(chosen), total(first), tf.stack(chosen), tf.add_n(second)

        run = tf.function(f)
        for x in (2.0, -1.0):
            for found, expected in zip(run(tf.constant(x)), f(tf.constant(x)), strict=True):
                assert found.numpy().tolist() == expected.numpy().tolist()

    def test_a_field_assigned_after_the_choice_is_refused(self):
        def f(x):
            first = chosen = Total(x)
            if x > 0:
                chosen = Total(x + 1)
            chosen.value = x * 2
            return first.value, chosen.value

        refused(f, "chosen")

    def test_a_loop_that_may_not_run(self):
        def taken(x):
            first, chosen = [x], [x + 1]
            for _ in tf.range(tf.cast(tf.abs(x), tf.int32)):
                chosen = first
            chosen[0] = x * 2
            return first[0], chosen[0]

        def left(x):
            first = chosen = {"n": x}
            for _ in tf.range(2):
                chosen = {"n": x}
            chosen["n"] = x * 2
            return first["n"], chosen["n"]

        refused(taken, "chosen")
        refused(left, "chosen")


def test_a_list_rebound_in_each_iteration_may_be_read_and_not_changed():
    """The second iteration begins with a new list in `first`."""

    def moved(x):
        first, last = [x + 1], [x * 2]
        known = {"k": first}
        for _ in tf.range(2):
            last = first
            first = [x]
        return first, last, known

    def read(x):
        _, last, known = moved(x)
        known["k"] = last
        return known["k"][0]

    def changed(x):
        _, last, known = moved(x)
        last[0] = x * 7
        return known["k"][0]

    def changed_by_another_name(x):
        _, last, known = moved(x)
        known["k"][0] = x * 7
        return last[0]

    agrees(read)
    refused(changed, "last")
    refused(changed_by_another_name, "first")


class TestListsThatTheGraphHolds:
    """Lists of different lengths, and what loops have filled: they are objects as well."""

    @staticmethod
    def counted(n):
        out = []
        for i in tf.range(tf.cast(tf.abs(n), tf.int32)):
            out.append(i)
        return out

    @pytest.mark.parametrize("way", ["an item", "append", "in a tuple", "the other"])
    def test_lists_of_different_lengths(self, way):
        def f(x):
            first = [x]
            around = (first,)
            chosen = first if x > 0 else [x, x]
            if way == "an item":
                chosen[0] = x * 2
                return first[0]
            if way == "the other":
                first[0] = x * 2
                return chosen[0]
            chosen.append(x)
            return len(around[0] if way == "in a tuple" else first)

        refused(f, "chosen")

    def test_lists_of_different_lengths_that_are_not_changed(self):
        def f(x):
            first = [x]
            chosen = first if x > 0 else [x, x]
            return len(chosen), chosen[0] + first[0]

        agrees(f)

    def test_a_choice_of_two_lists_that_grow_is_refused(self):
        def branch(x):
            one, chosen = self.counted(x), self.counted(x * 2)
            if x > 0:
                chosen = one
            chosen.append(7)
            return len(one)

        def loop(x):
            one, chosen = self.counted(x), self.counted(x * 2)
            for i in tf.range(2):
                if i == 1:
                    chosen = one
            chosen.append(7)
            return len(one)

        def longer(x):
            one = chosen = more = [1]
            for i in tf.range(2):
                if i == 1:
                    chosen = chosen + more
            chosen.append(7)
            return len(one)

        for f in (branch, loop, longer):
            refused(f, "chosen")

    def test_a_loop_that_changes_the_list_of_its_first_iteration(self):
        def f(x):
            one = self.counted(x)
            last, more = one, [0]
            for i in tf.range(2):
                last.append(i)
                last = last + more
            return len(one)

        refused(f, "last")

    def test_the_same_list_on_every_path(self):
        def f(x):
            one = self.counted(x)
            if x > 0:
                other, y = one, 1
            else:
                other, y = one, 2
            other.append(y)
            return len(one), len(other), one[-1]

        agrees(f)

    def test_two_names_for_one_new_list(self):
        def together(x):
            if x > 0:
                a = b = [1]
            else:
                a = b = [1, 2]
            a.append(3)
            return len(a), len(b)

        def apart(x):
            if x > 0:
                a = b = [1]
            else:
                a, b = [1, 2], [3]
            a.append(3)
            return len(a), len(b)

        agrees(together)
        with pytest.raises(StagingError, match=r"AGC291.*`a` and `b` are one object on one path"):
            tf.function(apart)(tf.constant(1.0))
