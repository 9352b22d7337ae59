"""Find the problems in the code of a module without running it.

    text  ==>  errors: every row of `reject`, and the code that a later pass rejects
               warnings: code that converts, but will hardly be staged; see rules.py

`convert` raises at the first problem. The linter runs the passes on each function separately, so that one error hides
no other."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import gast

from ..errors import ConversionError, Diagnostic
from ..passes import pipeline
from ..passes.base import Context, Registry
from ..passes.lower_finally import LowerFinally
from ..passes.reject import Survey
from ..syntax import source
from ..syntax.gast_bridge import Translation
from ..syntax.nesting import deep_trees
from ..syntax.tree_queries import evolve
from ..transpile import context_of, is_converted
from .rules import doubts


def problems(
    text: str, filename: str, tracers: Collection[str] = (), everywhere: bool = False
) -> list[Diagnostic]:
    """Return the problems of a module, in line order."""
    try:
        tree = source.parse(text, filename)
        if is_converted(text):
            return []
        context = context_of(tree, text, filename)
        with deep_trees(filename):
            module = Translation(tree).tree
            refused = _refusals(module, context)
            known = {_sort_key(diagnostic) for diagnostic in refused}
            doubtful = doubts(module, text, filename, tracers, everywhere)
            found = [*refused, *(doubt for doubt in doubtful if _sort_key(doubt) not in known)]
    except ConversionError as error:
        return [error.diagnostic]
    return sorted(found, key=lambda diagnostic: (_sort_key(diagnostic), diagnostic.code))


def _sort_key(diagnostic: Diagnostic) -> tuple[int, int]:
    where = diagnostic.where
    return (where.line, where.column) if where is not None else (0, 0)


def _refusals(module: gast.Module, context: Context) -> list[Diagnostic]:
    try:
        pipeline.run(module, context)
    except ConversionError:
        return [diagnostic for part in _parts(module, module.body) for diagnostic in _refused(part, context)]
    return []


def _parts(module: gast.Module, body: list[gast.stmt]) -> Iterator[gast.Module]:
    """Yield the statements of a module one by one, each as a module; of a class, its methods."""
    for statement in body:
        if isinstance(statement, gast.ClassDef):
            for part in _parts(module, statement.body):
                yield evolve(module, body=[evolve(statement, body=part.body, decorator_list=[])])
        else:
            yield evolve(module, body=[statement])


def _refused(part: gast.Module, context: Context) -> list[Diagnostic]:
    registry = Registry()
    survey = Survey(context, registry)
    survey.run(LowerFinally(context, registry).run(part))
    if not survey.found:
        try:
            pipeline.run(part, context)
        except ConversionError as error:
            return [error.diagnostic]
    return survey.found
