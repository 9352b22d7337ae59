"""Shared parts of the backends for array libraries: `agc.jax` and `agc.torch` stage control flow with them.

    if x > 0:                        lax.cond      with agc.jax
        y = f(x)           ⇒         torch.cond    with agc.torch
    else:
        y = 0.0

Both libraries trace functions of arrays with known shapes, and have operations for a conditional, a loop and a scan.
What a library does in its own way is a `Library`. The rest is here: the variables of both branches are brought to one
type, the state of a loop is traced until its types settle, and failed checks become values.
"""

from .backend import ArrayBackend, Branch, Names, Options
from .builtins import builtins_of
from .failures import Checks, current, is_running, leave, raise_of
from .leaves import is_array
from .library import Build, Library, Program, Type, UnknownValue
from .tracing import converted, staged

__all__ = [
    "ArrayBackend", "Branch", "Build", "Checks", "Library", "Names", "Options", "Program", "Type", "UnknownValue",
    "builtins_of", "converted", "current", "is_array", "is_running", "leave", "raise_of", "staged",
]  # fmt: skip
