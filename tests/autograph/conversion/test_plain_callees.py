"""The operators `converted` and `receiver` while nothing is staged: in C and in Python."""

import functools
import gc
import math
import sys
import warnings
import weakref

import pytest
from agc.autograph import operators as ag__
from agc.autograph.api import convert
from agc.autograph.introspection import frames

pytestmark = pytest.mark.at_rest

converter = ag__.converter
OPERATORS = {
    "c": (converter.operator, converter.receiver),
    "python": converter._plain.in_python(converter.converted, ag__),
}


@pytest.fixture(params=OPERATORS)
def operators(request):
    return OPERATORS[request.param]


@pytest.fixture
def operator(operators):
    return operators[0]


@pytest.fixture
def receiver(operators):
    return operators[1]


def looping(n, step=1):
    total = 0
    while n > 0:
        total += n
        n -= step
    return total


def calling(n):
    return looping(n) + 1


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, n):
        for _ in range(n):
            self.count += 1
        return self.count

    def __call__(self, n):
        return self.add(n)

    @classmethod
    def made(cls):
        return cls() if cls else None

    @staticmethod
    def twice(x):
        return x * 2 if x else 0


@pytest.mark.parametrize("f", [len, math.sin, [1].append, "a".join, int, Counter, dict.fromkeys, str.upper])
def test_code_in_c_and_classes_are_called_as_they_are(operator, f):
    assert operator(f) is f


@pytest.mark.parametrize("f", [calling, looping])
def test_functions_are_converted_once(operator, f):
    assert operator(f)(4) == f(4)
    assert operator(f) is operator(f)


def test_methods_are_bound_to_the_same_object(operator):
    counter = Counter()
    assert operator(counter.add)(3) == 3
    assert operator(counter.add).__self__ is counter
    assert operator(counter)(2) == 5
    assert operator(Counter.twice)(4) == 8
    assert type(operator(Counter.made)()) is Counter
    assert operator(functools.partial(looping, step=2))(5) == 9


def test_a_partial_has_the_converted_function(operator):
    sine = functools.partial(math.sin, 2.0)
    assert operator(sine) is sine
    converted = operator(functools.partial(calling, 4))
    assert converted.func is operator(calling)
    assert converted() == 11


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


@decorated
@decorated
def twice_decorated(n):
    return looping(n)


class Derived(Counter):
    def add(self, n):
        return super().add(n) + 1


@pytest.mark.parametrize("f", [twice_decorated, twice_decorated.__wrapped__, Derived.add])
def test_closures_that_a_module_holds_are_converted_once(operator, f):
    assert operator(f) is not f
    assert operator(f) is operator(f)


def test_the_conversion_of_a_local_closure_does_not_keep_it(operator):
    def reference():
        def closure(n):
            return closure(0) if n else looping(2)

        assert operator(closure)(1) == 3
        return weakref.ref(closure)

    dead = reference()
    gc.collect()
    assert dead() is None


@pytest.mark.parametrize("value", [[1], {1: 2}, {3}])
def test_the_receiver_of_a_method_in_c_is_the_object(receiver, value):
    assert receiver(value, "copy") is value


def test_the_receiver_of_a_converted_method_has_its_conversion(receiver):
    counter = Counter()
    assert receiver(counter, "add").add(3) == 3
    assert receiver(counter, "add").add is not counter.add
    assert receiver(Loud([2, 2]), "count").count(2) == 2


def test_an_attribute_of_an_instance_hides_the_method_of_its_class(receiver):
    counter = Counter()
    counter.add = looping
    assert receiver(counter, "add").add(4) == 10


def test_a_receiver_evaluates_an_attribute_once(receiver):
    seen = []

    class Lazy:
        @property
        def step(self):
            seen.append("step")
            return looping

        def __getattr__(self, name):
            seen.append(name)
            return looping

    assert receiver(Lazy(), "step").step(2) == 3
    assert receiver(Lazy(), "other").other(3) == 6
    assert seen == ["step", "other"]


def test_a_missing_method_is_pythons_error(receiver):
    with pytest.raises(AttributeError, match="'Counter' object has no attribute 'gone'"):
        receiver(Counter(), "gone")


def test_functions_that_read_frames_are_replaced(operator):
    assert operator(sys._getframe) is frames.STAND_INS[sys._getframe]
    assert operator(warnings.warn) is frames.STAND_INS[warnings.warn]


def test_changes_of_a_function_are_seen(operator, monkeypatch):
    assert operator(looping)(4) == 10
    monkeypatch.setattr(looping, "__defaults__", (2,))
    assert operator(looping)(4) == 6
    monkeypatch.setattr(looping, "__code__", (lambda n, step: -n if n else step).__code__)
    assert operator(looping)(4) == -4


def test_while_a_graph_is_built_all_is_converted(operator, monkeypatch):
    def leaf(x):
        return x if x > 0 else -x

    assert operator(leaf)(-2) == 2
    assert operator(leaf) is leaf
    monkeypatch.setattr(ag__, "building", 1)
    assert operator(leaf) is not leaf


# Calls that need no operator.


def calls_seen(monkeypatch, f, *arguments):
    """Return the names of the callees that `f` looks up, and its result."""
    seen = []
    found, found_receiver = ag__.converted, ag__.receiver

    def converted(callee):
        seen.append(callee.__name__)
        return found(callee)

    def receiver(value, name):
        seen.append(name)
        return found_receiver(value, name)

    monkeypatch.setattr(ag__, "live", 0)
    monkeypatch.setattr(ag__, "building", 0)
    monkeypatch.setattr(ag__, "converted", converted)
    monkeypatch.setattr(ag__, "receiver", receiver)
    return convert(f)(*arguments), seen


def methods_of_containers(n):
    xs, found = [], {}
    for i in range(n):
        xs.append(i)
        found.setdefault(i % 2, []).append(i)
    return xs, found


def nested(n):
    def inner(x):
        return x if x > 1 else inner(x + 1)

    return inner(n)


def shadowed(text):
    ys = []

    def inner(ys):
        return ys.upper()

    return inner(text), ys


def redefined(x):
    def inner():
        return 1

    if x:
        inner = x.pop
    return inner()


appended = [5]


def of_the_module():
    appended = []

    def inner():
        global appended
        appended.append(7)

    inner()
    return appended


class Loud(list):
    pass


def rebound(n):
    xs = []
    if n:
        xs = Loud([n])
    xs.append(1)
    return xs


def with_lambda(x):
    double = lambda v: v * 2  # noqa: E731
    return double(x)


def local_class():
    xs = []

    class Inner:
        def add(self):
            xs.append(1)
            return len(xs)

    return Inner().add()


@pytest.mark.parametrize(
    ("f", "arguments", "callees"),
    [
        (methods_of_containers, (2,), ["append"] * 2),
        (nested, (0,), []),
        (with_lambda, (2,), []),
        (shadowed, ("a",), ["upper"]),
        (redefined, (0,), ["inner"]),
        (of_the_module, (), ["append"]),
        (rebound, (1,), ["Loud", "append"]),
        (local_class, (), ["Inner", "add"]),
    ],
)
def test_only_calls_whose_callee_is_unknown_look_it_up(monkeypatch, f, arguments, callees):
    expected = f(*arguments)
    assert calls_seen(monkeypatch, f, *arguments) == (expected, callees)
