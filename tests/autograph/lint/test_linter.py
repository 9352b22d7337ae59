"""Everything that is wrong with a module: what is refused, and what will hardly be staged."""

import linecache
import textwrap

import pytest
from agc import autograph
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import FunctionPass

TRACERS = ("agc.runtime.function", "tensorflow.function")
HEAD = "import math\nimport agc.runtime as tf\n"


def check(text, **settings):
    """The findings as `code line`, of a text that follows the two lines of imports."""
    found = autograph.check_source(HEAD + textwrap.dedent(text), "m.py", tracers=TRACERS, **settings)
    assert all(one.title and one.where.line for one in found)
    return [f"{one.code} {one.where.line - 2}" for one in found]


def test_every_nested_function_is_checked():
    jump = "    while x:\n        try: return f(x)\n        finally: break\n"
    text = f"def a(x):\n{jump}def b(x):\n    def c(x):\n    {jump.replace(chr(10), chr(10) + '    ')}    return c\n"
    assert check(text) == ["AGC110 4", "AGC110 9"]


def test_every_error_of_one_function_is_listed():
    assert check("""
        def f(x):
            while x > 0:
                try:
                    return x
                finally:
                    if x == 3:
                        break
                    if x == 4:
                        continue
                    return 5
    """) == ["AGC110 8", "AGC110 10", "AGC110 11"]


class RefuseBadNames(FunctionPass):
    name = "refuse_bad_names"

    def function(self, node):
        if node.name.startswith("bad"):
            self.fail(node, "AGC110", "a name like this")
        return node


def test_errors_of_later_passes_are_listed_for_each_function(monkeypatch):
    monkeypatch.setattr(pipeline, "PIPELINE", (*pipeline.PIPELINE, RefuseBadNames))
    text = """
        def bad_one(x): return x
        class Model:
            x = 1
            def bad_two(self): return self
            class Inner:
                def bad_three(self): return self
                def good(self): return self
        if True:
            def bad_four(): pass
    """
    assert check(text) == ["AGC110 2", "AGC110 5", "AGC110 7", "AGC110 10"]


def test_a_syntax_error_is_reported_as_a_finding():
    assert [one.code for one in autograph.check_source("def f(:", "m.py")] == ["AGC106"]
    assert [one.code for one in autograph.check_source("x = '\0'", "m.py")] == ["AGC106"]


def test_a_function_that_is_left_alone():
    assert (
        check("""
        @autograph.do_not_convert
        def f(x):
            while x > 0:
                try: x -= 1
                finally: return 1
    """)
        == []
    )


GENERATOR = "def g(x):\n    while x > 0:\n        yield x\n        x -= 1\n"


@pytest.mark.parametrize(
    "traced",
    [
        f"@tf.function\n{GENERATOR}",
        f"@tf.function(reduce_retracing=True)\n{GENERATOR}",
        f"{GENERATOR}h = tf.function(g)",
        f"from agc.runtime import function as graph\n{GENERATOR}h = graph(g, jit_compile=False)",
        f"from agc import runtime\n@runtime.function\n{GENERATOR}",
        f"import agc.runtime\n@agc.runtime.function\n{GENERATOR}",
        f"import tensorflow\n@tensorflow.function\n{GENERATOR}",
        "class M:\n    @tf.function\n    async def g(self):\n        pass",
        "class M:\n    def __init__(self):\n        self.h = tf.function(self.g)\n    def g(self):\n        yield 1",
        "class M:\n    def g(self):\n        yield 1\nh = tf.function(M.g)",
    ],
)
def test_traced_functions_are_recognized(traced):
    assert [finding.split()[0] for finding in check(traced)] == ["AGC190"]


@pytest.mark.parametrize(
    "untraced",
    [
        GENERATOR,
        f"{GENERATOR}h = other.function(g)",
        f"@function\n{GENERATOR}",
        f"@tf.Module\n{GENERATOR}",
        "def g():\n    yield 1\nclass A:\n    def g(self): pass\nh = tf.function(A().g)",
    ],
)
def test_other_decorators_are_not_mistaken_for_tracing(untraced):
    assert check(untraced) == []


def test_the_runtime_refuses_code_that_the_linter_calls_an_error():
    import agc.runtime as tf

    namespace = {}
    exec(GENERATOR, namespace)
    with pytest.raises(TypeError, match="the generator `g` cannot become a graph"):
        tf.function(namespace["g"])


def in_traced(body, before=""):
    return f"{before}\n@tf.function\ndef f(x):\n{textwrap.indent(textwrap.dedent(body), '    ')}"


# Each pair: what is doubtful in a traced function, and the nearest thing that is not.
@pytest.mark.parametrize(
    ("code", "doubtful", "fine"),
    [
        ("AGC191", "if x > 0: x = 1\nreturn locals()", "return locals()"),
        ("AGC191", "if x > 0: x = 1\nreturn eval('x')", "if x is None: x = 1\nreturn eval('x')"),
        ("AGC191", "if x > 0: x = 1\nsys.settrace(x)", "if x > 0: x = 1\nsys.exit(x)"),
        ("AGC191", "if x > 0: x = 1\nreturn vars()", "if x > 0: x = 1\nreturn model.eval()"),
        ("AGC192", "def g():\n    for y in x: yield y\nreturn g()", "def g():\n    yield x\nreturn g()"),
        (
            "AGC192",
            "def g():\n    if x > 0: return\n    yield x",
            "def g():\n    if x > 0: print(x)\n    yield x",
        ),
        (
            "AGC193",
            "try: return y\nfinally:\n    if x > 0: return 1",
            "try: return y\nfinally:\n    return 1",
        ),
        (
            "AGC193",
            "try: return y\nfinally:\n    if x > 0: return 1",
            "try: return y\nfinally:\n    if x > 0: x = 1",
        ),
        (
            "AGC193",
            "for y in (1, 2):\n    try: continue\n    finally:\n        while x > 0:\n            return 1",
            "for y in (1, 2):\n    try: continue\n    finally:\n        while x > 0:\n            break",
        ),
    ],
)
def test_warnings_about_a_function(code, doubtful, fine):
    assert [finding.split()[0] for finding in check(in_traced(doubtful))] == [code]
    assert check(in_traced(fine)) == []


@pytest.mark.parametrize(
    "body",
    [
        "if x > 0: x = x + 1\nreturn len(locals())",
        "def positive():\n    if x > 0: yield x\nreturn list(positive())",
        "try: return x\nfinally:\n    if x > 0: return 2 * x",
    ],
)
def test_a_warning_comes_true_with_a_tensor(body):
    import agc.runtime as tf

    text = HEAD + in_traced(body)
    filename = "<doubtful>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    assert check(in_traced(body)) != []
    namespace = {}
    exec(compile(text, filename, "exec"), namespace)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        namespace["f"](tf.constant(3))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("while x > 0:\n    seen.append(x)", ["AGC194 5"]),
        ("if x > 0:\n    seen.add(x)\nelse:\n    seen.clear()", ["AGC194 5", "AGC194 7"]),
        ("for i in range(3):\n    seen.append(i)", []),
        ("for i in range(3):\n    if x > i:\n        seen.append(i)", ["AGC194 6"]),
        ("seen.append(x)", []),
        ("seen = []\nwhile x > 0:\n    seen.append(x)", []),
        ("while x > 0:\n    seen.index(x)", []),
        ("while x > 0:\n    seen.update(x=x)", []),
        ("while x > 0:\n    other.append(x)", []),
    ],
)
def test_mutation_of_outer_objects_is_reported(body, lines):
    assert check(in_traced(body, "seen = list()\n").replace("\n\n@", "\n@")) == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("while x > 0:\n    x -= random.random()", ["AGC195 5"]),
        ("if x > 0:\n    os.environ['a'] = 'b'", ["AGC195 5"]),
        ("if x > 0:\n    y = os.environ['a']", []),
        ("if x > 0:\n    y = random.Random(1)", []),
        ("for i in range(3):\n    y = random.random()", []),
        ("if x > 0:\n    open('a').close()", ["AGC195 5"]),
    ],
)
def test_use_of_process_state_is_reported(body, lines):
    assert check(in_traced(body, "import os, random\n").replace("\n\n@", "\n@")) == lines


def test_callees_of_traced_functions_are_checked():
    text = """
        def helper(x):
            if x > 0: x = 1
            return eval("x")
        class Model:
            def inner(self, x):
                if x > 0: x = 1
                return eval("x")
            @tf.function
            def call(self, x):
                return self.inner(helper(x))
        def other(x):
            if x > 0: x = 1
            return eval("x")
    """
    assert check(text) == ["AGC191 4", "AGC191 8"]
    assert check(text, everywhere=True) == ["AGC191 4", "AGC191 8", "AGC191 14"]


def test_the_expression_that_inspects_the_frame_is_marked():
    text = HEAD + in_traced("if x > 0: x = 1\nprint(len(locals()), 1)\nreturn vars()")
    (one,) = autograph.check_source(text, "m.py", tracers=TRACERS)
    assert one.where.text()[one.where.column - 1 : one.where.end_column - 1] == "locals()"
    assert [note.where.text() for note in one.notes] == ["    if x > 0: x = 1"]


def test_findings_have_severity_levels():
    text = HEAD + f"@tf.function\n{GENERATOR}" + in_traced("if x > 0: x = 1\nreturn locals()")
    levels = {one.code: one.level for one in autograph.check_source(text, "m.py", tracers=TRACERS)}
    assert levels == {"AGC190": "error", "AGC191": "warning"}
