"""`TrackableView`: the objects that a checkpoint of an object would hold, by name."""

from __future__ import annotations

from typing import Any

from ..core.export import export
from ..core.trackable import children


@export("train.TrackableView")
class TrackableView:
    """A view of the objects that are reachable from `root`: modules, lists, dicts and variables.

    >>> import agc.runtime as tf
    >>> module = tf.Module()
    >>> module.scale = tf.Variable(2.0)
    >>> view = TrackableView(module)
    >>> view.children(module)["scale"] is module.scale, len(view.descendants())
    (True, 2)
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Return the children of an object by name; `save_type` and `kwargs` are accepted for compatibility."""
        return dict(children(obj))

    @property
    def root(self) -> Any:
        """The object at which the view begins."""
        return self._root

    def descendants(self) -> list[Any]:
        """Return `root` and all objects reachable from it, breadth first, each once."""
        found, seen = [self._root], {id(self._root)}
        for target in found:  # the list grows
            for child in self.children(target).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    found.append(child)
        return found
