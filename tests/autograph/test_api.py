"""`convert`: on all kinds of callables, and on what converted code calls."""

import collections
import dataclasses
import functools
import gc
import pathlib
import textwrap
import threading
import weakref
from types import CodeType

import pytest
from agc import autograph
from agc.autograph import ConversionError, convert, converted_call, do_not_convert, to_code
from agc.autograph import operators as ag__
from support.recording import staged, written


def absolute(x):
    if x < 0:
        x = -x
    return x


def distance(a, b):
    return absolute(a - b)


class Counter:
    def __init__(self, start):
        self.count = start

    def up_to(self, limit):
        while self.count < limit:
            self.count += 1
        return self.count

    @classmethod
    def from_sign(cls, x):
        start = 1 if x > 0 else 0
        return cls(start)

    @staticmethod
    def clip(x):
        return x if x > 0 else 0

    def __call__(self, x):
        if x > self.count:
            return x
        return self.count


def is_converted(f):
    """Whether the operators are a constant of a function."""
    pending = [f.__code__]
    while pending:
        constants = pending.pop().co_consts
        if any(constant is ag__ for constant in constants):
            return True
        pending += [constant for constant in constants if isinstance(constant, CodeType)]
    return False


# What can be converted.


def test_a_function():
    assert is_converted(convert(absolute))
    assert (convert(absolute)(-3), convert(absolute)(3)) == (3, 3)
    assert autograph.to_graph(absolute)(-3) == 3


def test_bound_methods():
    counter = Counter(0)
    up_to = convert(counter.up_to)
    assert up_to.__self__ is counter
    assert is_converted(up_to)
    assert (up_to(3), counter.count) == (3, 3)
    assert convert(Counter.from_sign)(5).count == 1


def test_static_and_class_methods():
    assert convert(Counter.clip)(-3) == 0

    class Made:
        clip = convert(vars(Counter)["clip"])
        from_sign = convert(vars(Counter)["from_sign"])

    assert Made.clip(-3) == 0
    assert is_converted(Made.clip)
    assert is_converted(Made.from_sign)


def test_partials_and_callable_objects():
    g = convert(functools.partial(distance, 3))
    assert (g(5), g.args) == (2, (3,))
    assert is_converted(g.func)
    assert convert(Counter(3))(5) == 5
    assert is_converted(convert(Counter(3)))


def test_a_wrapper_and_its_wrapped_function():
    def twice(f):
        @functools.wraps(f)
        def wrapper(x):
            return f(f(x) - 5)

        return wrapper

    wrapped = twice(absolute)
    assert convert(wrapped)(3) == 2
    assert staged(convert(wrapped), "x")(-3) == 2


def test_c_functions_stay():
    assert convert(print) is print
    assert convert([].append)(3) is None


@pytest.mark.parametrize(
    ("f", "what"), [(Counter, "class `Counter`"), (3, "type `int`"), (None, "`NoneType`")]
)
def test_a_value_that_is_no_function_is_refused(f, what):
    with pytest.raises(ConversionError, match=f"AGC104.*{what}"):
        convert(f)


def test_code_of_a_builtin_function_is_refused():
    with pytest.raises(ConversionError, match=r"AGC104.*`len` is not a Python function"):
        to_code(len)


def test_a_library_function_is_converted_on_explicit_request():
    import textwrap

    assert is_converted(convert(textwrap.dedent))
    assert convert(textwrap.dedent)("  a\n  b") == "a\nb"


def test_code_without_source_is_refused():
    with pytest.raises(ConversionError, match="AGC101"):
        convert(eval("lambda x: x if x else 0"))


# What converted code calls.


def test_called_functions_are_converted_too():
    assert staged(convert(distance), "a", "b")(3, 5) == 2
    assert staged(convert(lambda c, x: Counter.clip(x - 1)), "c", "x")(0, -5) == 0


def test_library_functions_classes_and_converted_functions_are_unchanged():
    for f in (textwrap.dedent, Counter, convert(absolute), int, collections.OrderedDict().popitem):
        assert ag__.converted(f) is f or f is int


def test_inner_functions_of_converted_code_are_converted():
    def outer(x):
        def inner(y):
            return y if y > 0 else -y

        return inner

    inner = convert(outer)(1)
    assert ag__.converted(inner) is inner
    assert convert(inner) is inner


def test_a_module_level_function_is_converted_once():
    assert ag__.converted(absolute) is ag__.converted(absolute)
    assert convert(absolute).__code__ is convert(absolute).__code__
    assert convert(convert(absolute)) is not absolute


def test_new_defaults_are_seen(monkeypatch):
    def f():
        return greet()

    assert convert(f)() == "hello"
    monkeypatch.setattr(greet, "__defaults__", ("bye",))
    assert convert(f)() == "bye"


def greet(word="hello"):
    return word if word else None


def test_do_not_convert():
    @do_not_convert
    def plain(x):
        return 1 if x else 2

    def f(x):
        return plain(x)

    assert ag__.converted(plain) is plain
    assert convert(plain) is plain
    with pytest.raises(TypeError, match="no truth value"):
        written(convert(f), "x")


def test_converted_call():
    assert converted_call(absolute, (-3,)) == 3
    assert converted_call(dict, kwargs={"a": 1}) == {"a": 1}
    assert staged(lambda x: converted_call(absolute, (x,)), "x")(-3) == 3


def test_generated_functions_without_source_can_be_called():
    @dataclasses.dataclass(order=True)
    class Point:
        x: int

    def f(a, b):
        return Point(a), Point(a).__eq__(Point(b)), Point(a).__lt__(Point(b))

    assert convert(f)(1, 1) == (Point(1), True, False)


def test_a_backend_s_value_in_code_without_source_is_refused():
    namespace = {}
    exec("def simple(x): return x + 1\ndef branching(x): return x if x > 0 else 0", namespace)
    simple, branching = namespace["simple"], namespace["branching"]

    assert convert(lambda x: branching(x))(3) == 3
    assert staged(convert(lambda x: simple(x)), "x")(3) == 4
    with pytest.raises(ConversionError, match=r"AGC101.*`branching`"):
        written(convert(lambda x: branching(x)), "x")


def test_conversion_from_many_threads():
    def f(x):
        while x > 10:
            x -= 1
        return x

    codes, start = [], threading.Barrier(8)

    def work():
        start.wait()
        codes.append(convert(f).__code__)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(codes) == 8
    assert len({id(code) for code in codes}) == 1


def test_conversions_are_freed_with_their_code():
    namespace = {}

    def make():
        def f(x):
            return x if x else 0

        return f

    loaded = ag__.converter._loaded
    convert(make())
    gc.collect()  # what other tests have left
    before = len(loaded)
    f = make()
    f.__code__ = f.__code__.replace(co_name="f")
    convert(f)
    assert len(loaded) == before + 1
    del f
    gc.collect()
    assert len(loaded) == before
    assert namespace == {}


def test_a_lambda_alive_as_long_as_its_conversion_is_used():
    f = convert(lambda x: x if x > 0 else -x)
    alive = weakref.ref(f)
    assert f(-2) == 2
    del f
    gc.collect()
    assert alive() is None


def test_pathlib_is_left_alone():
    def f(path):
        return path.joinpath("b").name if path else None

    assert convert(f)(pathlib.PurePosixPath("a")) == "b"


def test_a_branchless_function_without_source_is_unchanged():
    namespace = {}
    exec("def double(x):\n    return x * 2\n\ndef absolute(x):\n    return x if x > 0 else -x", namespace)
    assert autograph.convert(namespace["double"]) is namespace["double"]
    with pytest.raises(autograph.ConversionError, match="AGC101"):
        autograph.convert(namespace["absolute"])
