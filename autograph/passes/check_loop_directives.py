"""Check `set_loop_options`: as the first statement of a loop's body it sets an option of the staged loop.

    while n > 0:                                       ag__.while_loop(
        set_loop_options(maximum_iterations=9)   ==>       …, options=lambda n: {'maximum_iterations': 9})
        n -= 1

This pass checks the position; `stage_blocks` extracts the options. A loop that stays Python keeps the call, which does
nothing."""

from __future__ import annotations

from typing import Any, NoReturn

import gast

from ..options.loop_options import NAMES
from ..syntax.node_builders import text
from ..syntax.tree_queries import LOOPS, Statements, blocks, dotted
from ..syntax.versioned import VersionedBlock
from .base import Context, FunctionPass


class CheckLoopDirectives(FunctionPass):
    name = "check_loop_directives"

    def run(self, tree: gast.Module) -> gast.Module:
        # A search in the source comes first, because few programs use the directive.
        return super().run(tree) if "set_loop_options" in self.context.source else tree

    def function(self, node: Any) -> Any:
        self.look(node.body, is_loop=False)
        return node

    def look(self, body: Statements, is_loop: bool) -> None:
        for position, statement in enumerate(body):
            call = directive(statement, self.context)
            if call is not None and not (is_loop and position == 0):
                self.fail(
                    call,
                    "AGC111",
                    "`set_loop_options` must be the first statement in the body of a loop",
                    why="it is an option of the loop as a whole, not a step of it",
                    fix="make it the first statement in the body of the loop",
                )
            if call is not None and (name := _unknown_option(call)):
                self.refuse_option(call, name)
            if call is not None and options_of(call) is None:
                self.fail(
                    call,
                    "AGC111",
                    "the options of a loop must be written as keyword arguments",
                    why=f"they are read while the code is converted: {', '.join(NAMES)}",
                    fix="write them as keywords",
                )
            if not isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef)):
                is_head = is_loop and position == 0 and isinstance(statement, VersionedBlock)
                for part in blocks(statement):
                    self.look(part, is_head or (isinstance(statement, LOOPS) and part is statement.body))

    def refuse_option(self, call: gast.Call, name: str) -> NoReturn:
        from difflib import get_close_matches

        near = get_close_matches(name, NAMES, n=1)
        why = f"the options are {', '.join(NAMES)}"
        fix = f"did you mean `{near[0]}`?" if near else "remove it"
        self.fail(call, "AGC111", f"a loop has no option `{name}`", why=why, fix=fix)


def directive(statement: Any, context: Context) -> Any:
    """Return the call of `set_loop_options` in a statement; None for other statements."""
    if not isinstance(statement, gast.Expr) or not isinstance(statement.value, gast.Call):
        return None
    name = dotted(statement.value.func)
    return statement.value if name is not None and context.is_directive(name) else None


def _unknown_option(call: Any) -> str:
    """Return the first keyword argument that is no option; "" if there is none."""
    names = (keyword.arg for keyword in call.keywords)
    return next((name for name in names if name is not None and name not in NAMES), "")


def options_of(call: Any) -> gast.Dict | None:
    """Return the options as a dict; None if they are not literal keywords or positional arguments."""
    given = dict(zip(NAMES, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    is_plain = len(call.args) <= len(NAMES) and not any(isinstance(arg, gast.Starred) for arg in call.args)
    if not is_plain or not given.keys() <= set(NAMES):
        return None
    return gast.Dict([text(name) for name in given], list(given.values()))
