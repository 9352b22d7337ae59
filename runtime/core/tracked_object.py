"""`Trackable`: TensorFlow's base class of objects with children by name: of Keras's objects, and of tables."""

from __future__ import annotations

from typing import Any

from .export import export

DEPENDENCIES = "_self_unconditional_dependency_names"
HELD_NAME = "_value"
"""The name of the variable in which a variable of Keras keeps its value."""

_NOT_SAVED = {"_tracker", "_tracked", "_parent_path", "_loss_tracker", DEPENDENCIES}


class Trackable:
    """An object with children by name, which checkpoints and saved models follow."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        names = vars(self).setdefault(DEPENDENCIES, {})
        if not overwrite and names.get(name, trackable) is not trackable:
            raise ValueError(
                f"Called Trackable._track_trackable() with name={name!r}, but a Trackable with this name is "
                "already declared as a dependency. Names must be unique (or overwrite=True)."
            )
        names[name] = trackable
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return dict(vars(self).get(DEPENDENCIES, {}))

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        return self._trackable_children().get(name)

    def _maybe_initialize_trackable(self) -> None:
        pass

    def __children__(self) -> dict[str, Any]:
        """Return the attributes and, for a variable of Keras, the variable that holds its value."""
        if getattr(self, "_should_act_as_resource_variable", False):
            return {HELD_NAME: getattr(self, HELD_NAME, None)}
        return {name: value for name, value in vars(self).items() if name not in _NOT_SAVED}


def held(target: Any) -> Any:
    """Return the variable in which a variable of Keras keeps its value, once it has one; other objects unchanged."""
    if isinstance(target, Trackable) and getattr(target, "_should_act_as_resource_variable", False):
        value = getattr(target, HELD_NAME, None)
        return target if value is None else value
    return target


@export("saved_model.experimental.TrackableResource")
class TrackableResource(Trackable):
    """An object with a resource of its own, such as a lookup table.

    >>> from agc.runtime.lookup import KeyValueTensorInitializer, StaticHashTable
    >>> table = StaticHashTable(KeyValueTensorInitializer([1, 2], [10, 20]), -1)
    >>> isinstance(table, TrackableResource)
    True
    """
