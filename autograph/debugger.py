"""Python's debugger, which treats the blocks of a converted function as parts of it.

    for x in xs:          (Pdb) next        a plain pdb steps over the whole loop, one call of an operator
        total += x        (Pdb) next        this one stops at `total += x`, as in the original

`step` never stops inside agc, `where` shows each function once, and all variables of the function are visible.
`agc run` starts it at a `breakpoint()`; elsewhere PYTHONBREAKPOINT=agc.autograph.debugger.set_trace does.
"""

from __future__ import annotations

import pdb
import sys
from types import FrameType
from typing import Any

from .errors import is_block, is_own_file


def set_trace(*, header: str | None = None) -> None:
    """Stop in the caller, as `pdb.set_trace` does."""
    stop_in(sys._getframe(1), header)


def stop_in(frame: FrameType, header: str | None = None) -> None:
    """Stop in a frame."""
    debugger = Debugger()
    if header is not None:
        debugger.message(header)
    debugger.set_trace(frame)


def function_frame(frame: FrameType) -> FrameType:
    """Return the frame of the function that a block belongs to; that of a function is its own."""
    while is_block(frame.f_code):
        outer = frame.f_back
        while outer is not None and is_own_file(outer.f_code.co_filename):
            outer = outer.f_back
        if outer is None:
            break
        frame = outer
    return frame


class Debugger(pdb.Pdb):
    """Pdb with frames as they would be if the program had not been converted."""

    _shown: tuple[FrameType, int] | None = None  # frame and line of the last stop
    _variables: dict[str, Any] | None = None  # visible in a block

    def stop_here(self, frame: FrameType) -> bool:
        if is_own_file(frame.f_code.co_filename):
            return False
        if super().stop_here(frame):
            return True
        in_same_function = is_block(frame.f_code) and function_frame(frame) is self.stopframe
        return in_same_function and 0 <= self.stoplineno <= frame.f_lineno

    def _set_stopinfo(self, stopframe: Any, returnframe: Any, *more: Any, **settings: Any) -> None:
        # `next` and `until` refer to the function; its block may end earlier.
        stop, back = (frame and function_frame(frame) for frame in (stopframe, returnframe))
        super()._set_stopinfo(stop, back, *more, **settings)  # type: ignore[misc]

    def set_return(self, frame: FrameType) -> None:
        super().set_return(function_frame(frame))

    def dispatch_return(self, frame: FrameType, arg: Any) -> Any:
        return self.trace_dispatch if is_block(frame.f_code) else super().dispatch_return(frame, arg)

    def user_call(self, frame: FrameType, argument_list: Any) -> None:
        if not is_block(frame.f_code):
            super().user_call(frame, argument_list)

    def user_line(self, frame: FrameType) -> None:
        here = function_frame(frame), frame.f_lineno
        # The test of a loop is a block at the line of the loop, where it has stopped just now.
        if not (is_block(frame.f_code) and self._shown == here and not self.break_here(frame)):
            self._shown = here
            super().user_line(frame)

    def get_stack(self, f: FrameType | None, t: Any) -> tuple[list[tuple[FrameType, int]], int]:
        stack, index = super().get_stack(f, t)
        current = stack[index][0] if stack else None
        kept: list[tuple[FrameType, int]] = []
        for frame, line in stack:
            if str(frame.f_globals.get("__name__")).startswith("agc.cli."):
                kept.clear()  # the frames of `agc run` and of its callers
            if is_own_file(frame.f_code.co_filename):
                continue
            if kept and function_frame(frame) is function_frame(kept[-1][0]):
                kept.pop()
            kept.append((frame, line))
        frames = [frame for frame, _ in kept]
        return kept, frames.index(current) if current in frames else len(kept) - 1

    def setup(self, f: FrameType | None, tb: Any) -> Any:
        result = super().setup(f, tb)
        self._see_all_variables()
        return result

    def _select_frame(self, number: int) -> None:
        super()._select_frame(number)
        self._see_all_variables()

    def _getval(self, arg: str) -> Any:
        """Evaluate an expression; since Python 3.14 `curframe_locals` has no effect on this."""
        if self._variables is None or sys.version_info < (3, 14):
            return super()._getval(arg)
        try:
            return eval(arg, self.curframe.f_globals, self._variables)
        except BaseException:
            self._error_exc()
            raise

    def _see_all_variables(self) -> None:
        """Show a block the variables of the function and of the blocks around it, too."""
        self._variables = None
        frame: FrameType | None = self.curframe
        if frame is None or not is_block(frame.f_code):
            return
        outermost, scopes = function_frame(frame), [dict(frame.f_locals)]
        while frame is not None and frame is not outermost:
            frame = frame.f_back
            if frame is not None and not is_own_file(frame.f_code.co_filename):
                scopes.append(dict(frame.f_locals))
        variables: dict[str, Any] = {}
        for scope in reversed(scopes):
            variables.update(scope)
        self._variables = variables
        if sys.version_info < (3, 14):
            self.curframe_locals = variables
