"""A variable that is one of several objects, as the graph decides: it may be read; a change of it is refused."""

import collections
import copy
import dataclasses

import agc.runtime as tf
import pytest
from agc.autograph import StagingError


class Plain:
    def __init__(self, value):
        self.value = value

    def add(self, x):
        self.value = self.value + x
        return self


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def add(self, x):
        self.value = self.value + x
        return self


@dataclasses.dataclass
class Total:
    value: object

    def add(self, x):
        self.value = self.value + x
        return self


@dataclasses.dataclass
class Node:
    value: object
    next: object = None


class Items(list):
    def add(self, x):
        self[0] = self[0] + x
        return self

    @property
    def value(self):
        return self[0]


class Table(dict):
    def add(self, x):
        self["value"] = self["value"] + x
        return self

    @property
    def value(self):
        return self["value"]


class Shared(collections.UserDict):
    add, value = Table.add, Table.value


KINDS = {
    "plain": Plain,
    "slots": Slots,
    "dataclass": Total,
    "list": lambda x: Items([x]),
    "dict": lambda x: Table(value=x),
    "UserDict": lambda x: Shared(value=x),
}


PLAIN = "plain", "slots"
"""Kinds that a graph does not take apart: it cannot even choose between the values in them."""


def floats(results):
    return [float(y) for y in tf.nest.flatten(results)]


def agrees(f):
    """`f` gives the same in a graph."""
    run = tf.function(f)
    for x, n in ((2.0, 2), (-1.0, 1), (1.0, 0), (5.0, 3)):
        assert floats(run(tf.constant(x), tf.constant(n))) == floats(f(tf.constant(x), tf.constant(n)))


def refused(f, *texts, code="AGC291"):
    with pytest.raises(StagingError) as caught:
        tf.function(f)(tf.constant(2.0), tf.constant(2))
    for text in (code, *texts):
        assert text in str(caught.value)


def refused_change(f, name, line, kind=""):
    """The error names variable, line and fix."""
    if kind in PLAIN:
        shown = "values that a graph cannot choose between: "
        refused(f, shown, line, "a dataclass", "use each by its own name, in an `if`", code="AGC203")
    else:
        fix = f"change a copy of `{name}`", "change each object by its own name, in an `if`"
        refused(f, f"`{name}` is changed in place, and bound to another object", line, *fix)


@pytest.mark.parametrize("kind", KINDS)
class TestKinds:
    def test_an_object_that_an_expression_chose_cannot_be_changed(self, kind):
        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](x + 10)
            chosen = a if x > 1 else b
            for _ in tf.range(n):
                chosen.add(1.0)
            a.add(100.0)
            return a.value, b.value, chosen.value

        refused_change(f, "chosen", "chosen = a if x > 1 else b", kind)

    def test_an_object_that_a_statement_chose_cannot_be_changed(self, kind):
        def f(x, n):
            objects = [KINDS[kind](x + k) for k in range(3)]
            best = objects[0]
            for other in objects[1:]:
                if other.value * x > best.value * x:
                    best = other
            best.add(50.0)
            return [one.value for one in objects], best.value

        refused_change(f, "best", "if other.value * x > best.value * x:", kind)

    def test_a_staged_loop_cannot_exchange_objects_that_it_changes(self, kind):
        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](x + 1)
            active, other = a, b
            for _ in tf.range(n):
                active = active.add(1.0)
                if active.value > 3.0:
                    active, other = other, active
            return a.value, b.value, active.value, other.value

        refused_change(f, "active", "active = active.add(1.0)", kind)

    def test_an_object_that_a_function_chose_cannot_be_changed(self, kind):
        def larger(a, b):
            if a.value > b.value:
                return a
            return b

        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](2 * x)
            winner = larger(a, b)
            winner.add(100.0)
            return a.value, b.value, larger(a, b).value

        refused_change(f, "result", "if a.value > b.value:", kind)

    def test_each_object_can_be_changed_by_its_own_name(self, kind):
        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](x + 10)
            for _ in tf.range(n):
                if x > 1:
                    a.add(1.0)
                else:
                    b.add(1.0)
            a.add(100.0)
            return a.value, b.value

        agrees(f)

    def test_one_object_in_both_branches_can_be_changed(self, kind):
        def f(x, n):
            a = KINDS[kind](x)
            if x > 1:
                chosen, y = a, x
            else:
                chosen, y = a, -x
            chosen.add(y)
            return a.value, chosen.value

        agrees(f)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in PLAIN])
class TestWhatWorks:
    def test_an_object_chosen_by_an_expression_can_be_read(self, kind):
        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](x + 10)
            a.add(100.0)
            chosen = a if x > 1 else b
            return a.value, b.value, chosen.value

        agrees(f)

    def test_an_object_chosen_by_a_loop_can_be_read(self, kind):
        def f(x, n):
            objects = [KINDS[kind](x + k) for k in range(3)]
            best, last = objects[0], objects[1]
            for other in objects[1:]:
                if other.value * x > best.value * x:
                    best = other
            for _ in tf.range(n):
                last = best
            return [one.value for one in objects], best.value, last.value

        agrees(f)

    def test_a_copy_of_the_choice_can_be_changed(self, kind):
        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](x + 10)
            chosen = copy.deepcopy(a if x > 1 else b)
            chosen.add(1.0)
            return a.value, b.value, chosen.value

        agrees(f)

    def test_a_choice_that_has_no_other_name_can_be_changed(self, kind):
        def f(x, n):
            chosen = KINDS[kind](x)
            if x > 1:
                chosen = KINDS[kind](x + 10)
            chosen.add(1.0)
            return chosen.value

        agrees(f)


class TestPrograms:
    def test_a_bucket_for_each_sign(self):
        class Stats:
            def __init__(self):
                self.count, self.mean, self.most = 0.0, 0.0, float("-inf")

            def push(self, v):
                self.count += 1.0
                self.mean += (v - self.mean) / self.count
                if v > self.most:
                    self.most = v

        def chosen(x, n):
            above, below = Stats(), Stats()
            for i in tf.range(n):
                v = x - tf.cast(i, tf.float32)
                (above if v > 0 else below).push(v)
            return above.mean, above.most, below.mean, below.most, below.count

        def named(x, n):
            above, below = Stats(), Stats()
            for i in tf.range(n):
                v = x - tf.cast(i, tf.float32)
                if v > 0:
                    above.push(v)
                else:
                    below.push(v)
            return above.mean, above.most, below.mean, below.most, below.count

        refused_change(chosen, "", "(above if v > 0 else below).push(v)", "plain")
        agrees(named)

    def test_a_transfer(self):
        def f(x, n):
            a, b = Total(x), Total(2 * x)
            source, target = (a, b) if x > 2 else (b, a)
            source.value -= 1.0
            target.value += 1.0
            return a.value, b.value

        refused_change(f, "source", "source, target = (a, b) if x > 2 else (b, a)")
        refused(f, "source.value -= 1.0       changed here")

    def test_double_buffering_in_an_object(self):
        class Buffers:
            def __init__(self, x):
                self.front, self.back = [x, x + 1], [x * 0, x * 0]

            def step(self):
                for k in range(2):
                    self.back[k] = self.front[k] * 2
                self.front, self.back = self.back, self.front

            def step_anew(self):
                self.front = [v * 2 for v in self.front]

        def in_place(x, n):
            buffers = Buffers(x)
            for _ in tf.range(n):
                buffers.step()
            return buffers.front[0], buffers.back[1]

        def anew(x, n):
            buffers = Buffers(x)
            for _ in tf.range(n):
                buffers.step_anew()
            return buffers.front

        refused_change(in_place, "buffers.back", "for _ in tf.range(n):")
        agrees(anew)

    def test_a_table_of_models(self):
        def f(x, n):
            models = {"small": {"w": x, "b": x + 1}, "large": {"w": 2 * x, "b": 3 * x}}
            model = models["small"]
            if x > 1:
                model = models["large"]
            for key in model:
                model[key] = model[key] * 10
            return [v for one in models.values() for v in one.values()]

        def read(x, n):
            models = {"small": {"w": x, "b": x + 1}, "large": {"w": 2 * x, "b": 3 * x}}
            model = models["small"]
            if x > 1:
                model = models["large"]
            return model["w"] * x + model["b"], {**model}, list(models["small"].values())

        refused_change(f, "model", "model[key] = model[key] * 10       changed here")
        agrees(read)

    def test_a_pivot_row(self):
        def f(x, n):
            rows = [[x, 1.0], [2 * x - 3, 2.0], [x * 0, 3.0]]
            pivot = rows[0]
            for row in rows[1:]:
                if tf.abs(row[0]) > tf.abs(pivot[0]):
                    pivot = row
            pivot[:] = [v / 2 for v in pivot]
            return rows

        refused_change(f, "pivot", "pivot[:] = [v / 2 for v in pivot]       changed here")

    def test_objects_in_objects(self):
        class Leg:
            def __init__(self, x):
                self.at = Plain(x)

        def f(x, n):
            left, right = Leg(x), Leg(x + 5)
            leg, other = left, right
            if x > 1:
                leg, other = other, leg
            leg.at.add(1.0)
            return left.at.value, right.at.value, other.at.value

        refused_change(f, "leg", "leg, other = other, leg", "plain")

    def test_lists_in_the_objects(self):
        @dataclasses.dataclass
        class Family:
            kids: list

        def f(x, n):
            a, b = Family([x, x + 1]), Family([x + 2, x + 3])
            family = a if x > 1 else b
            family.kids[0] = family.kids[0] * 5
            return a.kids, b.kids

        refused(f, "is changed in place, and bound to another object", "family = a if x > 1 else b")

    def test_the_choice_is_returned_as_an_object_of_its_class(self):
        def f(x, n):
            a, b = Total(x), Total(x + 1)
            chosen = a if x > 1 else b
            twin = dataclasses.replace(chosen, value=chosen.value * 2)
            assert isinstance(chosen, Total)
            return chosen, twin.value, a.value, {"chosen": [chosen]}

        agrees(f)
        assert type(tf.function(f)(tf.constant(2.0), tf.constant(1))[0]) is Total


class TestCircles:
    """Objects that contain themselves: a block may change what is in them, and binds none."""

    def test_a_parent_and_its_child(self):
        def bumped(node):
            node.value = node.value + 1
            return node

        def family(x):
            parent = Node(x)
            parent.next = Node(x + 1, parent)
            return parent

        def bound(x, n):
            parent = family(x)
            if x > 0:
                parent = bumped(parent)
            return parent.value

        def bound_in_a_loop(x, n):
            parent = family(x)
            for _ in tf.range(n):
                parent = bumped(parent)
            return parent.value

        def changed(x, n):
            parent = family(x)
            if x > 0:
                bumped(parent)
            for _ in tf.range(n):
                bumped(parent.next)
            return parent.value, parent.next.value, parent.next.next.value

        for f in (bound, bound_in_a_loop):
            refused(f, "`parent` contains itself", "bind `parent` before the block")
        agrees(changed)

    def test_the_nodes_of_a_ring(self):
        def f(x, n):
            a, b, c = (Node(x + k) for k in range(3))
            a.next, b.next, c.next = b, c, a
            here = a
            for _ in tf.range(n):
                here.value = here.value + 1
                here = here.next
            return a.value, b.value, c.value, here.value

        refused(f, "`here` contains itself", "for _ in tf.range(n):")

    def test_a_list_in_itself(self):
        def f(x, n):
            items = [x]
            items.append((items,))
            while n > 0:
                items[0] = items[0] + 1
                items = items[1][0]
                n -= 1
            return items[0]

        refused(f, "`items` contains itself", "while n > 0:")

    def test_a_new_node_linked_in_a_branch(self):
        def f(x, n):
            if x > 0:
                node = Node(x)
                node.next = node
            else:
                node = Node(-x)
                node.next = node
            return node.value

        refused(f, "`node` contains itself", "bind `node` before the block")

    def test_cyclic_arguments_and_results_are_refused(self):
        node = Node(tf.constant(1.0))
        node.next = {"parent": (node,)}
        items = [tf.constant(1.0)]
        items.append(items)

        def result(x):
            node = Node(x)
            node.next = node
            return node

        for call in (
            lambda: tf.function(lambda one: 1)(node),
            lambda: tf.function(lambda one, x: x)(items, x=1.0),
            lambda: tf.function(result)(tf.constant(1.0)),
            lambda: tf.nest.flatten(items),
            lambda: tf.stack(items),
        ):
            with pytest.raises(ValueError, match=r"AGC291.* contains itself"):
                call()


class TestRefusals:
    def test_a_chosen_list_that_grows(self):
        def f(x, n):
            a, b = [x], [x + 1]
            chosen = a if x > 0 else b
            chosen.append(x)
            return len(a), len(b)

        refused_change(f, "chosen", "chosen.append(x)       changed here")

    def test_a_memo_filled_in_one_branch(self):
        def used(x, n):
            memo = {}
            y = x
            if x > 0:
                if "y" not in memo:
                    memo["y"] = x * 2
                y = memo["y"]
            return y

        def asked(x, n):
            memo = {}
            if x > 0:
                memo["y"] = x * 2
            return len(memo)

        agrees(used)
        refused(asked, "`memo['y']` gets its first value in a block", "assign `memo['y']` before the block")

    def test_a_cache_entry_first_stored_in_a_block_is_refused(self):
        class Cache:
            def __init__(self):
                self.known = {}

            def get(self, x):
                if x > 0:
                    if "y" not in self.known:
                        self.known["y"] = x * 2
                    return self.known["y"]
                return x

        def f(x, n):
            cache = Cache()
            return cache.get(x) + cache.get(x + 1)

        refused(f, "`self.known['y']` gets its first value in a block")

    def test_the_object_itself(self):
        def looked_up(x, n):
            a, b = Items([x]), Items([x + 1])
            chosen = a if x > 0 else b
            return float(any(one is chosen for one in (a, b))) + x

        def compared(x, n):
            a, b = Total(x), Total(x + 1)
            chosen = a if x > 0 else b
            return chosen.value if chosen is a else x

        for f in (looked_up, compared):
            refused(f, "but `is` tests it", "chosen = a if x > 0 else b")

    def test_an_identity_test_on_the_chosen_object_is_refused(self):
        class Chain(Items):
            def is_last(self, other):
                return self is other

        def f(x, n):
            a, b = Chain([x]), Chain([x + 1])
            chosen = a if x > 0 else b
            same = chosen
            return float(same.is_last(a)) + x

        refused(f, "but `is` tests it")

    def test_contents_of_different_kinds(self):
        def f(x, n):
            a, b = Total({1}), Total({2})
            chosen = a if x > 0 else b
            return chosen.value

        refused(f, "chosen = a if x > 0 else b", code="AGC203")


class TestListsThatBranchesFill:
    """A list in an object is carried as a whole where each branch leaves as many items."""

    class Stack:
        def __init__(self):
            self.items = []

        def push(self, x):
            self.items.append(x)

        def pop(self):
            return self.items.pop()

    def test_each_branch_pushes(self):
        def f(x, n):
            stack = self.Stack()
            stack.push(x)
            if x > 0:
                stack.push(x * 2)
            elif x < -5:
                stack.push(x * 3)
            else:
                stack.push(x * 4)
            top = stack.pop()
            return top, stack.pop(), len(stack.items)

        agrees(f)

    def test_each_branch_pops(self):
        def f(x, n):
            stack = self.Stack()
            for k in range(3):
                stack.push(x + k)
            y = stack.pop() if x > 1 else stack.pop() * 2
            return y, stack.pop(), len(stack.items)

        agrees(f)

    def test_a_bounded_queue(self):
        def f(x, n):
            recent = collections.deque([x], maxlen=2)

            def put(y):
                recent.append(y)
                return recent[0]

            first = put(x + 1) if x > 1 else put(x - 1) * 2
            put(first)
            return list(recent)

        agrees(f)

    def test_a_pop_in_one_branch_is_refused(self):
        def f(x, n):
            stack = self.Stack()
            stack.push(x)
            if x > 1:
                stack.pop()
            return len(stack.items)

        refused(f, "`stack.items` changes from 1 to 0 items", "`items` is used here")
