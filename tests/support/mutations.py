"""Ways to change something without assigning a variable, put into blocks of every kind.

    # list append                     def block_while(n, rows):
    l = [1, 2]            ==>             l = [1, 2]
    > l.append(3)                         i = 0
    < len(l)                              while i < n:
                                              l.append(3)
                                              i += 1
                                          return len(l)

Each function runs with plain numbers, unconverted, and as a graph, where a tensor decides. The graph may give the
same, or refuse: anything else is silently wrong. The ways are in `fixtures/mutations/ways.txt`."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import agc.runtime as tf
import numpy as np
from agc.autograph.errors import SideEffectWarning

FOLDER = Path(__file__).parents[2] / "fixtures" / "mutations"
COUNTS = 0, 1, 3, 4

BLOCKS = {
    "if": """
        {setup}
        if n > 2:
            {change}
        return {see}
        """,
    "else": """
        {setup}
        if n < 3:
            got = 0
        else:
            {change}
        return {see}
        """,
    "elif": """
        {setup}
        if n > 3:
            got = 0
        elif n > 2:
            {change}
        return {see}
        """,
    "while": """
        {setup}
        i = 0
        while i < n:
            {change}
            i += 1
        return {see}
        """,
    "range": """
        {setup}
        for i in range(n):
            {change}
        return {see}
        """,
    "rows": """
        {setup}
        for row in rows:
            {change}
        return {see}
        """,
    "nested": """
        {setup}
        for i in range(n):
            if i > 1:
                {change}
        return {see}
        """,
    "break": """
        {setup}
        for i in range(n):
            if i > 1:
                break
            {change}
        return {see}
        """,
    "continue": """
        {setup}
        i = 0
        while i < n:
            i += 1
            if i < 2:
                continue
            {change}
        return {see}
        """,
    "return": """
        {setup}
        if n > 2:
            {change}
            return {see}
        return {see}
        """,
    "helper": """
        {setup}
        def perform():
            {nonlocal}
            {change}
        if n > 2:
            perform()
        return {see}
        """,
    "helper in a loop": """
        {setup}
        def perform(i):
            {nonlocal}
            if i > 0:
                {change}
        for i in range(n):
            perform(i)
        return {see}
        """,
    "expression": """
        {setup}
        def perform():
            {nonlocal}
            {change}
            return 1
        got = perform() if n > 2 else 0
        return {see}
        """,
    "operand": """
        {setup}
        def perform():
            {nonlocal}
            {change}
            return True
        got = n > 2 and perform()
        return {see}
        """,
    "try": """
        {setup}
        for i in range(n):
            try:
                {change}
            finally:
                got = 0
        return {see}
        """,
    "with": """
        {setup}
        if n > 2:
            with contextlib.nullcontext():
                {change}
        return {see}
        """,
    "read in the block": """
        {setup}
        got = 0
        for i in range(n):
            {change}
            got = {see}
        return got
        """,
}


class Way(NamedTuple):
    """One way to change something: statements before, the change, and an expression that sees it."""

    name: str
    setup: str
    change: str
    see: str


class Verdict(NamedTuple):
    """What became of one function.

    It is `right`, `refused`, `warned` (wrong, and a warning says so), `fault` (an error that is no refusal) or `WRONG`.
    """

    outcome: str
    what: str


def ways() -> list[Way]:
    """All ways; what assigns `V` is there twice, with a number and with a tensor."""
    found = []
    for paragraph in (FOLDER / "ways.txt").read_text().strip().split("\n\n"):
        title, *lines = paragraph.splitlines()
        at = next(number for number, line in enumerate(lines) if line.startswith("> "))
        change, after, see = lines[at][2:], lines[at + 1 : -1], lines[-1]
        assert see.startswith("< "), paragraph
        way = Way(title.removeprefix("# "), "\n".join(lines[:at]), change, see.removeprefix("< "))
        way = way._replace(setup="\0".join(("\n".join(lines[:at]), "\n".join(after))))
        values = {"": "5", ", a tensor": "(n + 7)"} if _reads(change, "V") else {"": "5"}
        found += [
            way._replace(name=way.name + more, change=re.sub(r"\bV\b", value, change))
            for more, value in values.items()
        ]
    return found


def _reads(text: str, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(text)))


def text_of(way: Way, kind: str) -> str:
    """The function that changes something in this way, in a block of this kind."""
    setup, _, after = way.setup.partition("\0")
    shared = sorted(_bound(way.change) & _bound(setup))
    body = textwrap.dedent(BLOCKS[kind]).strip("\n")
    parts = {
        "{setup}": setup,
        "{change}": way.change,
        "{nonlocal}": f"nonlocal {', '.join(shared)}" if shared else "pass",
    }
    lines: list[str] = []
    for line in body.splitlines():
        margin, word = line[: len(line) - len(line.lstrip())], line.strip()
        if word in parts:
            lines += textwrap.indent(parts[word], margin).splitlines()
        elif "{see}" in line:
            if after:
                lines += textwrap.indent(after, margin).splitlines()
            see = way.see if ", " not in way.see or way.see.startswith("[") else f"({way.see})"
            lines.append(line.replace("{see}", see))
        else:
            lines.append(line)
    name = "block_" + kind.replace(" ", "_")
    return f"def {name}(n, rows):\n" + textwrap.indent("\n".join(lines), "    ")


def _bound(text: str) -> set[str]:
    """The variables that statements assign in their own scope."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
    return found


def load(path: Path, name: str) -> ModuleType:
    """A module of its own, made of a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Judge:
    """Runs functions as Python and as graphs, in two copies of everything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()

    def verdicts(self, way: Way, kinds: list[str]) -> Iterator[tuple[str, Verdict]]:
        """What becomes of one way in blocks of these kinds."""
        text = "\n\n".join(text_of(way, kind) for kind in kinds)
        number = next(self._numbers)
        modules = []
        for copy in ("plain", "staged"):
            path = self._folder / f"{copy}_{number}.py"
            load(
                FOLDER / "classes.py", f"{copy}_classes"
            )  # anew, as the way before may have changed its classes
            path.write_text(f"from {copy}_classes import *\n\n\n{text}\n")
            modules.append(load(path, f"{copy}_{number}"))
        for kind in kinds:
            plain, staged = (getattr(module, "block_" + kind.replace(" ", "_")) for module in modules)
            yield kind, judged(plain, staged)


def judged(plain: FunctionType, staged: FunctionType) -> Verdict:
    """What becomes of one function."""
    expected = {n: _outcome(plain, n, [[0.0, 0.0]] * n) for n in COUNTS}
    if all(isinstance(value, Exception) for value in expected.values()):
        return Verdict("fault", f"plain: {expected[0]!r}")
    graph = tf.function(
        staged, input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 2], tf.float32)]
    )
    worst = Verdict("right", "")
    warned: list[warnings.WarningMessage] = []
    for n in COUNTS:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", SideEffectWarning)
            found = _outcome(graph, tf.constant(n), tf.zeros([n, 2]))
        warned += noted
        if isinstance(found, Exception):
            if isinstance(expected[n], Exception):
                continue
            outcome = "refused" if _is_refusal(found) else "fault"
            worst = Verdict(outcome, f"{type(found).__name__}: {found}")
            if worst.outcome == "fault":
                return worst
        elif isinstance(expected[n], Exception) or not _equal(expected[n], found):
            return Verdict(
                "warned" if warned else "WRONG", f"{n}: {expected[n]!r} in Python, {found!r} in a graph"
            )
    return worst


def _outcome(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return error


def _is_refusal(error: Exception) -> bool:
    """Whether an error says what it does not like, and where."""
    # A graph says what a loop that has not run leaves without a value.
    if "-->" in str(error) or re.search(r"(assign it|make it a tensor) before the loop", str(error)):
        return True
    return isinstance(error, (tf.errors.OperatorNotAllowedInGraphError, tf.errors.InaccessibleTensorError))


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(
            np.array_equal(np.asarray(one, dtype=complex), np.asarray(_numbers(other), dtype=complex))
        )
    except (TypeError, ValueError):
        return False


def _numbers(value: Any) -> Any:
    return [_numbers(part) for part in value] if isinstance(value, (tuple, list)) else np.asarray(value)
