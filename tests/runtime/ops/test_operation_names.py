"""Outside `ops`, code refers to operations as `Op` objects and queries their facts; strings name them in few files."""

import ast
import pathlib
import textwrap

import pytest
from agc.runtime.ops.framework.op import REGISTRY, find

ROOT = pathlib.Path(__file__).parents[3] / "runtime"

NAMING = {
    "ir/structured.py",  # the layer below `ops`, which declares the structured operations
}
"""The files that name operations by strings."""

ROOMS = ("ops/", "executors/llvm/", "executors/xla/", "formats/onnx/rules/", "formats/tensorflow/")
"""`ops` declares the names. Rules that lower or export operations are registered by name, since they load only what a
graph contains; formats have names of their own for the same operations."""


def is_name_of_operation(node):
    """Whether an expression is `operation.type`, or `.name` of an `op`."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value
    called = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return (node.attr == "type" and called not in ("numpy", "dtype")) or (
        node.attr == "name" and called == "op"
    )


def strings(node):
    """(line, text) of the strings that are directly in an expression: alone, in a display, or keys of a dict."""
    match node:
        case ast.Constant(value=str(text)):
            yield node.lineno, text
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(keys=parts):
            for part in parts:
                yield from strings(part)
        case ast.Call(args=parts) | ast.Starred(value=ast.Call(args=parts)):
            for part in parts[:1]:
                yield from strings(part)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from strings(one)
            yield from strings(other)


def places_of_names(tree):
    """The expressions of a module that hold names of operations: compared with one, or looked up by one."""
    tables = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        tables |= {name.id: each for name, each in pairs if isinstance(name, ast.Name) and each is not None}
    names = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and is_name_of_operation(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def is_name(node):
        return is_name_of_operation(node) or (isinstance(node, ast.Name) and node.id in names)

    def of(node):
        return tables.get(node.id, node) if isinstance(node, ast.Name) else node

    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others) if any(map(is_name, (left, *others))):
                yield from map(of, (left, *others))
            case ast.Subscript(value=table, slice=key) if is_name(key):
                yield of(table)
            case ast.Subscript(value=ast.Name(id="REGISTRY"), slice=key):
                yield key
            case ast.Call(func=ast.Attribute(value=table, attr="get" | "isdisjoint"), args=[key, *_]) if (
                is_name(key)
            ):
                yield of(table)
            case ast.Call(func=ast.Attribute(value=name, attr="startswith"), args=[start]) if is_name(name):
                yield start
            case ast.Call(func=ast.Name(id="find"), args=[key]):
                yield key
            case ast.Call(func=ast.Name(id="rewrite_all"), args=[_, rules]):
                yield of(rules)


def named(text):
    tree = ast.parse(text)
    found = [each for place in places_of_names(tree) for each in strings(place)]
    return sorted({(line, name) for line, name in found if name in REGISTRY})


@pytest.fixture(scope="module", autouse=True)
def every_operation():
    find("none")  # declares all operations


def test_few_files_name_operations_by_strings():
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(ROOMS):
            lines = named(path.read_text())
            if lines:
                found[place] = lines
    assert {place: lines for place, lines in found.items() if place not in NAMING} == {}
    assert found.keys() == NAMING
    assert len(NAMING) <= 10


def test_the_check_finds_names_of_operations():
    text = """
        TABLE = {"sort": 1, "argsort": 2}
        READS = frozenset({"read_variable"})
        def f(operation, maker, graph):
            kind = operation.type
            if operation.type == "while" or kind in ("cond", "nothing"):
                return TABLE[operation.op.name], REGISTRY["square"]
            if maker.op.name not in READS:
                return find("ensure_shape"), other["exp"], x.shape == "shape", array.dtype.type("add")
            return rewrite_all(graph, {"identity": f})
    """
    assert {name for _, name in named(textwrap.dedent(text))} == {
        "sort", "argsort", "read_variable", "while", "cond", "square", "ensure_shape", "identity"
    }  # fmt: skip
