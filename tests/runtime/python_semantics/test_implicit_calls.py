"""What Python and libraries call by themselves, on traced tensors: classes, callbacks, wrappers.

In each test plain Python on numbers says what the result is; eager tensors and both executors must agree.
"""

import abc
import contextlib
import dataclasses
import enum
import functools
import itertools
import statistics
import threading
import typing

import agc.runtime as tf
import pytest
from agc.autograph import do_not_convert
from support.agreement import agrees

# Special methods.


class Angle:
    def __init__(self, degrees):
        while degrees >= 360:
            degrees -= 360
        self.degrees = degrees

    def __add__(self, other):
        total = self.degrees + other.degrees
        if total >= 360:
            total -= 360
        return Angle(total)

    def __neg__(self):
        return Angle(360 - self.degrees if self.degrees > 0 else self.degrees)

    def __getitem__(self, unit):
        if self.degrees > 180 and unit == "signed":
            return self.degrees - 360
        return self.degrees

    def __lt__(self, other):
        return self.degrees < (other.degrees if other.degrees > 0 else 0)

    def __call__(self, turns):
        for _ in range(turns):
            self.degrees += 360
        return self.degrees

    @property
    def quadrant(self):
        if self.degrees < 90:
            return 1
        if self.degrees < 180:
            return 2
        return 3 if self.degrees < 270 else 4

    @quadrant.setter
    def quadrant(self, number):
        if number > 4:
            number = 4
        self.degrees = (number - 1) * 90

    @functools.cached_property
    def sine_sign(self):
        return 1 if self.degrees < 180 else -1


def test_init():
    agrees(lambda d: Angle(d).degrees, 30, 400, 1000)


def test_operators():
    agrees(lambda a, b: (Angle(a) + Angle(b)).degrees, (10, 20), (350, 20))
    agrees(lambda a: (-Angle(a)).degrees, 0, 20)
    agrees(lambda a: Angle(a)["signed"], 0, 200)
    agrees(lambda a, b: Angle(a) < Angle(b), (1, 2), (2, 1))


def test_a_callable_object():
    agrees(lambda a, n: Angle(a)(n), (1, 2), (1, 0))


def test_properties_with_getter_setter_and_cache():
    def moved(d, number):
        angle = Angle(d)
        before = angle.quadrant
        angle.quadrant = number
        return before, angle.degrees, angle.sine_sign

    agrees(moved, (10, 2), (100, 3), (200, 9), (300, 1))


class Guard:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.high = 1 if self.x > 10 else 0
        return self

    def __exit__(self, *error):
        if self.x > 100:
            self.high = 2
        return False


def test_a_context_manager():
    def f(x):
        with Guard(x) as guard:
            inside = guard.high
        return inside, guard.high

    agrees(f, 1, 11, 111)


class Clamped:
    """A descriptor."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        value = getattr(instance, self.name)
        return value if value < 10 else 10

    def __set__(self, instance, value):
        if value < 0:
            value = 0
        setattr(instance, self.name, value)


class Gauge:
    level = Clamped()


def test_a_descriptor():
    def f(x):
        gauge = Gauge()
        gauge.level = x
        return gauge.level

    agrees(f, -3, 3, 30)


class Shape(abc.ABC):
    def __init__(self, size):
        self.size = size if size > 0 else -size

    @property
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, size):
        super().__init__(size)
        if self.size > 100:
            self.size = 100

    @property
    def area(self):
        return self.size * self.size if self.size > 1 else 1


class Cube(Square):
    @property
    def area(self):
        face = super().area
        return face * 6 if face > 1 else 0


def test_inheritance_abstract_methods_and_super_in_a_property():
    agrees(lambda n: (Square(n).area, Cube(n).area), -3, 1, 300)


class Frozen:
    __slots__ = ("x",)

    def __init__(self, x):
        object.__setattr__(self, "x", x if x > 0 else 0)

    def __setattr__(self, name, value):
        raise AttributeError(name)

    def __abs__(self):
        return self.x if self.x < 5 else 5


def test_slots_and_setattr():
    agrees(lambda x: abs(Frozen(x)), -1, 3, 30)


@dataclasses.dataclass(frozen=True)
class Interval:
    low: int
    high: int

    def __post_init__(self):
        low = self.low if self.low < self.high else self.high
        object.__setattr__(self, "low", low)

    @property
    def width(self):
        return 0 if self.low == self.high else self.high - self.low


def test_a_frozen_dataclass():
    agrees(lambda a, b: (Interval(a, b).width, Interval(a, b).low), (1, 5), (5, 1), (2, 2))


class Pair(typing.NamedTuple):
    a: int
    b: int

    @property
    def larger(self):
        return self.a if self.a > self.b else self.b


class Bag(list):
    def __len__(self):
        return list.__len__(self)

    def __contains__(self, x):
        return list.__contains__(self, x)

    @property
    def top(self):
        best = self[0]
        for x in self[1:]:
            if x > best:
                best = x
        return best


class Level(enum.Enum):
    LOW = 1
    HIGH = 2

    @property
    def scale(self):
        return lambda x: (x * 10 if x > 0 else x) if self is Level.HIGH else x


def test_named_tuples_enums_and_subclasses_of_builtins():
    agrees(lambda a, b: Pair(a, b).larger, (1, 2), (2, 1))
    agrees(lambda a, b: Bag([a, b]).top, (1, 2), (2, 1))
    agrees(lambda a: (Level.LOW.scale(a), Level.HIGH.scale(a)), 3, -3)


class Counted(type):
    def __call__(cls, x):
        made = super().__call__(x if x > 0 else 0)
        made.kind = cls.__name__
        return made


class Number(metaclass=Counted):
    def __init__(self, x):
        self.x = x


def test_a_metaclass():
    agrees(lambda x: Number(x).x, 3, -3)


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n if other.n > 0 else False


def test_total_ordering():
    agrees(lambda a, b: Version(a) < Version(b), (1, 2), (2, 1), (-2, -1))


def test_an_argument_s_class():
    class Model:
        def __init__(self, bias):
            self.bias = bias

        def __matmul__(self, x):
            return x + self.bias if x > 0 else x

    run = tf.function(lambda holder, x: holder["model"] @ x)
    assert [run({"model": Model(5)}, tf.constant(x)).numpy() for x in (1, -1)] == [6, -1]


def test_a_method_that_only_a_library_calls():
    class Worker(threading.Thread):
        def __init__(self, x):
            super().__init__()
            self.x = x
            self.result = None

        def run(self):
            self.result = self.x if self.x > 0 else -self.x

    @tf.function
    def f(x):
        worker = Worker(x)
        worker.run()
        return worker.result

    assert f(tf.constant(-3)).numpy() == 3
    worker = Worker(-4)
    worker.start()
    worker.join()
    assert worker.result == 4


# Callbacks.


def relu(x):
    return x if x > 0 else 0


def larger(a, b):
    return a if a > b else b


def size_of(pair):
    if pair[0] > 0:
        return pair[1]
    return -pair[1]


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, x):
        return x * self.factor if x > 0 else x

    def all(self, xs):
        return list(itertools.chain(map(self.apply, xs)))


KEYS = {"relu": relu}


def apply_to_all(f, xs):
    return [*map(f, xs)]


def test_functions_that_libraries_call():
    agrees(lambda a, b, c: functools.reduce(larger, (a, b, c)), (1, 2, 3), (3, 1, 2))
    agrees(lambda a, b: list(map(relu, [a, b])), (1, -1))
    agrees(lambda a, b: [*itertools.starmap(larger, [(a, b), (b, a)])], (1, -1))
    agrees(lambda a, b: list(itertools.accumulate([a, b], larger)), (1, -1))
    agrees(lambda a: functools.partial(larger, a)(3), 1, 5)
    agrees(lambda a: list(map(functools.partial(larger, a), [1, 3])), 2, 5)
    agrees(lambda a, b: apply_to_all(relu, [a, b]), (1, -1))
    agrees(lambda a, b: Scale(3).all([a, b]), (1, -1))
    agrees(lambda a: KEYS["relu"](a), 1, -1)


def test_a_converted_function_keeps_its_identity():
    registry = {}

    @tf.function
    def f(x):
        registry.setdefault(size_of, 0)
        return next(map(size_of, [(x, 7)]))

    before, code = size_of, size_of.__code__
    assert [f(tf.constant(x)).numpy() for x in (1, -1)] == [7, -7]
    assert size_of is before
    assert registry == {size_of: 0}
    assert size_of((1, 2)) == 2
    assert size_of.__code__.co_varnames[:1] == code.co_varnames[:1]
    assert size_of.__code__.co_filename == code.co_filename


@functools.lru_cache(maxsize=8)
def cached_sign(holder):
    if holder.x > 0:
        return 1
    return -1


@functools.singledispatch
def describe(value):
    return value if value > 0 else -value


@describe.register(str)
def _(value):
    return len(value)


def logged(level):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            result = f(*args, **kwargs)
            return result + level if result > 0 else result

        return wrapper

    return decorate


@logged(10)
@logged(level=5)
def raised(x, *, by=1):
    return x + by if x > 0 else x


@contextlib.contextmanager
def clipped(x):
    if x > 10:
        x = 10
    yield x


def test_decorators_of_the_user_and_of_the_library():
    def f(x):
        with clipped(x) as c:
            return c, raised(x), raised(x, by=3), describe("abc"), describe(x)

    agrees(f, 3, 30, -3)
    assert [tf.function(lambda x: cached_sign(Guard(x)))(tf.constant(x)).numpy() for x in (3, -3)] == [1, -1]


def test_functions_called_by_code_without_source():
    namespace = {"relu": relu}
    exec("def f(x): return relu(x) + 1", namespace)
    assert [tf.function(namespace["f"])(tf.constant(x)).numpy() for x in (3, -3)] == [4, 1]


def refusal(f, *args, **options):
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as caught:
        tf.function(f, **options)(*args)
    assert caught.value.diagnostic.code == "AGC281"
    return caught.value.diagnostic


def test_do_not_convert_is_honored():
    class Plain:
        @do_not_convert
        def __abs__(self):
            return 1 if self.x else 0

    plain = Plain()

    def f(x):
        plain.x = x > 0
        return abs(plain)

    said = refusal(f, tf.constant(1))
    assert said.title == "`Plain.__abs__` was not converted, and needs the value of a traced tensor"
    assert "do_not_convert" in said.why
    assert said.where.line == Plain.__abs__.__code__.co_firstlineno + 2


def test_libraries_are_left_alone():
    def f(x):
        return statistics.median([x, x + 1])

    said = refusal(f, tf.constant(1))
    assert "`statistics`" in said.why
    assert "AGC_CONVERT=statistics" in said.fix
    assert said.where.function == "f"


def test_code_without_source_and_code_that_cannot_be_converted():
    namespace = {}
    text = "class Made:\n    def __abs__(self):\n        return 1 if self.x > 0 else 0"
    exec(compile(text, "<made>", "exec"), namespace)

    def without_source(x):
        made = namespace["Made"]()
        made.x = x
        return abs(made)

    assert "source cannot be found" in refusal(without_source, tf.constant(1)).why

    class Leaving:
        def __init__(self, x):
            self.x = x

        def __abs__(self):
            while self.x > 0:
                try:
                    return self.x
                finally:
                    break  # noqa: B012
            return self.x

    assert "it cannot be converted: " in refusal(lambda x: abs(Leaving(x)), tf.constant(1)).why


def test_functions_traced_without_autograph():
    assert "autograph=False" in refusal(relu_again, tf.constant(1), autograph=False).why


def relu_again(x):
    return x if x > 0 else 0


def test_to_graph_outside_of_tracing_replaces_no_code():
    class Untouched:
        def __init__(self, x):
            self.x = x if x > 0 else 0

    code = Untouched.__init__.__code__
    tf.autograph.to_graph(lambda x: Untouched(x).x)(3)
    assert Untouched.__init__.__code__ is code
