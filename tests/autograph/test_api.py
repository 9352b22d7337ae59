"""convert, to_code, convert_source, compile_source: on all kinds of callables and on whole modules."""

import ast
import collections
import dataclasses
import functools
import gc
import pathlib
import subprocess
import sys
import textwrap
import threading
import weakref
from types import CodeType

import pytest
from agc import autograph
from agc.autograph import ConversionError, convert, convert_source, converted_call, do_not_convert, to_code
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


# Text.


def runs(text, name):
    namespace = {"__name__": "printed"}
    exec(compile(text, "<printed>", "exec"), namespace)
    return namespace[name]


def test_to_code_output_runs_by_itself():
    text = to_code(absolute)
    assert text.startswith("from agc.autograph import operators as ag__\n")
    assert runs(text, "absolute")(-3) == 3
    assert staged(runs(text, "absolute"), "x")(-3) == 3


def test_to_code_without_control_flow_is_the_function():
    def double(x):
        return x * 2

    assert to_code(double) == "def double(x):\n    return x * 2\n"


def test_to_code_of_a_class_a_lambda_and_a_method():
    assert runs(to_code(Counter), "Counter")(0).up_to(3) == 3
    assert runs(to_code(lambda x: x if x else 1), "function")(0) == 1
    assert to_code(Counter(0).up_to).splitlines()[2:] == to_code(Counter.up_to).splitlines()[2:]
    assert to_code(convert(absolute)) == to_code(absolute)
    with pytest.raises(ConversionError, match="AGC104"):
        to_code(len)


MODULE = '''\
#!/usr/bin/env python
# A program.

"""What it does."""

from __future__ import annotations

import math


def f(x):
    if x > 0:
        x = math.sqrt(x)
    return x


class Model:
    def fit(self, n):
        for i in range(n):
            if i > 3:
                break
        return i


if __name__ == "__main__":
    print(f(16.0), Model().fit(10), __doc__)
'''


def test_a_printed_module_runs_by_itself(tmp_path):
    text = convert_source(MODULE, "program.py")
    lines = text.splitlines()
    assert lines[0] == "#!/usr/bin/env python"
    body = ast.parse(text).body
    assert ast.get_docstring(ast.parse(text)) == "What it does."
    assert [ast.unparse(node) for node in body[1:4]] == [
        "from __future__ import annotations",
        "from agc.autograph import operators as ag__",
        "import math",
    ]
    path = tmp_path / "converted.py"
    path.write_text(text)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "4.0 4 What it does.\n"


def test_a_printed_module_is_not_converted_twice():
    text = convert_source(MODULE, "program.py")
    assert convert_source(text, "converted.py") == text
    f = runs(text, "f")
    assert convert(f) is f
    assert ag__.converted(f) is f


def test_one_function_of_a_module_can_be_converted():
    text = convert_source(MODULE, "program.py", function="Model.fit")
    *imports, function = ast.parse(text).body
    assert all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in imports)
    assert ast.unparse(imports[-1]) == "from agc.autograph import operators as ag__"
    assert isinstance(function, ast.FunctionDef)
    assert runs(text, "fit")(None, 10) == 4
    assert "class Model" in convert_source(MODULE, "program.py", function="Model")


def test_one_function_is_printed_with_its_imports():
    module = "import os\nimport math as m, sys\n\ndef f(x):\n    return m.floor(x) if x > 0 else 0\n"
    text = convert_source(module, "program.py", function="f")
    assert text.startswith("import math as m\nfrom agc.autograph import operators as ag__\n")
    assert runs(text, "f")(2.5) == 2


def test_annotated_text_shows_the_original_lines():
    text = convert_source(MODULE, "program.py", function="f", annotate=True)
    assert [line for line in text.splitlines() if "# 12 |" in line] == ["    # 12 |     if x > 0:"]
    head = "from __future__ import annotations\nimport math\nfrom agc.autograph import operators as ag__\n"
    assert text.startswith(head)
    assert ast.unparse(ast.parse(text)) == ast.unparse(
        ast.parse(convert_source(MODULE, "p.py", function="f"))
    )


def test_a_function_that_is_not_there():
    with pytest.raises(ConversionError, match=r"AGC105.*no function `Model.fitt`(.|\n)*Model.fit"):
        convert_source(MODULE, "program.py", function="Model.fitt")


def test_a_module_that_needs_no_operators_imports_none():
    assert convert_source("x = 1\n", "a.py") == "x = 1\n"
    assert convert_source("", "a.py") == ""


def test_libraries_are_recognized_without_importing_them():
    text = convert_source("import numpy as np, mine\n\ndef f(x):\n    return np.exp(mine.g(x))\n", "a.py")
    assert "return np.exp(ag__.converted(mine.g)(x))" in text
    text = convert_source("import numpy as np\nnp = 3\n\ndef f(x):\n    return np.exp(x)\n", "a.py")
    assert "ag__.converted(np.exp)(x)" in text


def test_text_that_is_not_python():
    with pytest.raises(ConversionError) as error:
        convert_source("def f(:\n    pass\n", "bad.py")
    assert str(error.value).splitlines()[1:4] == ["  --> bad.py:1:7", " 1 | def f(:", "   |       ^"]


def test_compiled_source_runs_as_a_converted_module():
    namespace = {"__name__": "compiled"}
    exec(autograph.compile_source(MODULE, "program.py"), namespace)
    f, fit = namespace["f"], namespace["Model"]().fit
    assert (f(16.0), fit(10)) == (4.0, 4)
    assert f.__code__.co_firstlineno == 11
    assert ag__.converted(f) is f
    assert ag__.converted(fit) == fit
    assert convert(f) is f


def test_after_a_pass():
    assert "lower_return" in autograph.PASSES
    for name in autograph.PASSES:
        namespace = {"__name__": "intermediate"}
        exec(convert_source(MODULE, "program.py", after=name), namespace)
        assert namespace["Model"]().fit(10) == 4
    with pytest.raises(ValueError, match="lower_return"):
        convert_source(MODULE, "program.py", after="no_such_pass")


def test_a_very_long_expression():
    terms = " + ".join(["x"] * 5000)
    text = f"def f(x):\n    if x:\n        x = {terms}\n    return x\n"
    if sys.version_info[:2] == (3, 12):  # which cannot read it
        with pytest.raises(ConversionError, match="AGC107"):
            convert_source(text, "long.py")
    else:
        assert convert_source(text, "long.py").count("x + x") == 2500


def test_unparsable_source_is_refused():
    with pytest.raises(ConversionError, match=r"AGC10[67]"):
        convert_source("x = " + "(" * 5000 + ")" * 5000, "deep.py")


def test_doctests_and_exec(tmp_path):
    import doctest

    text = """
    >>> from agc.autograph import convert, to_code
    >>> def f(x):
    ...     if x > 0:
    ...         x = -x
    ...     return x
    >>> convert(f)(3)
    -3
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


# Staging of every kind through the whole compiler.


# ruff: noqa: SIM108, SIM201


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def first_above(xs, limit):
    for x in xs:
        if x > limit:
            return x
    return -1


def pairs_that_sum(xs, total):
    count = 0
    for a in xs:
        if a > total:
            continue
        for b in xs:
            if b > a:
                break
            if a + b == total and not a == b:
                count += 1
    return count


def between(x, low, high):
    assert low <= high, "empty range"
    return low <= x < high or x == high


def unrolled(x):
    total = 0
    for factor in [1, 2, 3]:
        total += factor * x
        if total > 10:
            break
    return total


def counted(n):
    seen = []
    total = 0
    for i in range(n):
        total += abs(i - 2)
    seen.append(n)
    return total


def maybe_unbound(x):
    if x > 0:
        y = x
    return y


class Account:
    def __init__(self):
        self.balance = 10

    def settle(self, amount):
        if amount > 5:
            self.balance = amount
        elif amount < -5:
            self.balance = self.balance + amount
        return self.balance


def settled(amount):
    account = Account()
    return account.settle(amount)


def late_binding(x):
    n = 0

    def current():
        return n

    while n < x:
        n = current() + 2
    return current()


STAGED = [
    (collatz, [(1,), (6,), (27,)]),
    (first_above, [([1, 5, 9], 4), ([1], 4), ([], 4)]),
    (pairs_that_sum, [([1, 2, 3, 4], 5), ([5, 1, 4], 5), ([], 0)]),
    (between, [(1, 0, 2), (0, 0, 2), (2, 0, 2), (3, 0, 2)]),
    (unrolled, [(1,), (5,), (20,)]),
    (counted, [(0,), (5,)]),
    (settled, [(9,), (-9,), (0,)]),
    (late_binding, [(0,), (3,)]),
]


@pytest.mark.parametrize(("f", "inputs"), STAGED, ids=[f.__name__ for f, _ in STAGED])
def test_the_recorded_program_gives_pythons_results(f, inputs):
    program = staged(convert(f), *f.__code__.co_varnames[: f.__code__.co_argcount])
    for arguments in inputs:
        assert program(*arguments) == f(*arguments)
        assert convert(f)(*arguments) == f(*arguments)


def test_a_variable_that_may_be_unbound():
    program = staged(convert(maybe_unbound), "x")
    assert program(3) == convert(maybe_unbound)(3) == 3
    for f in (program, convert(maybe_unbound), maybe_unbound):
        with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
            f(-3)


def test_a_staged_assertion_fails_when_the_program_runs():
    program = staged(convert(between), "x", "low", "high")
    with pytest.raises(AssertionError, match="empty range"):
        program(0, 2, 1)


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
