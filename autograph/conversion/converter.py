"""Live conversion: map a callable to the callable that converted code calls in its place.

    f(x)   ==>   ag__.converted(f)(x)

The type of the callable selects a handler: one lookup. A user function is converted on its first call, once
for each code object, and a library's in a trace only. Classes and C functions are called as they are.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .. import policy
from ..errors import ConversionError, Diagnostic
from ..introspection.calls import StackCall
from ..introspection.code_objects import CodeMap, nested_code_objects
from ..introspection.frames import STAND_INS, untraced
from ..options.features import USUAL, ConversionOptions, Feature
from ..options.verbosity import CONVERSIONS, EVERYTHING, log, place
from ..staging import overloaded
from .callables import call_of, is_native, is_permanent, underlying_function, unwrapped
from .code_patching import CodePatcher
from .conversion_log import LISTING
from .function_code import ConvertedCode, is_leaf, is_straight
from .guarded_calls import guarded, overload
from .plain_callees import Permanent, PlainCallees
from .reducing_builtins import GATHERING, gathering

Handler = Callable[[Any], Any]

overloaded.update(STAND_INS)


class Converter:
    """Converts callables for code that calls its operators through the module `operators`."""

    def __init__(
        self, operators: ModuleType, options: ConversionOptions = USUAL, usual: Converter | None = None
    ) -> None:
        """Initialize; `usual` is the converter with the default options, if that is another converter."""
        self._operators = operators
        self.options = options
        self._handlers = _Handlers(self)
        self._lock = threading.RLock()
        self._loaded: CodeMap[ConvertedCode] = CodeMap()
        # code that is the result of a conversion, with any options
        self._made: CodeMap[bool] = CodeMap() if usual is None else usual._made
        # user code that is its own conversion
        self._straight: CodeMap[bool] = CodeMap() if usual is None else usual._straight
        self._verdicts: CodeMap[Handler] = CodeMap()
        self._in_place: CodePatcher = (
            CodePatcher(operators, self.is_exempt, self._load, self.adopt)
            if usual is None
            else usual._in_place
        )
        # The module that printed conversions import.
        self._printed: ModuleType = operators if usual is None else usual._printed
        self._permanent: Permanent = {}
        self._plain = PlainCallees()
        # `operator` is the same as `converted`, in less time while nothing is staged.
        self.operator, self.receiver = self._plain.operators(self.converted, operators, self._permanent)

    @property
    def stages_print(self) -> bool:
        return Feature.BUILTIN_FUNCTIONS in self.options.features

    def converted(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return the callable to call in place of `f`: `f` itself if there is nothing to convert."""
        return self._handlers[type(f)](f)  # type: ignore[no-any-return]

    def convert(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Convert a callable that the user names, in user code or a library; raise ConversionError on failure."""
        if isinstance(f, FunctionType):
            own = self._in_place.with_own_code(f)
            return f if self.is_exempt(own) or _is_straight(own) else self._load(own).function(f)
        if isinstance(f, (staticmethod, classmethod)):
            return type(f)(self.convert(f.__func__))
        if isinstance(f, functools.partial):
            return _same_partial(f, self.convert(f.func))
        if is_native(f):
            return self.converted(f)
        inner = unwrapped(f)
        if inner is not None:
            return self.convert(inner)
        function = underlying_function(f)
        return MethodType(self.convert(function), f.__self__ if isinstance(f, MethodType) else f)

    def adopt(self, code: CodeType) -> CodeType:
        """Record that `code`, and all functions inside it, are results of a conversion."""
        for inner in nested_code_objects(code):
            self._made[inner] = True
        return code

    def in_sight(self, *roots: Any) -> AbstractContextManager[None]:
        """Return a context that converts in place the functions reachable from `roots` while one is traced."""
        return self._in_place.tracing(roots)

    def unconverted(self, label: str, calls: Sequence[StackCall] | None = None) -> Diagnostic | None:
        """Return the diagnostic for running user code, or for ended calls, that need a traced tensor's value.

        It says why the code was not converted or staged.
        """
        from .diagnose_unconverted import unconverted

        return unconverted(
            label, lambda code: code in self._made or code in self._straight, self._in_place.refused, calls
        )

    def forget(self) -> None:
        """Discard all decisions, because the set of converted packages has changed."""
        for known in (self._loaded, self._verdicts, self._permanent, self._plain):
            known.clear()

    # The handlers, by type of callable.

    def function(self, f: FunctionType) -> FunctionType:
        known = self._permanent.get(f)
        if known is not None:
            result, code, defaults, kwdefaults, _ = known
            if f.__code__ is code and f.__defaults__ is defaults and f.__kwdefaults__ is kwdefaults:
                return result
        own = self._in_place.with_own_code(f)  # the result may be called after the trace
        handler = self._verdicts.get(own.__code__)
        if handler is None:
            handler = untraced(self._verdict, own)
            self._verdicts[own.__code__] = handler
            # Functions of installed packages are converted in traces only.
            if handler in (unchanged, self._library_function) or is_leaf(own.__code__):
                self._plain.note(own, is_permanent(own))
        result = handler(f)
        if handler != self._library_function and is_permanent(f):
            if len(self._permanent) > 10_000:
                self._permanent.clear()
            plain = f if self._plain.has(f) else result
            self._permanent[f] = result, f.__code__, f.__defaults__, f.__kwdefaults__, plain
        return result  # type: ignore[no-any-return]

    def method(self, f: MethodType) -> MethodType:
        if self._in_place.depth:
            self._in_place.meet(f.__self__ if isinstance(f.__self__, type) else type(f.__self__))
            if type(f.__func__) is FunctionType:
                self._in_place.meet(f.__func__)
        function = self.converted(f.__func__)
        return f if function is f.__func__ else MethodType(function, f.__self__)

    def builtin(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if self._in_place.depth and f in GATHERING:
            return gathering(f)
        return overload(f) if f in overloaded and (f is not print or self.stages_print) else f

    def plain_class(self, f: type) -> Callable[..., Any]:
        return overload(f) if f in overloaded else self.any_class(f)

    def any_class(self, f: type) -> type:
        if self._in_place.depth:
            self._in_place.meet(f)
        return f

    def partial(self, f: functools.partial[Any]) -> functools.partial[Any]:
        function = self.converted(f.func)
        return f if function is f.func else _same_partial(f, function)

    def instance(self, f: Any) -> Callable[..., Any]:
        call = call_of(type(f))
        function = self.converted(call)
        return f if function is call else MethodType(function, f)

    # The handler of a function, determined once per code object.

    def _verdict(self, f: FunctionType) -> Handler:
        if not self.options.recursive or self.is_exempt(f) or not policy.is_user_code(f):
            log(EVERYTHING, f"left alone {place(f.__code__)}")
            if f.__code__ not in self._made and not policy.is_own(f):
                LISTING.note(f.__code__, "left alone", self._why_left(f))
            return unchanged
        from ..syntax import source

        if policy.is_convertible(f.__code__.co_filename, f.__globals__.get("__name__")):
            return self._library_function
        found = source.search(f)
        if isinstance(found, source.Definition):
            return self._load(f).function
        # Code without source, such as the generated methods of a dataclass. Without control flow it has
        # nothing to stage. Otherwise Python may run it, as long as no argument is a backend's value.
        return (
            functools.partial(guarded, ConversionError(found))
            if source.has_control_flow(f.__code__)
            else unchanged
        )

    def _library_function(self, f: FunctionType) -> FunctionType:
        """Return the converted form of an installed package's function during a trace; `f` itself otherwise.

        Code that cannot be converted is left alone; an error says so if it needs a traced tensor's value.
        """
        from ..syntax import source

        if not self._in_place.depth or not source.exists(f):
            return f
        try:
            return self._load(f).function(f)
        except ConversionError as error:
            LISTING.note(f.__code__, "left alone", error.diagnostic.title)
            self._in_place.refused[f.__code__] = error
            return f

    def _why_left(self, f: FunctionType) -> str:
        if policy.is_excluded(f.__code__):
            return "do_not_convert"
        return "recursive=False" if not self.options.recursive else "a library's"

    def is_exempt(self, f: FunctionType) -> bool:
        """Return whether `f` must not be converted: it is converted already, or excluded, or agc's own."""
        return (
            policy.is_excluded(f.__code__)
            or f.__code__ in self._made
            or policy.is_printed(f, self._printed)
            or policy.is_own(f)
        )

    def _load(self, f: FunctionType) -> ConvertedCode:
        code = f.__code__
        loaded = self._loaded.get(code)
        is_plain = not self._operators.building
        if loaded is None or (is_plain and not loaded.has_original):
            with self._lock:
                loaded = self._loaded.get(code)
                if loaded is None or (is_plain and not loaded.has_original):
                    loaded = self._converted_code(f, is_plain)
                    log(CONVERSIONS, f"converted {place(code)}")
                    LISTING.note(code, "converted")
                    if loaded.code is code:
                        self._straight[code] = True
                    else:
                        self.adopt(loaded.code)
                    self._loaded[code] = loaded
        return loaded

    def _converted_code(self, f: FunctionType, is_plain: bool) -> ConvertedCode:
        features = self.options.features
        if not features and is_straight(f.__code__):
            return ConvertedCode(f.__code__, f.__code__, has_original=True)
        from . import stored_code

        # A function that is converted for a trace seldom runs outside of one; one version loads faster than two.
        return stored_code.load(f, self._operators, features, has_original=is_plain)


class _Handlers(dict[type, Handler]):
    """type of callable → the handler that `converted` calls."""

    def __init__(self, converter: Converter) -> None:
        self.converter = converter
        super().__init__(
            {
                FunctionType: converter.function,
                MethodType: converter.method,
                BuiltinFunctionType: converter.builtin,
                type: converter.plain_class,
                functools.partial: converter.partial,
            }
        )

    def __missing__(self, kind: type) -> Handler:
        handler = self.converter.instance if isinstance(call_of(kind), FunctionType) else unchanged
        if handler is unchanged and issubclass(kind, type):
            handler = self.converter.any_class
        if len(self) < 10_000:  # types created dynamically must not accumulate here
            self[kind] = handler
        return handler


def unchanged(f: Any) -> Any:
    """Return `f` unchanged; the handler for callables that need no conversion."""
    return f


def _is_straight(f: FunctionType) -> bool:
    """Return whether `f` has neither source nor control flow, so that there is nothing to stage."""
    from ..syntax import source

    return not source.has_control_flow(f.__code__) and not source.exists(f)


def _same_partial(f: functools.partial[Any], function: Callable[..., Any]) -> functools.partial[Any]:
    return functools.partial(function, *f.args, **f.keywords)
