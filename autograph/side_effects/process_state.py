"""Warnings for uses of process state that happen once, while a staged block is traced.

    while x > 0:
        x -= random.random()       SideEffectWarning: `random.random` is called once, while this is traced

The bytecode of the block's own functions is searched for such uses. For the functions that they call, the
process state is compared before and after the trace.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from ..analysis import bytecode_effects
from ..analysis.process_state import CACHE, CLOCK, DECIMAL, ENVIRONMENT, FILES, RANDOM, Use, may_use, use_of
from ..errors import Diagnostic, SideEffectWarning, Where
from ..introspection.source_sites import running

Variables = dict[str, Any]
_CERTAIN = RANDOM, FILES, CLOCK  # every use of these changes the state, or gives another result
_CACHE_CALLS = frozenset({"cache_clear", "cache_info"})


NAMES = frozenset(
    {"random", "seed", "environ", "putenv", "unsetenv", "getcontext", "setcontext", "localcontext"}
)
"""Code that contains none of these names uses no state that is compared."""


class _Found(NamedTuple):
    name: str
    use: Use
    where: Where


class ProcessState:
    """The process state that reachable code may use, as it was before a block is traced.

    `names` are the names in that code. `codes` returns the code, with its global variables.
    """

    def __init__(
        self,
        names: Set[str],
        codes: Callable[[], Sequence[tuple[CodeType, Variables]]],
        caches: Sequence[Any],
        files: Sequence[Any],
    ) -> None:
        self._codes = codes
        self._readers = [*_readers(names), *_of_caches(caches), *_of_files(files)]
        self._saved = [read() for _, read in self._readers]

    def warn(self, own: Sequence[tuple[CodeType, Variables]]) -> None:
        """Warn of the uses in the block's own functions, and of other state that has changed."""
        found = [one for code, variables in own for one in _uses(code, variables) if one.use in _CERTAIN]
        reported = {one.use.kind for one in found}
        for (use, read), saved in zip(self._readers, self._saved, strict=True):
            if use.kind not in reported and read() != saved:
                reported.add(use.kind)
                others = [
                    one
                    for code, variables in self._codes()
                    for one in _uses(code, variables)
                    if one.use is use
                ]
                found += others or [_Found(f"the {use.kind}", use, running())]
        for one in found:
            _warn(one)


def _warn(found: _Found) -> None:
    diagnostic = Diagnostic(
        "AGC195",
        f"`{found.name}` is used once, while the block around it is traced, and not when the graph runs",
        found.where,
        fix=found.use.fix,
        level="warning",
    )
    warnings.warn_explicit(
        str(diagnostic), SideEffectWarning, found.where.file, found.where.line, registry=_REGISTRY
    )


_REGISTRY: dict[Any, Any] = {}


def _readers(names: Set[str]) -> Iterator[tuple[Use, Callable[[], Any]]]:
    if "random" in names or "seed" in names:
        for generator in global_generators():
            yield RANDOM, partial(_state_of, generator)
    if not names.isdisjoint({"environ", "putenv", "unsetenv"}) and "os" in sys.modules:
        yield ENVIRONMENT, lambda: dict(sys.modules["os"].environ)
    if not names.isdisjoint({"getcontext", "setcontext", "localcontext"}) and "decimal" in sys.modules:
        yield DECIMAL, lambda: repr(sys.modules["decimal"].getcontext())


def global_generators() -> list[Any]:
    """Return the global random generators of Python and NumPy."""
    found = [getattr(sys.modules.get("random"), "_inst", None)]
    found += [getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)]
    return [generator for generator in found if generator is not None]


def is_of_process(value: Any) -> bool:
    """Return whether an object is a global random generator."""
    return any(value is generator for generator in global_generators())


def _state_of(generator: Any) -> Any:
    if hasattr(generator, "getstate"):
        return generator.getstate()
    state = generator.get_state(legacy=False)
    return state["state"]["key"].tobytes(), state["state"]["pos"]


def _of_caches(caches: Sequence[Any]) -> Iterator[tuple[Use, Callable[[], Any]]]:
    for cache in caches:
        yield CACHE, partial(_entries_of, cache)


def _entries_of(cache: Any) -> Any:
    """Return the number of cached results and of misses; hits do not count."""
    return cache.cache_info()[1::2]


def _of_files(files: Sequence[Any]) -> Iterator[tuple[Use, Callable[[], Any]]]:
    for file in files:
        yield FILES, partial(_position, file)


def _position(file: io.IOBase) -> Any:
    try:
        return file.closed or file.tell()
    except (OSError, ValueError):
        return None


def _uses(code: CodeType, variables: Variables) -> Iterator[_Found]:
    """Yield the uses of process state through global names."""
    if not _may_use(code, variables):
        return
    for names, line in bytecode_effects.chains(code):
        if (found := _resolved(names, variables)) is not None:
            name, use = found
            yield _Found(name, use, Where(code.co_filename, line, function=code.co_name))


def _may_use(code: CodeType, variables: Variables) -> bool:
    """Return whether a global name in `code` may lead to process state.

    This check is cheap and mostly fails. It saves a scan of the bytecode, which is slow.
    """
    names = bytecode_effects.facts(code).names
    return any(
        _leads_to_use(known[name])
        for known in (variables, _builtins(variables))
        for name in names & known.keys()
    )


def _leads_to_use(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return may_use(value.__name__)
    return hasattr(value, "cache_info") or may_use(_name_of(value))


def _resolved(names: Sequence[str], variables: Variables) -> tuple[str, Use] | None:
    first, *rest = names
    value = variables.get(first, _builtins(variables).get(first))
    shown = ".".join(names)
    if isinstance(value, ModuleType):
        if not rest:
            return None
        use = use_of(".".join((value.__name__, *rest)))
    elif hasattr(value, "cache_info"):
        return (shown, CACHE) if rest and rest[0] in _CACHE_CALLS else None
    else:
        use = use_of(".".join((_name_of(value), *rest)))
    return None if use is None else (shown, use)


def _builtins(variables: Variables) -> Mapping[str, Any]:
    found = variables.get("__builtins__", {})
    return vars(found) if isinstance(found, ModuleType) else found


def _name_of(value: Any) -> str:
    """Return the qualified name of a library's function or class; empty if there is none."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return "os.environ" if value is getattr(sys.modules.get("os"), "environ", _NOTHING) else ""
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, (type, ModuleType)):
        is_python = owner is getattr(sys.modules.get("random"), "_inst", _NOTHING)
        is_numpy = owner is getattr(sys.modules.get("numpy.random.mtrand"), "_rand", _NOTHING)
        return f"random.{name}" if is_python else f"numpy.random.{name}" if is_numpy else ""
    module = getattr(value, "__module__", None)
    if value is open or value is input:
        return name
    return f"{module}.{name}" if isinstance(module, str) and callable(value) else ""


_NOTHING = object()
