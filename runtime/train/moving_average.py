"""`ExponentialMovingAverage`: exponentially weighted averages of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.export import export
from ..core.variable import Variable
from ..ops.math.arithmetic import minimum
from ..ops.math.cast import cast


@export("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """An average of each variable: `average = decay * average + (1 - decay) * variable` at every `apply`.

    Args:
        decay: near 1 for a long memory.
        num_updates: the number of updates so far, a number or a variable; then the decay is at most
            (1 + num_updates) / (10 + num_updates), so that averages move quickly at first.
        zero_debias: accepted; averages begin with the values of the variables, and have no bias.
        name: the suffix of the names of the averages.

    >>> v = Variable([1.0, 2.0])
    >>> ema = ExponentialMovingAverage(0.5)
    >>> ema.apply([v])
    >>> _ = v.assign([3.0, 2.0])
    >>> ema.apply([v])
    >>> ema.average(v).numpy()
    array([2., 2.], dtype=float32)
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        self._averages: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """The name that was given."""
        return self._name

    def apply(self, var_list: Sequence[Any] | None = None) -> None:
        """Update the averages of these variables; the average of a new variable begins with its value.

        In a function the averages must exist already: call `apply` once before.

        Raises TypeError for a value that is not a variable, or not float16, float32 or float64.
        """
        for variable in var_list or ():
            if not isinstance(variable, Variable):
                raise TypeError(f"ExponentialMovingAverage averages variables, not {variable!r}")
            if not variable.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
            average = self._averages.get(variable.ref())
            if average is None:
                name = self.average_name(variable)
                average = self._averages[variable.ref()] = Variable(
                    variable.value(), trainable=False, name=name
                )
            average.assign_sub((average - variable) * cast(1 - self._present_decay(), variable.dtype))

    def _present_decay(self) -> Any:
        if self._num_updates is None:
            return self._decay
        updates = cast(self._num_updates, "float32")
        return minimum(self._decay, (1 + updates) / (10 + updates))

    def average(self, var: Variable) -> Variable | None:
        """Return the average of a variable, itself a variable; None before its first `apply`."""
        return self._averages.get(var.ref())

    def average_name(self, var: Variable) -> str:
        """Return the name of a variable's average."""
        return f"{var.name.partition(':')[0]}/{self._name}"

    def __children__(self) -> dict[str, Any]:
        return {average.name: average for average in self._averages.values()}
