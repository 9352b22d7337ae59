"""Heap snapshots of a staged block: what it can reach, what has changed, and which changes are carried or refused."""

import collections
import functools
import itertools

import pytest
from agc.autograph import StagingError, staging
from agc.autograph import operators as ag__
from agc.autograph.analysis import bytecode_effects
from agc.autograph.side_effects.aliasing.object_paths import drawn, objects, rebuilt
from agc.autograph.side_effects.heap_snapshot import HeapSnapshot
from agc.autograph.side_effects.heap_walk import HeapWalker
from agc.autograph.side_effects.iterator_position import iterator_parts, position
from agc.autograph.side_effects.snapshots import AccessPath, slot
from support.registered_backend import registered_backend


class Choice:
    """Stand-in for a truth value that is not known while the graph is traced."""


class Both(staging.PythonBackend):
    """Takes both branches, and gives pairs of their results where these differ."""

    def __init__(self):
        self.traces = 0

    def cond(self, test, then, orelse, state, names=()):
        self.traces += 1
        pairs = zip(then(*state), orelse(*state), strict=True)
        return tuple(one if one is other else (one, other) for one, other in pairs)


class Box:
    """Made by `boxed`, so that the class has no code that reaches all attributes."""

    def bump(self):
        self.n += 1


def boxed(**values):
    box = Box()
    vars(box).update(values)
    return box


@pytest.fixture
def backend():
    with registered_backend(Both(), Choice) as both:
        yield both


def found(value):
    """The names of the places in which a function changes something that can be reached from `value`."""

    def after(change):
        snapshot = HeapSnapshot([("change", change), ("x", value)])
        change()
        changes = [change for record in snapshot.changed() for change in record.changes()]
        snapshot.restore()
        assert not snapshot.changed()
        return [getattr(change, "name", None) or f"{change.record.path} {change.what}" for change in changes]

    return after


class TestSurvey:
    def test_the_walk_follows_names_in_the_code(self):
        inner, hidden = boxed(n=1), boxed(n=1)
        box = boxed(inner=inner, hidden=hidden)
        assert found(box)(lambda: box.inner.bump()) == ["x.inner.n"]
        snapshot = HeapSnapshot([("f", lambda: box.inner.n)])
        held = [record.holder for record in snapshot.records.values()]
        assert any(holder is vars(inner) for holder in held)
        assert not any(holder is vars(hidden) for holder in held)

    def test_the_walk_follows_every_attribute_for_a_dynamic_name(self):
        box = boxed(hidden=boxed(n=1))
        name = "hid" + "den"
        assert found(box)(lambda: setattr(getattr(box, name), "n", 5)) == ["x.hidden.n"]

    def test_containers(self):
        d, xs, s = {"a": [1]}, [1, 2], {1}
        assert found(d)(lambda: d["a"].__setitem__(0, 2)) == ["x['a'][0]"]
        assert found(d)(lambda: d.update(b=1)) == ["x['b']"]
        assert found(xs)(lambda: xs.reverse()) == ["x[0]", "x[1]"]
        assert found(xs)(lambda: xs.append(3)) == ["x changes from 2 to 3 items"]
        assert found(s)(lambda: s.add(3)) == ["x changes from 1 to 2 members"]
        assert (d, xs, s) == ({"a": [1]}, [1, 2], {1})

    def test_restoring_a_dict_restores_its_order(self):
        for d in ({"a": 1, "b": 2}, collections.OrderedDict(a=1, b=2)):

            def turn(d=d):
                d["a"] = d.pop("a") + 1

            assert found(d)(turn) == ["x['a']"]
            assert list(d.items()) == [("a", 1), ("b", 2)]

    def test_equal_values_are_no_change(self):
        box = boxed(n=1000, name="adam", pair=(1, "x"))

        def again():
            box.n = int("1000")
            box.name = "".join("adam")
            box.pair = (1, "".join("x"))

        assert found(box)(again) == []

    def test_cells_globals_slots_and_classes(self):
        class Slots:
            __slots__ = ("n",)
            made = 0

        slots, k = Slots(), 0

        def change():
            nonlocal k
            global variable
            k = variable = slots.n = Slots.made = 1

        assert sorted(found(slots)(change)) == ["Slots.made", "k", "variable", "x.n"]
        assert (k, variable, Slots.made, hasattr(slots, "n")) == (0, 0, 0, False)

    def test_an_object_with_two_names_has_both_labels(self):
        box = boxed(nodes=[])
        rows = box.nodes
        snapshot = HeapSnapshot([("block", lambda: (box.nodes, rows))])
        rows.append(1)
        (record,) = snapshot.changed()
        assert record.labels == {"nodes", "rows"}

    def test_arrays_of_bytes(self):
        data = bytearray(b"ab")
        assert found(data)(lambda: data.reverse()) == ["x gets other items"]
        assert data == b"ab"


variable = 0


@pytest.mark.at_rest
@pytest.mark.parametrize(
    "iterator",
    [
        iter([1, 2]),
        iter("ab"),
        iter({1: 2}),
        zip([1], [2], strict=True),
        map(abs, [1]),
        enumerate([1]),
        reversed([1]),
        (x for x in [1, 2]),
        itertools.count(),
        itertools.cycle([1]),
        itertools.chain([1], [2]),
    ],
    ids=lambda iterator: type(iterator).__name__,
)
def test_the_position_of_an_iterator_is_found(iterator):
    before = position(iterator)
    assert position(iterator) == before
    next(iterator)
    assert position(iterator) != before


def test_the_walk_skips_null_pointers_of_an_exhausted_iterator():
    numbers, letters = [1, 2, 3], ["a"]
    pairs = itertools.zip_longest(numbers, letters)
    next(pairs), next(pairs)
    assert id(numbers) in HeapWalker([(pairs, AccessPath(None, "", "pairs"))], ()).visited
    assert all(type(part) is not tuple for part in iterator_parts(pairs))


class TestMentions:
    def test_a_use_that_only_appends_is_recognized(self):
        def f(log, logs, k):
            log.append(1)
            logs["a"].append(2)
            logs[k].extend([3])
            return [log.add(x) for x in "ab"]

        assert all(m.appends for name in ("log", "logs") for m in bytecode_effects.mentions(f.__code__, name))

    def test_reads_and_escapes_of_a_list_are_found(self):
        def f(self, log):
            return self.log, log[0], len(log), log.pop(), lambda: log

        assert not any(m.appends for m in bytecode_effects.mentions(f.__code__, "log"))
        assert [m.line for m in bytecode_effects.mentions(f.__code__, "log")] == [
            f.__code__.co_firstlineno + 1
        ] * 5

    def test_later_uses_are_found_along_loops(self):
        def f(log):
            use(log)
            for _ in range(3):
                use(log)
            use(log)

        first, second, third = bytecode_effects.mentions(f.__code__, "log")
        assert bytecode_effects.comes_after(f.__code__, third, second.offset)
        assert bytecode_effects.comes_after(f.__code__, second, second.offset)  # the loop leads back
        assert not bytecode_effects.comes_after(f.__code__, first, second.offset)


def use(value):
    return value


class TestNests:
    def test_a_container_is_filled_in_place(self):
        inner = [1]
        d = {"a": inner, "b": 2}
        places = {(0,): d, (0, "a"): inner}
        filled = rebuilt({"a": [5], "b": 6}, (0,), lambda path, value: (places[path], True))
        assert filled is d
        assert d == {"a": [5], "b": 6}
        assert d["a"] is inner

    def test_copies(self):
        d = {"a": [1, ({"b": 2},)]}
        copy = drawn(d, lambda part: True)
        assert copy == d
        copy["a"][1][0]["b"] = 3
        assert d == {"a": [1, ({"b": 2},)]}

    def test_a_cyclic_object_is_visited_once(self):
        ring = [1]
        ring.append((ring, [2]))
        assert [path for path, _ in objects((ring,))] == [(0,), (0, 1, 1)]


class TestBlocks:
    def test_a_change_in_a_branch_is_carried_as_state(self, backend):
        box = boxed(n=1)

        def then():
            box.bump()

        ag__.cond(Choice(), then, ag__.keep)
        assert box.n == (2, 1)
        assert backend.traces == 2

    def test_nested_blocks_are_not_retraced_for_known_state(self, backend):
        box = boxed(n=1)

        def inmost():
            box.bump()

        def inner():
            ag__.cond(Choice(), inmost, ag__.keep)

        def outer():
            ag__.cond(Choice(), inner, ag__.keep)

        ag__.cond(Choice(), outer, ag__.keep)
        assert box.n == (((2, 1), 1), 1)
        assert backend.traces == 2 + 3 + 4  # not twice as many for each block around

    def test_an_error_restores_every_object(self, backend):
        box = boxed(n=1, items=[1], other=boxed(n=1))

        def then():
            box.bump()
            box.items.append(2)
            box.other = None
            raise KeyError("x")

        with pytest.raises(KeyError):
            ag__.cond(Choice(), then, ag__.keep)
        assert (box.n, box.items, box.other.n) == (1, [1], 1)

    def test_no_frame_of_the_snapshot_is_in_the_traceback(self, backend):
        def then():
            raise KeyError("x")

        with pytest.raises(KeyError) as caught:
            ag__.cond(Choice(), then, ag__.keep)
        assert [entry.name for entry in caught.traceback][-1] == "then"
        assert not any(entry.name in ("staged", "survey") for entry in caught.traceback)

    def test_a_block_that_never_settles(self, backend):
        boxes = [boxed(n=0) for _ in range(100)]
        turns = itertools.cycle(range(100))
        number = functools.partial(next, turns)

        def then():
            boxes[number()].bump()

        with pytest.raises(StagingError, match="AGC291"):
            ag__.cond(Choice(), then, ag__.keep)
        assert not any(box.n for box in boxes)

    def test_an_expression_with_effects(self, backend):
        box = boxed(n=1)
        ag__.if_exp(Choice(), lambda: box.bump(), lambda: None)
        assert box.n == (2, 1)

    def test_effects_of_a_block_that_runs_after_tracing_are_kept(self):
        class Lazy(staging.PythonBackend):
            def cond(self, test, then, orelse, state, names=()):
                self.later = then
                return tuple(state)

        with registered_backend(Lazy(), Choice) as lazy:
            box = boxed(n=1)
            ag__.cond(Choice(), lambda: box.bump(), ag__.keep)
            lazy.later()
            assert box.n == 2


def test_members_of_c_classes_that_cannot_be_set_are_left():
    number = 1 + 2j
    snapshot = slot(number, complex.real, AccessPath(None, "", "number"))
    assert snapshot.has_changed()  # each read makes a new float
    snapshot.restore()
    assert number == 1 + 2j
