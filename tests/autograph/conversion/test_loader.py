"""A converted function is the original in everything but its code."""

import contextlib
import functools
import gc
import inspect
import sys
import textwrap
import types
import weakref

import pytest
from agc.autograph import convert, staging
from agc.autograph.conversion.loader import Renaming

COUNT = 0
evaluated = []


def note(x):
    evaluated.append(x)
    return x


def keep_attributes(f):
    f.decorated = True
    return f


class Base:
    def scale(self, x):
        return x * 10


class Model(Base):
    __factor = 3

    def __init__(self):
        self.__bias = 1

    def scale(self, x, *, k=2):
        """Scale x."""
        while k > 0:
            k -= 1
            x += self.__bias
        return super().scale(x) * self.__factor

    def who(self):
        if self:
            return __class__, Model
        return None

    def private_parameter(self, __x):
        def inner():
            return __x if __x else None

        return inner()


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def test_defaults_annotations_and_decorators_are_not_evaluated_again():
    @keep_attributes
    def f(x: note("annotation") = note("default"), *, y=note("keyword")) -> note("result"):  # noqa: B008
        return x if x else y

    evaluated.clear()
    g = convert(f)
    assert g() == "default"
    assert evaluated == []
    assert g.__defaults__ is f.__defaults__
    assert g.__kwdefaults__ == {"y": "keyword"}
    assert g.__annotations__ == f.__annotations__ == {"x": "annotation", "return": "result"}
    assert inspect.signature(g) == inspect.signature(f)


def test_names_and_docstrings_are_kept():
    g = convert(Model.scale)
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
        assert getattr(g, attribute) == getattr(Model.scale, attribute)
    assert g.__code__.co_qualname == "Model.scale"
    assert g.__globals__ is Model.scale.__globals__


def test_attributes_are_shared():
    @keep_attributes
    def f(x):
        if x:
            f.calls = getattr(f, "calls", 0) + 1

    g = convert(f)
    g(1)
    assert f.calls == g.calls == 1
    assert g.decorated


def test_closure_cells_are_shared_both_ways():
    count = 0

    def step(n):
        nonlocal count
        while n > 0:
            n -= 1
            count += 1

    convert(step)(3)
    assert count == 3
    count = 10
    convert(step)(1)
    assert count == 11


def test_a_cell_may_still_be_empty():
    def f(x):
        return late if x else None

    g = convert(f)
    with pytest.raises(NameError, match="cannot access free variable 'late'"):
        g(True)
    late = 3
    assert g(True) == 3


def test_globals_are_the_original_s():
    def f(n):
        global COUNT
        for _ in range(n):
            COUNT += 1

    before = COUNT
    convert(f)(2)
    assert before + 2 == COUNT


def test_methods_keep_class_and_private_names():
    model = Model()
    assert convert(model.scale)(1) == model.scale(1) == 90
    assert convert(Model.scale)(model, 1, k=0) == 30
    assert convert(model.who)() == (Model, Model)
    assert convert(model.private_parameter)(5) == 5


def test_recursion():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    assert convert(factorial)(10) == 3628800
    assert convert(is_even)(10) is True
    assert convert(is_odd)(10) is False


def test_a_recursive_call_follows_a_rebound_name():
    def f(n):
        return 0 if n == 0 else f(n - 1) + 1

    g, f = convert(f), lambda n: 100
    assert g(3) == 101


def test_qualified_names_of_nested_definitions_are_kept():
    def f(x):
        while x > 0:

            class Inner:
                def method(self):
                    return None

            def helper():
                return lambda: None

            x -= 1
        return Inner.__qualname__, Inner.method.__qualname__, helper.__qualname__, helper().__qualname__

    assert convert(f)(1) == f(1)


def test_definitions_of_global_names_are_qualified_by_these_names_alone():
    def f(x):
        global of_f, OfF
        while x > 0:

            class OfF:
                def method(self):
                    return None

            def of_f():
                return lambda: None

            x -= 1
        return OfF.__qualname__, OfF.method.__qualname__, of_f.__qualname__, of_f().__qualname__

    assert convert(f)(1) == f(1) == ("OfF", "OfF.method", "of_f", "of_f.<locals>.<lambda>")


def test_functions_without_free_variables_have_no_closure():
    assert convert(is_even).__closure__ is is_even.__closure__ is None


@types.coroutine
def double(x):
    """A generator that `await` takes."""
    sent = yield x
    return sent * 2 if sent else 0


async def of_awaited(x):
    return await double(x) if x else None


def test_generators_of_types_coroutine_can_be_awaited():
    for state in (contextlib.nullcontext, staging.live):
        with state():
            steps = convert(of_awaited)(3)
            assert steps.send(None) == 3
            with pytest.raises(StopIteration, match="10"):
                steps.send(5)


def test_a_text_that_is_the_name_of_the_function_stays():
    def sub(x):
        class Result:
            text = "sub", "Result"

        return "sub" if x else Result.text

    assert convert(sub)(1) == sub(1) == "sub"
    assert convert(sub)(0) == sub(0) == ("sub", "Result")


def test_a_qualified_name_loses_the_generated_parts():
    rename = Renaming({"loop_body"}, (), "factory.<locals>.f", "Model.f")
    assert rename.qualified("factory.<locals>.f.<locals>.g") == "Model.f.<locals>.g"
    assert rename.qualified("factory.<locals>.f.<locals>.loop_body.<locals>.K.m") == "Model.f.<locals>.K.m"
    assert rename.qualified("factory.<locals>.f.<locals>.loop_body") == "Model.f.<locals>.loop_body"


def test_the_line_of_a_decorated_function():
    @functools.wraps(note)
    @keep_attributes
    def f(x):
        return 1 if x else 2

    assert convert(f).__code__.co_firstlineno == f.__code__.co_firstlineno
    del f.__wrapped__
    assert inspect.getsource(convert(f)) == inspect.getsource(f)


def test_lambdas():
    double, half = lambda x: x * 2 if x else 0, lambda x: x / 2 if x else 0
    assert (convert(double)(3), convert(half)(3)) == (6, 1.5)
    assert convert(double).__name__ == "<lambda>"


def test_generators_and_coroutines_keep_their_kind():
    def numbers(n):
        while n:
            n -= 1
            yield n

    async def later(n):
        while n:
            n -= 1
        return n

    assert list(convert(numbers)(3)) == [2, 1, 0]
    assert inspect.isgeneratorfunction(convert(numbers))
    coroutine = convert(later)(3)
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)
    assert stop.value.value == 0


def test_a_user_variable_may_be_named_ag__():
    def f(ag__):
        if ag__:
            ag__ += 1
        return ag__

    assert convert(f)(1) == 2


def imported(tmp_path, monkeypatch, text, name):
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__(name)
    monkeypatch.delitem(sys.modules, name)
    return module


def test_future_statements_of_the_module_hold(tmp_path, monkeypatch):
    text = """
        from __future__ import annotations

        def f(x):
            if x:
                def g(y: undefined_name): pass
            return g.__annotations__
    """
    module = imported(tmp_path, monkeypatch, text, "future_module")
    assert convert(module.f)(1) == {"y": "undefined_name"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is new in 3.12")
def test_type_parameters(tmp_path, monkeypatch):
    text = """
        def f[T](x: T) -> T:
            while x > 3:
                x -= 1
            return x, T
    """
    f = imported(tmp_path, monkeypatch, text, "generic_module").f
    g = convert(f)
    assert g(5) == (3, f.__type_params__[0])
    assert g.__type_params__ == f.__type_params__


def test_a_compiler_warning_is_not_repeated(tmp_path, monkeypatch):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = imported(
            tmp_path, monkeypatch, 'def f(x):\n    return "\\d" if x is 1 else x\n', "warned_module"
        )
    assert convert(module.f)(2) == 2


def test_equal_code_of_two_modules_is_two_functions(tmp_path, monkeypatch):
    text = "def f():\n    return NAME if NAME else None\n"
    one = imported(tmp_path, monkeypatch, text + "NAME = 1\n", "one_module")
    two = imported(tmp_path, monkeypatch, text + "NAME = 2\n", "two_module")
    assert one.f.__code__ == two.f.__code__
    assert (convert(one.f)(), convert(two.f)()) == (1, 2)


def test_conversion_keeps_nothing_alive():
    def make():
        def f(n):
            return 0 if n == 0 else f(n - 1)

        return f

    f = make()
    assert convert(f)(3) == 0
    alive = weakref.ref(f)
    del f
    gc.collect()
    assert alive() is None


def test_locals_show_nothing_of_agc():
    def shows(x):
        y = x

        def inner():
            return sorted(locals()) if y else None

        return sorted(locals()), inner()

    assert convert(shows)(1) == shows(1) == (["inner", "x", "y"], ["y"])
    assert convert(shows).__code__.co_freevars == ()
