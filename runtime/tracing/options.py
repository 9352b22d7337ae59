"""The checked arguments of `function`.

>>> FunctionOptions.checked(jit_compile=True).executor
'native'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agc.autograph import api

from ..executors import EXECUTORS

IMPLEMENTS = "api_implements"

ATTRIBUTES = frozenset({
    IMPLEMENTS, "api_preferred_device", "disable_acd", "disable_summaries_at_runtime",
    "runtime_constant_optimization",
})  # fmt: skip
"""The attributes that TensorFlow supports; those of implementations have an effect, see implementation_choice.py."""


class FunctionOptions(NamedTuple):
    """The arguments of `function` that have an effect."""

    input_signature: Sequence[Any] | None
    autograph: bool
    reduce_retracing: bool
    features: Any
    executor: str
    max_traces: int | None
    attributes: Mapping[str, Any]

    @staticmethod
    def checked(
        input_signature: Sequence[Any] | None = None,
        autograph: bool = True,
        jit_compile: bool | str | None = None,
        reduce_retracing: bool = False,
        implements: str | None = None,
        features: Any = None,
        attributes: Mapping[str, Any] | None = None,
        executor: str = "plan",
        max_traces: int | None = None,
    ) -> FunctionOptions:
        """Return the options. Raise ValueError or TypeError for invalid ones."""
        if isinstance(jit_compile, str):
            executor = _compiler_named(jit_compile)
        elif jit_compile:
            executor = "native"
        elif jit_compile is None and executor == "plan":
            executor = "automatic"
        if executor in ("native", "xla"):
            _demand_compiler(executor)
        if executor not in EXECUTORS:
            raise ValueError(f"experimental_executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
        if implements is not None and not isinstance(implements, str):
            raise TypeError(f"experimental_implements must be a string, not {implements!r}")
        for name in attributes or ():
            if name not in ATTRIBUTES:
                raise ValueError(f"{name} is not supported by tf.function as an attribute.")
        if max_traces is not None and (not isinstance(max_traces, int) or max_traces < 1):
            raise ValueError(f"max_traces must be a positive integer or None, not {max_traces!r}")
        if input_signature is not None and not isinstance(input_signature, (list, tuple)):
            raise TypeError(f"input_signature must be either a tuple or a list, got {type(input_signature)}.")
        chosen = api.options_of(True, features).features
        return FunctionOptions(
            input_signature, bool(autograph), reduce_retracing, chosen, executor, max_traces, attributes or {}
        )


def _compiler_named(jit_compile: str) -> str:
    if jit_compile not in ("native", "xla"):
        raise ValueError(f'jit_compile must be True, False, None, "native" or "xla", not {jit_compile!r}')
    return jit_compile


def _demand_compiler(executor: str) -> None:
    from ..executors import llvm, xla

    why = (xla if executor == "xla" else llvm).missing()
    if why is not None:
        demand = (
            'jit_compile="xla" needs JAX' if executor == "xla" else "jit_compile=True needs a native compiler"
        )
        raise ValueError(f"{demand}: {why}")
