"""From a live function to its piece of the user's file.

    f   ==>   the file of f.__code__   ==>   the definitions that start on its line   ==>   the one that became f

The own lines of the function are parsed if they are known (see `function_source.py`). Otherwise the file is parsed,
once, and the function is looked up in the tree. So lines and columns are those of the file, whatever strings, comments
and continuations do to the indentation. Functions typed at a prompt, in a notebook cell or in a doctest are found if
`linecache` has their text.
"""

from __future__ import annotations

import ast
import bisect
import itertools
import linecache
import opcode
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from agc.autograph.errors import ConversionError, Diagnostic, Where
from agc.autograph.introspection.code_objects import CodeMap, nested_code_objects

from .function_source import owner_of, piece_of
from .nesting import deep_trees
from .positions import extent_of_code, first_line, lines_of, name_of, start_of

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Definition(NamedTuple):
    """A function or class in a file."""

    node: Function | ast.ClassDef
    qualname: str  # "Model.fit"; without the <locals> of __qualname__
    owner: str | None  # the innermost class around it, which private names are mangled with
    filename: str
    text: str  # of the whole file

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    def segment(self) -> str:
        """Return the lines of the definition."""
        lines = lines_of(self.text)
        return "".join(lines[first_line(self.node) - 1 : self.node.end_lineno])

    def statement(self) -> ast.stmt:
        """Return the definition as a statement; a lambda becomes `function = lambda: …`."""
        if not isinstance(self.node, ast.Lambda):
            return self.node
        new = ast.Assign([ast.Name("function", ast.Store())], self.node)
        return ast.fix_missing_locations(ast.copy_location(new, self.node))


class File(NamedTuple):
    """A source file and its tree."""

    filename: str
    text: str
    tree: ast.Module

    def definitions(self, line: int | None = None) -> Iterator[Definition]:
        """Yield the functions and classes of the file; with a line, those that start on it."""
        statements = self.tree.body if line is None else _statements_on(self.tree.body, line)
        pending: list[tuple[ast.AST, str, str | None]] = [(statement, "", None) for statement in statements]
        while pending:
            node, prefix, owner = pending.pop()
            if line is not None and not _reaches(node, line):
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
                if line is None or first_line(node) == line:
                    yield Definition(node, prefix + name, owner, self.filename, self.text)
                prefix += f"{name}."
                owner = node.name if isinstance(node, ast.ClassDef) else owner
            pending += [(child, prefix, owner) for child in ast.iter_child_nodes(node)]


def _statements_on(statements: Sequence[ast.stmt], line: int) -> Iterator[ast.stmt]:
    """Return the statements of a file that cover a line, by binary search."""
    start = bisect.bisect_left(statements, line, key=lambda statement: statement.end_lineno or 0)
    return itertools.takewhile(lambda statement: first_line(statement) <= line, statements[start:])


def _reaches(node: ast.AST, line: int) -> bool:
    """Return whether a node covers a line; True if its position is unknown."""
    end = getattr(node, "end_lineno", None)
    return end is None or (line <= end and first_line(node) <= line)


_files: dict[str, File] = {}
_KEPT_FILES = 64


def parse(text: str, filename: str) -> ast.Module:
    """Return the syntax tree of a module; a ConversionError with the line if the text is not Python."""
    try:
        with unwarned(), deep_trees(filename):
            return ast.parse(text, filename)
    except SyntaxError as error:
        raise ConversionError(_not_python(error, text, filename)) from None
    except ValueError as error:  # null bytes
        raise ConversionError(Diagnostic("AGC106", f"not Python: {error}", Where(filename))) from None


@contextmanager
def unwarned() -> Iterator[None]:
    """Parse or compile without warnings: Python has given them already, or will when the code is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _not_python(error: SyntaxError, text: str, filename: str) -> Diagnostic:
    line, column = error.lineno or 0, error.offset or 0
    end = (error.end_offset or 0) if error.end_lineno == error.lineno else 0
    lines = lines_of(text)
    source = lines[line - 1] if 0 < line <= len(lines) else None
    return Diagnostic("AGC106", f"not Python: {error.msg}", Where(filename, line, column, end, source=source))


_texts: dict[str, str] = {}


def text_of(filename: str, module_globals: dict[str, Any] | None) -> str:
    """Return the text of a file as it is now; the same object, as long as it is the same text."""
    # The name of all that is given to `exec`, of which Python 3.13 keeps one: `python -c`'s.
    if filename == "<string>":
        return ""
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, module_globals))
    if _texts.get(filename) != text:
        if len(_texts) >= _KEPT_FILES:
            _texts.clear()
        _texts[filename] = text
    return _texts[filename]


def file_of(filename: str, module_globals: dict[str, Any] | None) -> File | None:
    """Return the file as it is now, or None when there is none or when it does not parse."""
    text = text_of(filename, module_globals)
    if not text:
        return None
    known = _files.get(filename)
    if known is not None and known.text == text:
        return known
    try:
        with unwarned():
            tree = ast.parse(text, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # it was Python when it was loaded, so it is not the text that was loaded
    file = _files[filename] = File(filename, text, tree)
    if len(_files) > _KEPT_FILES:
        _files.pop(next(iter(_files)), None)
    return file


def unfiled_source(code: CodeType) -> File | None:
    """Return the text that was typed at the prompt or given to `python -c`, if the code comes from there."""
    from . import interactive_source  # most functions are in files

    text = interactive_source.text_of(code)
    filename = code.co_filename
    return File(filename, text, parse(text, filename)) if text is not None else None


def exists(f: FunctionType) -> bool:
    """Return whether `find` would find the source of a function."""
    return isinstance(search(f), Definition)


def find(f: FunctionType) -> Definition:
    """Return the definition that a function was made from, or a ConversionError that says why there is none."""
    found = search(f)
    if isinstance(found, Definition):
        return found
    raise ConversionError(found)


_found: CodeMap[Definition] = CodeMap()


def search(f: FunctionType) -> Definition | Diagnostic:
    """Return the definition that a function was made from, or the reason why there is none."""
    code = f.__code__
    text = text_of(code.co_filename, f.__globals__)
    known = _found.get(code)
    if known is not None and known.text is text:
        return known
    found = (_piece(code, text) if text else None) or _looked_up(f)
    if isinstance(found, Definition) and found.text is text:
        if len(_found) >= _KEPT_FILES:
            _found.clear()
        _found[code] = found
    return found


def _piece(code: CodeType, text: str) -> Definition | None:
    """Return the definition by the function's own lines, if it is one that fits the code."""
    known = _files.get(code.co_filename)
    if known is not None and known.text is text:
        return None  # the file is parsed already
    with unwarned():
        node = piece_of(code, lines_of(text))
    if (
        not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        or first_line(node) != code.co_firstlineno
    ):
        return None
    qualname = code.co_qualname.replace("<locals>.", "")
    definition = Definition(node, qualname, owner_of(code), code.co_filename, text)
    return definition if _has_shape(definition, code) and _covers(definition, code) else None


def _has_shape(definition: Definition, code: CodeType) -> bool:
    return definition.name == code.co_name and _parameters(definition) == _parameters_of(code)


def _looked_up(f: FunctionType) -> Definition | Diagnostic:
    """Return the definition among all those of the file."""
    code = f.__code__
    file = file_of(code.co_filename, f.__globals__) or unfiled_source(code)
    if file is None:
        return _without_source(code)
    same_shape = [
        definition
        for definition in file.definitions(code.co_firstlineno)
        if not isinstance(definition.node, ast.ClassDef) and _has_shape(definition, code)
    ]
    around = [definition for definition in same_shape if _covers(definition, code)]
    if not around:
        return _changed(code)
    if len(around) == 1:
        return around[0]
    if extent_of_code(code) is None:
        alike = [definition for definition in around if _is_constant(definition.node, code)]
        return alike[0] if alike else _ambiguous(code)
    # The code comes from the innermost of several nested lambdas.
    return min(around, key=lambda definition: _extent(definition.node))


def _parameters(definition: Definition) -> list[str]:
    args = definition.node.args  # type: ignore[union-attr]
    parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return [mangled(parameter.arg, definition.owner) for parameter in parameters if parameter is not None]


def mangled(name: str, owner: str | None) -> str:
    """Return the mangled form of the private name `name` inside the class `owner`.

    >>> mangled("__x", "_Model"), mangled("__init__", "Model"), mangled("__x", None)
    ('_Model__x', '__init__', '__x')
    """
    if not name.startswith("__") or name.endswith("__") or not (owner or "").strip("_"):
        return name
    return f"_{(owner or '').lstrip('_')}{name}"


def _parameters_of(code: CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
    return list(code.co_varnames[:count])


def _covers(definition: Definition, code: CodeType) -> bool:
    """Return whether every instruction of the code is inside the definition; for a lambda, inside its body."""
    node, extent = definition.node, extent_of_code(code)
    body: Any = node.body if isinstance(node, ast.Lambda) else node
    start = (body.lineno, body.col_offset) if body is not node else (first_line(body), 0)
    return extent is None or (start <= extent[:2] and extent[2:] <= (body.end_lineno, body.end_col_offset))


def _is_constant(node: ast.AST, code: CodeType) -> bool:
    """Return whether both the node and the code are those of `lambda: 3`; Python 3.12 gives such code no columns."""
    import dis

    body = getattr(node, "body", None)
    if not isinstance(body, ast.Constant):
        return False
    names = {instruction.opname for instruction in dis.get_instructions(code)}
    same = any(type(body.value) is type(constant) and body.value == constant for constant in code.co_consts)
    return same and names <= {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}


def _extent(node: ast.AST) -> tuple[int, int]:
    lines = node.end_lineno - node.lineno  # type: ignore[attr-defined]
    return lines, node.end_col_offset - node.col_offset  # type: ignore[attr-defined]


def find_class(cls: type) -> Definition:
    """Return the definition of a class, found by its methods or else by its name in its module."""
    import sys

    methods = [member for member in vars(cls).values() if isinstance(member, FunctionType)]
    own = [method for method in methods if method.__qualname__ == f"{cls.__qualname__}.{method.__name__}"]
    module = sys.modules.get(cls.__module__)
    filenames = [method.__code__.co_filename for method in own] or [getattr(module, "__file__", None) or "?"]
    lines = {method.__code__.co_firstlineno for method in own}
    file = file_of(filenames[0], vars(module) if module is not None else None)
    qualname = cls.__qualname__.replace("<locals>.", "")
    found = [
        definition
        for definition in (file.definitions() if file is not None else ())
        if isinstance(definition.node, ast.ClassDef) and definition.qualname == qualname
    ]
    inside = [
        d for d in found if all(first_line(d.node) <= line <= (d.node.end_lineno or 0) for line in lines)
    ]
    if not inside:
        raise ConversionError(_no_source_for(f"the class `{cls.__qualname__}`", Where(filenames[0])))
    return inside[-1]


def has_control_flow(code: CodeType) -> bool:
    """Return whether a function holds anything that a tensor could decide: a branch, a loop, a `not`."""
    return any(not _BRANCHING.isdisjoint(inner.co_code[::2]) for inner in nested_code_objects(code))


_BRANCHING = frozenset(
    number
    for name, number in opcode.opmap.items()
    if ("JUMP" in name and "_IF_" in name) or name in ("FOR_ITER", "UNARY_NOT")
)


def _without_source(code: CodeType) -> Diagnostic:
    return _no_source_for(f"`{name_of(code)}`", start_of(code)._replace(source=""))


def _no_source_for(what: str, where: Where) -> Diagnostic:
    reason = next((advice for start, advice in _ADVICE if where.file.startswith(start)), "")
    return Diagnostic(
        "AGC101",
        f"the source of {what} cannot be found",
        where,
        why="conversion needs the source text of a function, and Python has none for this one",
        fix=f"{reason}save the code to a file and import it, or convert the file beforehand with `agc convert`",
    )


# By the name that Python gives to code that is in no file: what to do instead.
_ADVICE = (
    ("<string>", "give `exec` the result of `autograph.compile_source`; or "),
    ("<stdin>", "use IPython or Python 3.13, which keep the text of the prompt; or "),
)


def _changed(code: CodeType) -> Diagnostic:
    return Diagnostic(
        "AGC102",
        f"`{name_of(code)}` is no longer at this line of its file",
        start_of(code),
        why="the file has changed since it was loaded, or the function was not made from it",
        fix="reload the module or restart the program",
    )


def _ambiguous(code: CodeType) -> Diagnostic:
    return Diagnostic(
        "AGC103",
        "several lambdas on this line could be this function",
        start_of(code),
        why="this Python runs without the column numbers that distinguish them (-X no_debug_ranges)",
        fix="put each lambda on a line of its own, or give it a name with `def`",
    )
