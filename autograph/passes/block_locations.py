"""Describe the locations that a staged block assigns: the `places=` of a call, and the setters it needs.

    self.n = x          ag__.attr(lambda: self, 'n')
    d[k] = x            ag__.item(lambda: d, lambda: k)
    self.w[i] = x       ag__.item(lambda: self.w, lambda: i, of=ag__.attr(lambda: self, 'w'))
    d[f(x)] = x         ag__.items(lambda: d)              all items, because the block computes the key itself
    out.append(x)       ag__.own_list(lambda: out)         no location: `out` is state, an unescaped list
    total = x           ag__.cell(lambda: total, set_total)      if a closure captures `total` as well

                        def set_total(value):                    defined at the start of the function,
                            nonlocal total                       or before the block that owns the cell
                            total = value

The operators use these as described in `autograph/side_effects/locations.py` and `carried_state.py`."""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import is_text
from ..analysis.live_in_out import BlockPlan, FunctionPlan
from ..syntax.node_builders import as_load, group, lambda_of, load, parameter, store, text
from ..syntax.template import Template
from ..syntax.tree_queries import Statements, at
from .base import FreshNames

FUNCTION = Template("""
    def $name($parameters):
        $body
""")


class BlockLocations:
    """The locations that one function's blocks assign, and the setters generated so far."""

    def __init__(self, plan: FunctionPlan, names: FreshNames, ag: str) -> None:
        self.plan = plan
        self.names = names
        self.ag = ag
        self.setters: dict[str, str] = {}  # for variables of the whole function
        self.local_setters: dict[str, str] = {}  # for variables that are cells of the current block only

    def enter(self, found: BlockPlan) -> dict[str, str]:
        """Name the setters of a block's own cells; return those of the enclosing block, for `leave`."""
        around, self.local_setters = self.local_setters, {}
        for name in found.cells:
            if not self.is_shared(name):
                # Reuse the setter of the enclosing block if it assigns the same cell.
                self.local_setters[name] = around.get(name) or self.names.fresh(f"set_{name}")
        return around

    def leave(self, around: dict[str, str], origin: Any) -> Statements:
        """Restore the setters of the enclosing block; return the definitions of the block's own setters."""
        own, self.local_setters = self.local_setters, around
        return [
            new
            for name, setter in own.items()
            if name not in around
            for new in self.setter(setter, name, origin)
        ]

    def shared_setters(self, origin: Any) -> Statements:
        """Return the definitions of the setters of the whole function's variables."""
        return [new for name, setter in self.setters.items() for new in self.setter(setter, name, origin)]

    def is_shared(self, name: str) -> bool:
        """Return whether a cell is a variable of the whole function or of an enclosing one."""
        return name in self.plan.captured or name in self.plan.scopes

    def of(self, found: BlockPlan, before: Statements, origin: Any) -> gast.Tuple | None:
        """Return the `places=` of a block's call, if it needs one; setters only for this call go to `before`."""
        locations = [self.cell(name) for name in found.cells]
        locations += [self.call("own_list", lambda_of([], load(name))) for name in found.lists]
        locations += [self.place(target, before, origin) for target in found.locations]
        return group(locations) if locations else None

    def cell(self, name: str) -> gast.expr:
        if self.is_shared(name):
            if name not in self.setters:
                self.setters[name] = self.names.fresh(f"set_{name}")
            setter = self.setters[name]
        else:
            setter = self.local_setters[name]
        return self.call("cell", lambda_of([], load(name)), load(setter))

    def place(self, target: Any, before: Statements, origin: Any) -> gast.expr:
        """Return the expression that describes an attribute or item."""
        if isinstance(target, gast.Name):
            return self.call("items", lambda_of([], as_load(target)))
        if isinstance(target, gast.Subscript):
            return self.item(target, before, origin)
        if not target.attr.startswith("__") or target.attr.endswith("__"):
            return self.call("attr", lambda_of([], as_load(target.value)), text(target.attr))
        # Python mangles the name of `self.__x` in a class only in code, not in a string.
        setter = self.names.fresh(f"set_{target.attr.strip('_')}")
        assigned = gast.Attribute(target.value, target.attr, gast.Store())
        assign = at(gast.Assign([assigned], load("value"), None), origin)
        before += FUNCTION(origin, name=setter, parameters=[parameter("value")], body=[assign])
        return self.call("cell", lambda_of([], as_load(target)), load(setter))

    def item(self, target: Any, before: Statements, origin: Any) -> gast.expr:
        """Return the description of an item. If the base may be an immutable value, include the location of
        the base."""
        call: Any = self.call("item", lambda_of([], as_load(target.value)), lambda_of([], target.slice))
        if not isinstance(target.value, gast.Name) and not is_text(target.slice):
            call.keywords.append(gast.keyword("of", self.place(target.value, before, origin)))
        return call

    def setter(self, setter: str, name: str, origin: Any) -> Statements:
        value = "value" if name != "value" else "new_value"
        assign = gast.Assign([store(name)], load(value), None)
        body = [at(new, origin) for new in (self.declaration(name), assign)]
        return FUNCTION(origin, name=setter, parameters=[parameter(value)], body=body)

    def declaration(self, name: str) -> gast.stmt:
        return gast.Global([name]) if self.plan.scopes.get(name) == "global" else gast.Nonlocal([name])

    def call(self, operator: str, *arguments: gast.expr) -> gast.Call:
        return gast.Call(gast.Attribute(load(self.ag), operator, gast.Load()), list(arguments), [])
