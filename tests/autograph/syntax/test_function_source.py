"""Finding the text of a function: by file and position, with the user's own lines and columns."""

# ruff: noqa: E731, C416

import ast
import doctest
import functools
import importlib.util
import linecache
import sys
import textwrap
import zipfile

import pytest
from agc.autograph.errors import ConversionError
from agc.autograph.introspection.code_objects import nested_code_objects
from agc.autograph.syntax import source
from agc.autograph.syntax.function_source import owner_of, piece_of
from agc.autograph.syntax.positions import lines_of, where_of


# fmt: off
def plain(x):
    return x


pair = lambda x: x + 1, lambda x: x * 2, lambda y: y
nest = lambda: lambda: 3
default = (lambda f=lambda: 1: f)
spread = (
    lambda x: (
        x +
        1
    )
)


def outer():
    @functools.wraps(plain)
    def inner(x, *args, k=1, **options):
        text = """
at column 0
"""
# a comment at column 0
        total = x + \
1
        return text, total

    return inner


class Model:
    rate = lambda self: 0.1

    def fit(self, __x):
        class Inner:
            def deep(self): return 1
        return Inner
# fmt: on


def code_of(f):
    definition = source.find(f)
    return ast.get_source_segment(definition.text, definition.node)


def test_a_function_with_its_own_lines_and_columns():
    definition = source.find(plain)
    assert definition.node.lineno == plain.__code__.co_firstlineno
    assert definition.filename == __file__
    assert (definition.qualname, definition.owner) == ("plain", None)


def test_lambdas_are_distinguished_by_their_columns():
    assert [code_of(f) for f in pair] == ["lambda x: x + 1", "lambda x: x * 2", "lambda y: y"]
    assert code_of(nest) == "lambda: lambda: 3"
    assert code_of(nest()) == "lambda: 3"
    assert code_of(default) == "lambda f=lambda: 1: f"
    assert code_of(default()) == "lambda: 1"


def test_a_lambda_over_several_lines():
    assert code_of(spread).startswith("lambda x: (")


def test_a_nested_decorated_function_with_text_at_column_0():
    definition = source.find(outer())
    assert definition.node.name == "inner"
    assert definition.node.col_offset == 4
    assert outer().__code__.co_firstlineno == definition.node.lineno - 1
    strings = [
        n.value for n in ast.walk(definition.node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    assert "\nat column 0\n" in strings


def test_the_owner_class_of_a_method_is_found():
    assert source.find(Model.fit).owner == "Model"
    assert source.find(Model.rate).owner == "Model"
    deep = source.find(Model().fit(0).deep)
    assert (deep.owner, deep.qualname) == ("Inner", "Model.fit.Inner.deep")


def test_a_class():
    assert source.find_class(Model).qualname == "Model"
    assert source.find_class(Model().fit(0)).qualname == "Model.fit.Inner"


def test_a_class_without_source():
    with pytest.raises(ConversionError, match=r"AGC101.*class `Made`"):
        source.find_class(type("Made", (), {}))


def loaded(text, filename):
    """The module of a text that has no file."""
    namespace = {"__name__": "made_up"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace


def test_code_that_is_registered_with_linecache():
    text = "def f(x):\n    return x\n"
    linecache.cache["<cell 1>"] = len(text), None, text.splitlines(keepends=True), "<cell 1>"
    try:
        assert code_of(loaded(text, "<cell 1>")["f"]) == text.rstrip()
    finally:
        del linecache.cache["<cell 1>"]


def test_a_function_in_a_doctest():
    test = doctest.DocTestParser().get_doctest(
        ">>> def f(x):\n...     return x\n>>> print(code_of(f))\ndef f(x):\n    return x\n",
        {"code_of": code_of}, "example", None, None,
    )  # fmt: skip
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_a_module_in_a_zip(tmp_path, monkeypatch):
    archive = tmp_path / "app.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped_module.py", "def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(archive))
    import zipped_module

    assert code_of(zipped_module.f) == "def f(x):\n    return x + 1"
    del sys.modules["zipped_module"]


def test_missing_source_is_reported():
    f = loaded("def f(x):\n    return x\n", "<string>")["f"]
    assert not source.exists(f)
    with pytest.raises(ConversionError) as error:
        source.find(f)
    assert error.value.diagnostic.code == "AGC101"
    assert "agc convert" in error.value.diagnostic.fix
    assert str(source.search(f)) == str(error.value)


def test_a_file_that_has_changed(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x\n")
    spec = importlib.util.spec_from_file_location("changing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert code_of(module.f) == "def f(x):\n    return x"

    path.write_text("# new\ndef f(x):\n    return x\n")
    with pytest.raises(ConversionError, match="AGC102"):
        source.find(module.f)
    path.write_text("def f(\n")
    with pytest.raises(ConversionError, match="AGC101"):
        source.find(module.f)


def test_lambdas_without_columns(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        from agc.autograph.syntax import source
        a, b = lambda x: x + 1, lambda x: x * 2
        c = lambda y: y
        print(source.find(c).name)
        try:
            source.find(a)
        except Exception as error:
            print(error.diagnostic.code)
    """)
    )
    import subprocess

    command = [sys.executable, "-X", "no_debug_ranges", str(program)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "<lambda>\nAGC103\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x = 1\ndef f(:\n", 2, "invalid syntax"),
        ("if x:\ny\n", 2, "expected an indented block"),
        ("print 'x'", 1, "Missing parentheses"),
    ],
)
def test_text_that_is_not_python(text, line, message):
    with pytest.raises(ConversionError) as error:
        source.parse(text, "bad.py")
    assert error.value.diagnostic.code == "AGC106"
    assert error.value.diagnostic.where.line == line
    assert message in error.value.diagnostic.title


def test_null_bytes_are_not_python():
    with pytest.raises(ConversionError, match="not Python"):
        source.parse("x = 1\0", "bad.py")


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: x + 1, False),
        (lambda x: x if x else 1, True),
        (lambda x: x and 1, True),
        (lambda x: not x, True),
        (lambda x: [y for y in x], True),
        (lambda x: lambda: 0 if x else 1, True),
        (lambda x: print(x), False),
    ],
)
def test_control_flow_is_seen_in_the_bytecode(f, expected):
    assert source.has_control_flow(f.__code__) is expected


def test_a_form_feed_ends_no_line(tmp_path):
    (tmp_path / "feed.py").write_text(
        "x = 1\n\x0c\ndef f(y):\n    while y > 1:\n        y -= 1\n    return undefined\n"
    )
    namespace = {}
    path = str(tmp_path / "feed.py")
    exec(compile((tmp_path / "feed.py").read_text(), path, "exec"), namespace)
    definition = source.find(namespace["f"])
    assert definition.segment().startswith("def f(y):")
    assert where_of(definition.node.body[1], path, definition.text).source == "    return undefined"


PIECES = '''\
import functools

def plain(x):
    return x
plain.rate = 1

class Model:
    @functools.lru_cache(
        maxsize=None
    )
    async def fit(self, __x):
        def deep(): return [
1]
# at column 0
        return deep

    def loss(self):
        return 1
        """
never run, at column 0
"""

    def later(self):
        pass
'''


def test_a_function_s_own_lines_have_the_tree_that_the_file_has():
    """Nothing else of the file is parsed, and what a method's class is shows in the name of its code."""
    file = source.File("pieces.py", PIECES, ast.parse(PIECES))
    code = {inner.co_name: inner for inner in nested_code_objects(compile(PIECES, "pieces.py", "exec"))}
    found = {name: piece_of(code[name], lines_of(PIECES)) for name in ("plain", "fit", "deep", "later")}
    for definition in file.definitions():
        if definition.name in found:
            piece = found[definition.name]
            assert ast.dump(piece, include_attributes=True) == ast.dump(
                definition.node, include_attributes=True
            )
            assert owner_of(code[definition.name]) == definition.owner
    assert piece_of(code["loss"], lines_of(PIECES)) is None  # the line at column 0 is the inside of a text
