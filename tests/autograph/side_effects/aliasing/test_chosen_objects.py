"""A variable that is one of several objects, as the graph decides: what is changed by one name, the others see."""

import collections
import copy
import dataclasses

import agc.runtime as tf
import pytest
from agc.autograph import StagingError


class Plain:
    scale = 2.0

    def __init__(self, value):
        self.value = value
        self.steps = 0

    def add(self, x):
        self.value = self.value + x
        self.steps += 1
        return self

    @property
    def double(self):
        return self.value * self.scale

    @double.setter
    def double(self, x):
        self.value = x / self.scale


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


def floats(results):
    return [float(y) for y in tf.nest.flatten(results)]


def agrees(f):
    """`f` gives the same in a graph."""
    run = tf.function(f)
    for x, n in ((2.0, 2), (-1.0, 1), (1.0, 0), (5.0, 3)):
        assert floats(run(tf.constant(x), tf.constant(n))) == floats(f(tf.constant(x), tf.constant(n)))


def refused(f, *texts):
    with pytest.raises(StagingError) as caught:
        tf.function(f)(tf.constant(2.0), tf.constant(2))
    for text in ("AGC291", *texts):
        assert text in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
class TestKinds:
    def test_an_expression_chooses(self, kind):
        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](x + 10)
            chosen = a if x > 1 else b
            for _ in tf.range(n):
                chosen.add(1.0)
            a.add(100.0)
            return a.value, b.value, chosen.value

        agrees(f)

    def test_a_statement_chooses_in_a_loop(self, kind):
        def f(x, n):
            objects = [KINDS[kind](x + k) for k in range(3)]
            best = objects[0]
            for other in objects[1:]:
                if other.value * x > best.value * x:
                    best = other
            best.add(50.0)
            return [one.value for one in objects], best.value

        agrees(f)

    def test_a_staged_loop_carries_the_chosen_object(self, kind):
        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](x + 1)
            active, other = a, b
            for _ in tf.range(n):
                active = active.add(1.0)
                if active.value > 3.0:
                    active, other = other, active
            return a.value, b.value, active.value, other.value

        agrees(f)

    def test_a_function_chooses(self, kind):
        def larger(a, b):
            if a.value > b.value:
                return a
            return b

        def f(x, n):
            a, b = KINDS[kind](x), KINDS[kind](2 * x)
            winner = larger(a, b)
            winner.add(100.0)
            return a.value, b.value, larger(a, b).value

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

        def f(x, n):
            above, below = Stats(), Stats()
            for i in tf.range(n):
                v = x - tf.cast(i, tf.float32)
                (above if v > 0 else below).push(v)
            return above.mean, above.most, below.mean, below.most, below.count

        agrees(f)

    def test_a_transfer(self):
        def f(x, n):
            a, b = Total(x), Total(2 * x)
            source, target = (a, b) if x > 2 else (b, a)
            source.value -= 1.0
            target.value += 1.0
            return a.value, b.value

        agrees(f)

    def test_double_buffering_in_an_object(self):
        class Buffers:
            def __init__(self, x):
                self.front, self.back = [x, x + 1], [x * 0, x * 0]

            def step(self):
                for k in range(2):
                    self.back[k] = self.front[k] * 2
                self.front, self.back = self.back, self.front

        def f(x, n):
            buffers = Buffers(x)
            for _ in tf.range(n):
                buffers.step()
            return buffers.front[0], buffers.back[1]

        agrees(f)

    def test_a_table_of_models(self):
        def f(x, n):
            models = {"small": {"w": x, "b": x + 1}, "large": {"w": 2 * x, "b": 3 * x}}
            model = models["small"]
            if x > 1:
                model = models["large"]
            for key in model:
                model[key] = model[key] * 10
            model.update(b=model.get("b") + 1)
            model |= {"w": model.pop if "none" in model else model["w"] + len(model)}
            return [v for one in models.values() for v in one.values()], list(model.values()), {**model}

        agrees(f)

    def test_a_pivot_row(self):
        def f(x, n):
            rows = [[x, 1.0], [2 * x - 3, 2.0], [x * 0, 3.0]]
            pivot = rows[0]
            for row in rows[1:]:
                if tf.abs(row[0]) > tf.abs(pivot[0]):
                    pivot = row
            for row in rows:
                row[1] = row[1] + pivot[0]
            pivot[:] = [v / 2 for v in pivot]
            pivot.reverse()
            return (
                rows,
                sum(pivot),
                [2.0, *pivot],
                pivot + rows[0],
                pivot[-1],
                pivot[:1],
                tf.reduce_max(pivot),
                2 * pivot,
            )

        agrees(f)

    def test_the_nodes_of_a_ring(self):
        def f(x, n):
            a, b, c = (Node(x + k) for k in range(3))
            a.next, b.next, c.next = b, c, a
            here = a
            for _ in tf.range(n):
                here.value = here.value + 1
                here = here.next
            return a.value, b.value, c.value, here.value

        agrees(f)

    def test_objects_in_objects(self):
        class Leg:
            def __init__(self, x):
                self.at, self.down = Plain(x), False

        def f(x, n):
            left, right = Leg(x), Leg(x + 5)
            leg, other = left, right
            for k in range(3):
                if x > k:
                    leg, other = other, leg
                leg.at.add(1.0)
            leg.at.double = leg.at.double + 3.0
            return left.at.value, right.at.value, other.at.double

        agrees(f)

    def test_lists_in_the_objects(self):
        @dataclasses.dataclass
        class Family:
            value: object
            kids: list = dataclasses.field(default_factory=list)

        def f(x, n):
            a, b = Family(x, [x, x + 1]), Family(x + 1, [x + 2, x + 3])
            family, old = a if x > 1 else b, a.kids
            family.kids[0] = family.kids[0] * 5
            family.value = sum(family.kids)
            family.kids = b.kids
            family.kids[1] = x * 100
            return a.value, a.kids, b.value, b.kids, old

        agrees(f)

    def test_copies_and_results(self):
        def f(x, n):
            a, b = Total(x), Total([x + 1])
            b.value = x + 2
            chosen = a if x > 1 else b
            chosen.add(1.0)
            twin = dataclasses.replace(chosen, value=chosen.value * 2)
            other = copy.copy(chosen)
            other.value += 3.0
            assert isinstance(chosen, Total)
            return chosen, twin.value, other.value, a.value, {"chosen": [chosen]}

        agrees(f)
        assert type(tf.function(f)(tf.constant(2.0), tf.constant(1))[0]) is Total


class TestCircles:
    """Objects that contain themselves."""

    def test_a_parent_and_its_child(self):
        def bumped(node):
            node.value = node.value + 1
            return node

        def f(x, n):
            parent = Node(x)
            child = Node(x + 1, parent)
            parent.next = child
            if x > 0:
                parent = bumped(parent)
            for _ in tf.range(n):
                parent = bumped(parent)
            return parent.value, child.next.value, parent.next.value

        agrees(f)

    def test_a_list_in_itself(self):
        def f(x, n):
            items = [x]
            items.append((items,))
            kept = items
            while n > 0:
                items[0] = items[0] + 1
                items = items[1][0]
                n -= 1
            return items[0], kept[1][0][0]

        agrees(f)

    def test_a_new_node_linked_in_a_branch(self):
        def f(x, n):
            if x > 0:
                node = Node(x)
                node.next = node
            else:
                node = Node(-x)
                node.next = node
            return node.value

        refused(f, "`node` contains itself", "make `node` before the block")

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
            chosen[0] = x
            chosen.append(x)
            return len(a), len(b)

        refused(f, "the candidates for `chosen` change in length")

    def test_other_attributes(self):
        def f(x, n):
            a, b = Plain(x), Plain(x + 1)
            a.name = x
            chosen = a if x > 0 else b
            chosen.value = x
            return chosen.name

        refused(f, "candidates for `chosen` differ in whether they have `name`")

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
        def f(x, n):
            a, b = Plain(x), Plain(x + 1)
            chosen = a if x > 0 else b
            return chosen in {a: 1}

        def g(x, n):
            a, b = Plain(x), Plain(x + 1)
            chosen = a if x > 0 else b
            return chosen.value if chosen is a else x

        refused(f, "compared or hashed by identity")
        refused(g, "but `is` tests it")

    def test_an_identity_test_on_the_chosen_object_is_refused(self):
        class Chain(Plain):
            def is_last(self, other):
                return self is other

        def f(x, n):
            a, b = Chain(x), Chain(x + 1)
            chosen = a if x > 0 else b
            same = chosen
            return float(same.is_last(a)) + x

        def nobody_calls_it(x, n):
            a, b = Chain(x), Chain(x + 1)
            chosen = a if x > 0 else b
            chosen.value = x * 2
            return a.value + b.value

        refused(f, "but `is` tests it")
        agrees(nobody_calls_it)

    def test_contents_of_different_kinds(self):
        def f(x, n):
            a, b = Plain({1}), Plain({2})
            chosen = a if x > 0 else b
            return chosen.value

        refused(f, "the candidates for `chosen.value` are of different types")


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
