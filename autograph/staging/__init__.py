"""The contract between converted code and the libraries (backends) that stage it.

    if x > 0:                     (y,) = ag__.cond(x > 0, if_true, if_false, ...)
        y = f(x)                            │
    else:                 ==>               └─ backend_of(x > 0).cond(x > 0, if_true, if_false, ...)
        y = g(x)

Converted code dispatches on the type of the deciding value. For a bool the backend is plain Python, which calls one
branch. A library that builds graphs registers a `Backend` for the types of its symbolic values. The backend gets the
test and both branches as functions, *state in, results out*, and may trace each of them.

A minimal backend for symbolic expressions, which records operations as strings:

>>> class Symbol:
...     def __init__(self, text): self.text = text
...     def __repr__(self): return self.text
...     def __mul__(self, other): return Symbol(f"{self} * {other}")
...     def __gt__(self, other): return Symbol(f"{self} > {other}")
>>> class Writer:
...     builtins = {abs: lambda x: Symbol(f"|{x}|")}
...     def owns(self, value):
...         return True
...     def cond(self, test, then, orelse, state, names):
...         pairs = zip(then(*state), orelse(*state), strict=True)
...         return tuple(Symbol(f"({a} if {test} else {b})") for a, b in pairs)
>>> from agc.autograph import operators as ag__, staging
>>> staging.register(Writer(), Symbol)
>>> def if_true(y):
...     return (y * 2,)
>>> x = Symbol("x")
>>> ag__.cond(x > 0, if_true, ag__.keep, (x,), names=("y",))
((x * 2 if x > 0 else x),)
>>> ag__.cond(3 > 0, if_true, ag__.keep, (3,), names=("y",))
(6,)
>>> ag__.converted(abs)(x), ag__.converted(abs)(-3)
(|x|, 3)
"""

from .backend import PYTHON, Backend, MutableValue, PythonBackend, State, UnescapedList, rotated
from .caught_errors import reported
from .exceptions import Surroundings, caught_at, raised_by_user, running, surroundings
from .fields import field_names, has_fields, is_frozen
from .opaque_leaves import is_opaque_leaf, register_stateful, stateful, untracked_attributes
from .recursion import deciding
from .registry import backend_of, backends, building, live, overloaded, register, show_liveness
from .undefined import Maybe, Pending, Undefined, ld, name_of, unbound

__all__ = [
    "Backend", "MutableValue", "UnescapedList", "PythonBackend", "PYTHON", "State", "rotated",
    "register", "live", "building", "show_liveness", "backend_of", "backends", "overloaded", "is_opaque_leaf",
    "field_names", "has_fields", "is_frozen", "untracked_attributes", "register_stateful", "stateful",
    "Undefined", "Pending", "Maybe", "ld", "name_of", "unbound",
    "Surroundings", "raised_by_user", "caught_at", "reported", "surroundings", "running", "deciding",
]  # fmt: skip
