"""Wrap callees, so that functions are converted when they are called.

    step(x)        ==>     ag__.converted(step)(x)
    range(n)       ==>     ag__.converted(range)(n)         a builtin that backends overload
    print(x)       ==>     ag__.print_(x)                   with Feature.BUILTIN_FUNCTIONS
    np.dot(a, b)           stays: a library; so do other builtins, `super()` and decorators
    sys._getframe(1)       ==>     ag__.converted(sys._getframe)(1)     it reads frames
    frame.f_back           ==>     ag__.f_back(frame)
    log.info(m, stacklevel=2)      ==>     ag__.converted(ag__.leveled(log.info))(m, stacklevel=2)

`converted` returns the callable itself when there is nothing to convert, so the call and its arguments stay as they
are."""

from __future__ import annotations

from typing import Any

import gast

from ..options.features import Feature
from ..syntax.template import Template
from ..syntax.tree_queries import evolve, is_call_of, root, stored_names
from .expression_pass import ExpressionPass

# Builtins that a backend may overload.
OVERLOADED = frozenset(
    {"abs", "bool", "complex", "divmod", "float", "int", "len", "max", "min", "pow", "range", "round", "sum"}
    | {"all", "any", "enumerate", "filter", "iter", "map", "next", "reversed", "sorted", "zip"}
)
# Builtins that a backend may overload when they have an iterable argument.
COPIES = frozenset({"list", "tuple"})
# Functions of the standard library that read frames; frames.py has replacements.
FRAME_LOOKERS = frozenset({"_getframe", "_getframemodulename", "warn"})
FRAME_LOOKERS |= {"settrace", "gettrace", "setprofile", "getprofile"}
LITERALS = (
    gast.Constant,
    gast.JoinedStr,
    gast.List,
    gast.Tuple,
    gast.Dict,
    gast.Set,
    gast.ListComp,
    gast.DictComp,
)

F_BACK = Template("$ag.f_back($frame)")
CONVERTED = Template("$ag.converted($callee)")
LEVELED = Template("$ag.leveled($callee)")
PRINT = Template("$ag.print_")


class StageCalls(ExpressionPass):
    name = "stage_calls"

    def run(self, tree: gast.Module) -> gast.Module:
        self.assigned = _assigned_at_top(tree)
        self.prints = Feature.BUILTIN_FUNCTIONS in self.context.features
        return super().run(tree)

    def visit_Attribute(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or node.attr != "f_back" or not isinstance(node.ctx, gast.Load):
            return new
        return F_BACK.expression(node, ag=self.context.ag, frame=new.value)

    def visit_Call(self, node: Any) -> Any:
        if is_call_of(node, self.context.ag):
            return evolve(node, args=self.visit_all(node.args), keywords=self.visit_all(node.keywords))
        new = self.children(node)
        if not self.active:
            return new
        if self.prints and self.is_builtin(node.func, "print"):
            return evolve(new, func=PRINT.expression(new.func, ag=self.context.ag))
        callee = new.func
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        if name not in FRAME_LOOKERS and any(keyword.arg == "stacklevel" for keyword in node.keywords):
            callee = LEVELED.expression(callee, ag=self.context.ag, callee=callee)
        if not self.is_left_alone(node.func) or self.copies(new):
            callee = self.staged(callee)
        return new if callee is new.func else evolve(new, func=callee)

    def staged(self, callee: gast.expr) -> gast.expr:
        return CONVERTED.expression(callee, ag=self.context.ag, callee=callee)

    def is_builtin(self, callee: gast.expr, name: str) -> bool:
        """Return whether a callee is the builtin of this name, and not a variable."""
        is_it = isinstance(callee, gast.Name) and callee.id == name and self.context.is_builtin(name)
        return is_it and name not in self.names.bound and name not in self.assigned

    def copies(self, call: gast.Call) -> bool:
        """Return whether a call is `list(x)` or `tuple(x)`, where `x` is not a Python literal or generator."""
        return any(
            len(call.args) == 1
            and not isinstance(call.args[0], (*LITERALS, gast.GeneratorExp, gast.Starred))
            and self.is_builtin(call.func, name)
            for name in COPIES
        )

    def is_left_alone(self, callee: gast.expr) -> bool:
        if is_call_of(callee, self.context.ag, "listed", "gone_through", "tested"):
            return True
        if isinstance(callee, gast.Attribute) and (
            isinstance(callee.value, LITERALS) or id(callee.value) in self.names.lists
        ):
            return True
        if isinstance(callee, gast.Attribute) and callee.attr in FRAME_LOOKERS:
            return False
        name = root(callee)
        if name is None or name in self.names.bound or name in self.assigned:
            return False
        if isinstance(callee, gast.Name) and self.context.is_builtin(name):
            return name not in OVERLOADED
        return self.context.is_library(name)


def _assigned_at_top(tree: gast.Module) -> frozenset[str]:
    """Return the names that a module binds other than by imports."""
    names: set[str] = set()
    pending = list(tree.body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            names.add(statement.name)
            continue
        for node in gast.iter_child_nodes(statement):
            if isinstance(node, gast.stmt):
                pending.append(node)
            elif isinstance(node, (gast.ExceptHandler, gast.match_case)):
                pending.extend(node.body)
            elif isinstance(node, gast.withitem) and node.optional_vars is not None:
                names.update(name.id for name in stored_names(node.optional_vars))
            else:
                names.update(name.id for name in stored_names(node) if isinstance(name.ctx, gast.Store))
    return frozenset(names)
