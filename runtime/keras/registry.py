"""From names and configs to objects, and back: what `get`, `serialize` and `deserialize` of each room do.

rooms = Room("loss", "keras.losses", classes=[Hinge], functions={"hinge": hinge})
rooms.get("hinge") → the function             rooms.get("Hinge") → an object of the class
rooms.get({"class_name": "Hinge", "config": {...}}) → an object with that config
rooms.serialize(Hinge()) → such a dict
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from .naming import snake_case

T = TypeVar("T")

_custom: dict[str, Any] = {}
"""Classes and functions that the program registered, by name and by `package>name`."""

_registered_names: dict[Any, str] = {}

ROOMS: dict[str, Room] = {}
"""The rooms that have been imported, by the module that their objects say they are from."""


class Room:
    """The classes and functions of one kind: losses, layers, … `noun` is for messages."""

    def __init__(
        self,
        noun: str,
        module: str,
        classes: Iterable[type] = (),
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.noun = noun
        self.module = module
        self.functions = dict(functions or {})
        self.classes: dict[str, type] = {}
        for cls in classes:
            self.add(cls)
        ROOMS[module] = self

    def add(self, cls: type[T], *names: str) -> type[T]:
        """Make a class known by its own name, that in snake case, and others."""
        for name in (cls.__name__, cls.__name__.lower(), snake_case(cls.__name__), *names):
            self.classes.setdefault(name, cls)
        return cls

    def get(self, identifier: Any) -> Any:
        """The object that a name, a config, a class or the object itself stands for; None for None.

        Raises ValueError for what stands for nothing.
        """
        if identifier is None:
            return None
        if isinstance(identifier, Mapping):
            return self.deserialize(identifier)
        found = self._named(identifier) if isinstance(identifier, str) else identifier
        if inspect.isclass(found):
            found = found()
        if not callable(found) and not hasattr(found, "get_config"):
            raise ValueError(f"Could not interpret {self.noun} identifier: {identifier}")
        return found

    def _named(self, name: str) -> Any:
        for table in (_custom, self.functions, self.classes):
            if name in table:
                return table[name]
        raise ValueError(f"Could not interpret {self.noun} identifier: {name}")

    def serialize(self, value: Any) -> Any:
        """A description of the object: a name, or a dict with its class and config; None for None."""
        return serialized(value)

    def deserialize(self, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The object that such a description describes."""
        with custom_object_scope(custom_objects or {}):
            if isinstance(config, str):
                return self.get(config)
            name, inner = config["class_name"], config.get("config", {})
            if name == "function":
                return self.get(inner)
            cls: Any = _custom.get(config.get("registered_name") or name) or _custom.get(name)
            cls = cls or self.classes.get(name) or _elsewhere(name)
            if cls is None:
                raise ValueError(f"Could not interpret {self.noun} identifier: {name}")
            made = cls.from_config(inner)
            build = config.get("build_config")
            if build and not getattr(made, "built", True):
                made.build_from_config(build)
            return made


def _elsewhere(name: str) -> Any:
    return next((room.classes[name] for room in ROOMS.values() if name in room.classes), None)


def serialized(value: Any) -> Any:
    """An object as a dict with its class and config, a function as its name; plain values as they are."""
    if not hasattr(value, "get_config") or inspect.isclass(value):
        return getattr(value, "__name__", value) if callable(value) else value
    cls = type(value)
    known = next((room for room in ROOMS.values() if room.classes.get(cls.__name__) is cls), None)
    described = {
        "module": cls.__module__ if known is None else known.module,
        "class_name": cls.__name__,
        "config": value.get_config(),
        "registered_name": _registered_names.get(cls, None if known is not None else cls.__name__),
    }
    knows = getattr(value, "built", False) and hasattr(value, "get_build_config")
    build = value.get_build_config() if knows else None
    return {**described, "build_config": build} if build else described


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[T], T]:
    """Decorator: a class or function that configs may name, as `package>name`."""

    def registered(thing: T) -> T:
        own = name or str(getattr(thing, "__name__", thing))
        _custom[f"{package}>{own}"] = _custom[own] = thing
        _registered_names[thing] = f"{package}>{own}"
        return thing

    return registered


@contextmanager
def custom_object_scope(custom_objects: Mapping[str, Any]) -> Iterator[None]:
    """Classes and functions that configs and names may mean, inside of a `with` statement."""
    before = dict(_custom)
    _custom.update(custom_objects)
    try:
        yield
    finally:
        _custom.clear()
        _custom.update(before)


def get_custom_objects() -> dict[str, Any]:
    """The registered classes and functions, to be read and changed."""
    return _custom


def get_registered_name(obj: Any) -> str:
    """The name that a class or function was registered by; its own otherwise."""
    return _registered_names.get(obj, getattr(obj, "__name__", str(obj)))


def get_registered_object(name: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """What was registered by this name; None if nothing was."""
    return (custom_objects or {}).get(name, _custom.get(name))
