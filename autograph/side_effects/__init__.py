"""Side effects of a staged block: its mutations become carried state, or are refused. See `retrace.py`.

Most programs never stage a block with side effects, so the modules of this package are imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..staging import State
    from .carried_state import CarriedState
    from .locations import Location


def staged(
    makers: Sequence[Callable[[], Location]],
    run: Callable[[CarriedState], State],
    blocks: Sequence[Callable[..., Any]],
    state: State = (),
    names: Sequence[str] = (),
    gives: Sequence[str] | None = None,
    besides: Iterable[tuple[str, Any]] = (),
) -> State:
    """Stage `blocks` by calling `run` and return its results; carry every location that the blocks mutate.

    `state` and `names` are the variables that all blocks take. `gives` names the results of a conditional; it
    is None for a loop. `besides` are further objects that are passed to the blocks.
    """
    from .retrace import stage_tracking_side_effects as load_and_stage

    return load_and_stage(makers, run, blocks, state, names, gives, besides)


def pure(function: Callable[[], Any], what: str, blocks: Sequence[Callable[..., Any]]) -> Callable[[], Any]:
    """Return `function` wrapped so that a side effect raises an error.

    `function` computes an operand that the graph may skip. `what` names the operand in the error. `blocks`
    are its code.
    """
    from .retrace import pure as load_and_guard

    return load_and_guard(function, what, blocks)
