"""Lists, dicts and dataclasses with several names: copies, new objects in each iteration, and chosen ones."""

import dataclasses
import types

import agc.runtime as tf
import pytest
from agc.autograph import StagingError
from support.shared_objects import Slots, Total, agrees, refused


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
