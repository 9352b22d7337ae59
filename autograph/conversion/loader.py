"""Loader: turn a converted tree into a live function that replaces the original.

    def __factory__(x):                  the free variables of f
        class ________:                  names bound in a class body are invisible to functions in it
            class Model:                 private names are mangled as in the original
                def f(self, y): …   ==>  only the code object of f is taken out; nothing here is ever run

A function without free variables, outside of classes, is compiled without wrappers.

The new function gets the original's globals, closure cells, defaults and attributes. The operators are a
constant of its code, so that `locals()` does not contain them. The rest of the `def` statement is not
evaluated again: no decorator, no default, no annotation.
"""

from __future__ import annotations
import __future__ as futures

import ast
import functools
from collections.abc import Callable, Collection
from inspect import CO_ITERABLE_COROUTINE, CO_OPTIMIZED
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import gast

from .. import transpile
from ..options.features import Feature
from ..options.verbosity import CODE, log, place, verbosity
from ..passes import pipeline
from ..passes.base import NO_FEATURES, Context
from ..syntax import source
from ..syntax.gast_bridge import Translation
from ..syntax.generated_positions import generated_lambdas, operator_calls, settle
from ..syntax.nesting import deep_trees
from ..syntax.positions import Extent, extent_of_code
from ..syntax.source import Definition
from ..syntax.tree_queries import BLOCK_FIELDS, blocks, evolve, position
from .global_names import Answers, noted
from .operator_constants import without_name

FACTORY = "__factory__"
CLASSLESS = "________"  # names are not mangled in a class that is named by underscores only

_FUTURE = sum(getattr(futures, name).compiler_flag for name in futures.all_feature_names)


def converted_code(
    f: FunctionType,
    finish: Callable[[ast.Module], None] = lambda tree: None,
    features: frozenset[Feature] = NO_FEATURES,
    has_original: bool = False,
    answers: Answers | None = None,
) -> CodeType:
    """Return the converted code of `f`, with a string constant in place of the operators.

    `operator_constants.with_operators` replaces that constant. `finish` may change the tree before it is
    compiled. `answers` gets the facts about global names that the conversion depends on.
    """
    definition = source.find(f)
    context = live_context(f, definition, features, answers)
    with deep_trees(definition.filename):
        translation = Translation(ast.Module([without_decorators(definition)], []))
        if not has_original:
            after = pipeline.run(translation.tree, context)
        else:  # few functions are converted while no graph is built
            from ..passes.version_choices import split
            from .multiversioning import BUILDING, with_both_versions

            after, own = pipeline.run_for_both(split(translation.tree), context)
            after = with_both_versions(translation, after, context.ag, own, BUILDING)
        tree, generated, lambdas = settled(translation, after, context)
        if verbosity() >= CODE:
            log(CODE, f"{place(f.__code__)} became\n{ast.unparse(tree)}")
        without_name(translation.new, context.ag)
        finish(tree)
        code = compiled(tree, definition, f.__code__)
    rename = Renaming(generated, lambdas, code.co_qualname, f.__code__.co_qualname)
    code = rename(code, f.__code__.co_name)
    # `types.coroutine` sets this flag, after which `await` takes the generator.
    return code.replace(co_flags=code.co_flags | f.__code__.co_flags & CO_ITERABLE_COROUTINE)


class LocatedTree(NamedTuple):
    """A tree as Python compiles it, with a position for every node."""

    tree: ast.Module
    generated: Collection[str]  # the names of generated functions
    lambdas: Collection[Extent]  # the extents of the bodies of generated lambdas


def settled(translation: Translation, after: gast.Module, context: Context) -> LocatedTree:
    """Return a converted tree with positions, ready for Python's compiler."""
    tree: ast.Module = translation.back(after)
    new = translation.new
    functions = {function.name for function in (*new[ast.FunctionDef], *new[ast.AsyncFunctionDef])}
    generated = functions - function_names(translation.tree)
    calls = operator_calls(new, context.ag)
    settle(new, calls, generated, context.source)
    return LocatedTree(tree, generated, generated_lambdas(calls))


def live_context(
    f: FunctionType,
    definition: Definition,
    features: frozenset[Feature],
    answers: Answers | None = None,
) -> Context:
    """Return the conversion context of a function: names are resolved in its globals."""
    answering = functools.partial(noted, f.__globals__, {} if answers is None else answers)
    return Context(
        filename=definition.filename,
        source=definition.text,
        is_library=answering("library"),
        is_builtin=answering("builtin"),
        is_directive=answering("directive"),
        ag=transpile.fresh_name(definition.segment()),
        features=features,
    )


def without_decorators(definition: Definition) -> ast.stmt:
    """Return the definition without decorators, defaults and annotations, which are evaluated outside of it.

    A lambda becomes the value of an assignment, because a tree holds statements.
    """
    node = definition.node
    args = node.args  # type: ignore[union-attr]
    signature = ast.arguments(
        posonlyargs=[_unannotated(arg) for arg in args.posonlyargs],
        args=[_unannotated(arg) for arg in args.args],
        vararg=args.vararg and _unannotated(args.vararg),
        kwonlyargs=[_unannotated(arg) for arg in args.kwonlyargs],
        kw_defaults=[None for _ in args.kwonlyargs],
        kwarg=args.kwarg and _unannotated(args.kwarg),
        defaults=[],
    )
    new: ast.stmt
    if isinstance(node, ast.Lambda):
        value = ast.copy_location(ast.Lambda(signature, node.body), node)
        new = ast.Assign([ast.copy_location(ast.Name("function", ast.Store()), node)], value)
    else:
        new = type(node)(name=node.name, args=signature, body=[*node.body], decorator_list=[])  # type: ignore
    return ast.copy_location(new, node)


def _unannotated(arg: ast.arg) -> ast.arg:
    return ast.copy_location(ast.arg(arg.arg), arg)


def compiled(tree: ast.Module, definition: Definition, original: CodeType) -> CodeType:
    """Return the code object of the one function that `tree` defines."""
    *before, function = tree.body
    if before or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign)):
        raise ValueError("the passes must leave one function as one statement")
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        # The first line of a function is that of its first decorator. The decorator is compiled, but never
        # run.
        mark = ast.Constant(None, lineno=original.co_firstlineno, col_offset=0)
        mark.end_lineno, mark.end_col_offset = original.co_firstlineno, 0
        function.decorator_list = [mark] if original.co_firstlineno < function.lineno else []
    free = ", ".join(name for name in original.co_freevars if name != "__class__")
    wrappers = _wrappers(free, definition.owner or CLASSLESS) if free or definition.owner else ()
    wrapped, location = function, position(function)
    for wrapper in wrappers:
        wrapped = evolve(wrapper, body=[wrapped], **location)
    flags = original.co_flags & _FUTURE
    with source.unwarned():
        code: CodeType = compile(
            ast.Module([wrapped], []), definition.filename, "exec", flags=flags, dont_inherit=True
        )
    for _ in (*wrappers, function):
        (code,) = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return code


@functools.lru_cache(maxsize=256)
def _wrappers(free: str, owner: str) -> tuple[Any, Any, Any]:
    """Return the wrappers of a function, innermost first.

    They are parsed, because the fields of nodes differ between versions of Python.
    """
    factory: Any
    (factory,) = ast.parse(f"def {FACTORY}({free}):\n class {CLASSLESS}:\n  class {owner}: pass").body
    return factory.body[0].body[0], factory.body[0], factory


def function_names(tree: gast.AST) -> set[str]:
    """Return the names of all functions that a tree defines."""
    names: set[str] = set()
    pending: list[gast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            names.add(node.name)
        if type(node) in BLOCK_FIELDS:
            for block in blocks(node):
                pending += block
    return names


class Renaming(NamedTuple):
    """Renames code and all code inside it to the names of the original.

    Code of a generated function, such as `if_true`, is part of the user's function, and has its name in
    tracebacks, logs and profiles. Only its qualified name shows that it is a block: `f.<locals>.if_true`.
    """

    generated: Collection[str]  # the names of generated functions
    lambdas: Collection[Extent] = ()  # the extents of the bodies of generated lambdas
    old: str = ""  # the prefix of qualified names, to be replaced by `new`
    new: str = ""

    def __call__(self, code: CodeType, name: str) -> CodeType:
        qualname = self.qualified(code.co_qualname)
        constants = tuple(self.constant(constant, code, name) for constant in code.co_consts)
        return code.replace(co_consts=constants, co_name=name, co_qualname=qualname)

    def constant(self, constant: Any, code: CodeType, name: str) -> Any:
        if isinstance(constant, CodeType):
            return self(constant, name if self.is_generated(constant) else constant.co_name)
        # The code of a class body, which is no function, contains the qualified name of its class.
        is_name = not code.co_flags & CO_OPTIMIZED and constant == code.co_qualname
        return self.qualified(constant) if is_name else constant

    def is_generated(self, code: CodeType) -> bool:
        if code.co_name == "<lambda>":
            return extent_of_code(code) in self.lambdas
        return code.co_name in self.generated

    def qualified(self, name: str) -> str:
        if self.old and name != self.old and not name.startswith(f"{self.old}."):
            return name  # of a function or class that a `global` statement declares
        *around, last = name[len(self.old) :].split(".<locals>.")
        return self.new + ".<locals>.".join([*(part for part in around if part not in self.generated), last])
