"""Variables of TensorFlow 1's graphs: their initial values, and their values in a session.

v = Variable(1.0)      in a graph for sessions: v.initializer, v.initial_value, v.eval(session)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir.graph import Graph, Operation
from . import late_binding
from .tensor import Tensor


class InSession:
    """The part of variables that differs for those of a graph for sessions."""

    _owner: Any = None  # the graph builder that owns the variable; None if it has a value of its own
    _initial: Any = None
    _initializer: Any = None

    if TYPE_CHECKING:

        def value(self) -> Tensor: ...
        def assign(self, value: Any) -> Any: ...

    def initialized_value(self) -> Tensor:
        """Return the current value; for a variable of a graph without a value yet, the initial one."""
        return self.value() if self._owner is None else self._initial

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Return whether the variable has a value.

        Only a variable of a session can lack a value, until its initializer has run.
        """
        answer: Tensor = late_binding.variable_ops.is_initialized(self, name=name)
        return answer

    @property
    def initializer(self) -> Any:
        """The operation that initializes the variable in a session; None in eager code."""
        return self._initializer

    @property
    def graph(self) -> Graph:
        """The graph that the variable belongs to; AttributeError in eager code."""
        if self._owner is None:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        graph: Graph = self._owner.graph
        return graph

    @property
    def op(self) -> Operation:
        """The operation that represents the variable in its graph; AttributeError in eager code."""
        if self._owner is None:
            raise AttributeError("Tensor.op is undefined when eager execution is enabled.")
        return self.graph.made_by(self._owner.captured_variable(self))

    @property
    def initial_value(self) -> Any:
        """The initial value of a graph's variable; RuntimeError for others."""
        if self._owner is not None:
            return self._initial
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def eval(self, session: Any = None) -> Any:
        """Return the value in a session, for variables of a graph; RuntimeError for others."""
        if self._owner is not None:
            return late_binding.session_for(session, "evaluate tensor using `eval()`").run(self)
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def load(self, value: Any, session: Any = None) -> None:
        """Replace the value, as `assign` does; for a variable of a graph, in a session."""
        if self._owner is None:
            self.assign(value)
            return
        late_binding.session_for(session, "load a value using `load()`").load(self, value)  # type: ignore[arg-type]
