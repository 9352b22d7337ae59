"""The pass pipeline: jumps become structured control flow, then blocks become functions.

    stage_equality → check_loop_directives → lower_match → lower_finally → reject → lower_return → lower_break
           → lower_continue → lower_walrus → stage_items → stage_blocks → stage_attribute_items → stage_comprehensions
           → stage_asserts → stage_logic → stage_calls

The tree after each pass is runnable Python with the same meaning. `run_for_both` has a shorter pipeline, too, for the
version of a function that runs while nothing is staged.
"""

from __future__ import annotations

import functools

import gast

from ..syntax.nesting import deep_trees
from .base import Context, Registry, TreePass
from .check_loop_directives import CheckLoopDirectives
from .lower_break import LowerBreak
from .lower_continue import LowerContinue
from .lower_finally import LowerFinally
from .lower_match import LowerMatch
from .lower_return import LowerReturn
from .lower_walrus import LowerWalrus
from .reject import Reject
from .stage_asserts import StageAsserts
from .stage_attribute_items import StageAttributeItems
from .stage_blocks import StageBlocks
from .stage_calls import StageCalls
from .stage_comprehensions import StageComprehensions
from .stage_equality import StageEquality
from .stage_items import StageItems
from .stage_logic import StageLogic

PIPELINE: tuple[type[TreePass], ...] = (
    StageEquality,
    CheckLoopDirectives,
    LowerMatch,
    LowerFinally,
    Reject,
    LowerReturn,
    LowerBreak,
    LowerContinue,
    LowerWalrus,
    StageItems,
    StageBlocks,
    StageAttributeItems,
    StageComprehensions,
    StageAsserts,
    StageLogic,
    StageCalls,
)


class StageLogicAndCalls(StageLogic, StageCalls):
    """A fusion of the last two passes into one walk. They handle disjoint node types and do not depend on
    each other."""

    name = StageCalls.name
    concerns = frozenset()


@functools.cache
def _together(steps: tuple[type[TreePass], ...]) -> tuple[type[TreePass], ...]:
    """Return the pipeline with the last passes fused, for runs that do not stop at a pass."""
    logic, calls = steps.index(StageLogic), steps.index(StageCalls)
    return (*steps[:logic], StageLogicAndCalls, *steps[calls + 1 :])


def run(tree: gast.Module, context: Context, after: str | None = None) -> gast.Module:
    """Return the tree after all passes, or after the pass named `after`. The given tree is not mutated."""
    if after is not None and after not in (names := [step.name for step in PIPELINE]):
        raise ValueError(f"there is no pass {after!r}; the passes are {', '.join(names)}")
    steps = _together(PIPELINE)
    if after is not None:
        steps = PIPELINE[: 1 + [step.name for step in PIPELINE].index(after)]
    return _after(steps, tree, context, Registry())


def run_for_both(tree: gast.Module, context: Context) -> tuple[gast.Module, gast.Module]:
    """Return the tree after all passes, and the tree for plain values.

    In the latter, control flow stays, but callees are converted, and eager tensors have items that can be assigned."""
    from .stage_plain_calls import StagePlainCalls  # few functions have both versions
    from .stage_plain_items import StagePlainItems

    registry = Registry()
    plain = StagePlainItems, StageAttributeItems, StagePlainCalls
    return _after(_together(PIPELINE), tree, context, registry), _after(plain, tree, context, registry)


def _after(
    steps: tuple[type[TreePass], ...], tree: gast.Module, context: Context, registry: Registry
) -> gast.Module:
    with deep_trees(context.filename):
        for step in steps:
            tree = step(context, registry).run(tree)
    return tree
