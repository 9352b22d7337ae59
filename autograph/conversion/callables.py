"""Facts about callables: the Python function that a call runs, whether there is one, and how long it lives.

underlying_function(functools.partial(model.step, 1))   ==>   the function `step`
"""

from __future__ import annotations

import functools
import sys
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any

from .. import policy
from ..errors import ConversionError, Diagnostic


def is_native(f: Any) -> bool:
    """Return whether calling `f` runs C code, which cannot be converted."""
    if not callable(f) or isinstance(f, type):
        return False
    call = call_of(type(f))
    return not isinstance(call, (FunctionType, property)) and not _is_runtimes(call)


def underlying_function(f: Any) -> FunctionType:
    """Return the Python function that runs when `f` is called; raise ConversionError if there is none."""
    while not isinstance(f, FunctionType):
        if isinstance(f, (MethodType, staticmethod, classmethod)):
            f = f.__func__
        elif isinstance(f, functools.partial):
            f = f.func
        elif (inner := unwrapped(f)) is not None:
            f = inner
        elif not isinstance(f, type) and isinstance(call_of(type(f)), FunctionType):
            f = call_of(type(f))
        else:
            raise _not_a_function(f)
    return f


def unwrapped(f: Any) -> Any:
    """Return the user's function in a runtime's `function` object, as `python_function` of TensorFlow does."""
    call = None if isinstance(f, (type, MethodType)) else call_of(type(f))
    return getattr(f, "python_function", None) if _is_runtimes(call) else None


def _is_runtimes(call: Any) -> bool:
    """Return whether a `__call__` belongs to agc: a function, or a slot that holds the callable."""
    if isinstance(call, MemberDescriptorType):
        return policy.is_own_class(call.__objclass__)
    return isinstance(call, FunctionType) and policy.is_own(call)


def call_of(kind: type) -> Any:
    """Return the `__call__` of a class."""
    return next((vars(base)["__call__"] for base in policy.bases_of(kind) if "__call__" in vars(base)), None)


def is_permanent(f: FunctionType) -> bool:
    """Return whether `f` lives as long as its module, so that it can be cached without a leak.

    A closure does if its module or class holds it, or a decorator's function around it, by its name.
    """
    module = sys.modules.get(f.__module__) if isinstance(f.__module__, str) else None
    if module is None or "<locals>" in f.__qualname__:
        return False
    if f.__closure__ is None:
        return module.__dict__ is f.__globals__
    holder: Any = module
    for name in f.__qualname__.split("."):
        holder = getattr(holder, "__dict__", {}).get(name)
    while holder is not None and holder is not f:
        holder = getattr(holder, "__dict__", {}).get("__wrapped__")
    return holder is f


def _not_a_function(f: Any) -> ConversionError:
    if isinstance(f, type):
        title, why = f"the class `{f.__qualname__}` is not a function", ""
        fix = "convert the methods that are called"
    elif callable(f):
        title = f"`{getattr(f, '__name__', type(f).__name__)}` is not a Python function"
        why = "it has no Python code that can be converted"
        fix = "pass the Python function that calls it"
    else:
        title, why = f"an object of type `{type(f).__name__}` is not a function", ""
        fix = "pass a function, a method, or an object with a `__call__` method"
    return ConversionError(Diagnostic("AGC104", title, why=why, fix=fix))
