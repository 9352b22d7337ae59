"""What a staged block changes without saying so is carried as well, or refused: see `retrace.py`.

Looking for it takes much code that a program needs only when it stages something, so it is loaded then.
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
    """What `run` gives: a backend's operation on `blocks`, with all places that they change.

    `state` and `names` are the variables that all blocks take; `gives` names the results of a choice. `besides` are
    further objects that the blocks get.
    """
    from .retrace import stage_tracking_side_effects as load_and_stage

    return load_and_stage(makers, run, blocks, state, names, gives, besides)


def pure(function: Callable[[], Any], what: str, blocks: Sequence[Callable[..., Any]]) -> Callable[[], Any]:
    """`function`, an operand that a graph evaluates perhaps, which must not change anything; its code is `blocks`."""
    from .retrace import pure as load_and_guard

    return load_and_guard(function, what, blocks)
