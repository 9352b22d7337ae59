"""Restoring of saved values to variables by name, now or when the variables are created.

restoration = Restoration(contents, prefix)
restoration.match(root, 0)      existing variables get their values;
                                objects without a child of that name announce it when they get one
"""

from __future__ import annotations

import functools
import logging
import weakref
from typing import Any

from .. import dtypes
from ..core import trackable
from ..core.shapes import compatible
from ..core.tracked_object import HELD_NAME
from ..core.variable import Variable
from ..errors import InvalidArgumentError
from .checkpoint_format import CheckpointContents
from .object_graph import VALUE, ObjectGraph, ObjectNode

_log = logging.getLogger("agc")
_UNUSED = (
    "values of the checkpoint %r were not used: %s; `.expect_partial()` on the result of restore() silences this, "
    "`.assert_consumed()` makes it an error"
)


class _Rest:
    """The values that no variable has taken yet, by node. `tell` logs them when the restoration is deleted."""

    def __init__(self, contents: CheckpointContents, prefix: str) -> None:
        named = dict(enumerate(node.key for node in contents.nodes)) or dict(enumerate(contents.values))
        self.keys = {number: key for number, key in named.items() if key is not None}
        self.prefix = prefix
        self.is_silent = False

    def tell(self) -> None:
        if self.keys and not self.is_silent:
            _log.warning(_UNUSED, self.prefix, _listed(list(self.keys.values())))


class Restoration:
    """The matching of one checkpoint's values to the variables of one object.

    It lives while an object awaits a child, or the program holds its status. At its end the unused values are logged.
    """

    def __init__(self, contents: CheckpointContents, prefix: str) -> None:
        self.contents = contents
        self.prefix = prefix
        self.matched: dict[int, Any] = {}
        self._taken: set[int] = set()  # variables with values, by identity
        self.rest = _Rest(contents, prefix)
        weakref.finalize(self, self.rest.tell)

    def match(self, target: Any, number: int) -> None:
        """Restore an object from a node, and all objects below it."""
        pending = [(target, number)]
        while pending:
            target, number = pending.pop()
            if number in self.matched:
                continue
            self.matched[number] = target
            node = self.contents.nodes[number]
            found = trackable.children(target)
            variable = target if isinstance(target, Variable) else found.get(HELD_NAME)
            if isinstance(variable, Variable) and node.key is not None:
                self.rest.keys.pop(number, None)
                self.assign(variable, node.key)
            pending += [(found[name], child) for name, child in node.children.items() if name in found]
            if not node.children.keys() <= found.keys() and hasattr(target, "__dict__"):
                trackable.await_children(target, functools.partial(self._arrived, node))

    def match_names(self, root: Any) -> None:
        """Restore the variables of an object by their own names, from a checkpoint without an object graph."""
        variables: dict[str, list[Variable]] = {}
        for variable in ObjectGraph.of(root).variables.values():
            variables.setdefault(variable.name.removesuffix(":0"), []).append(variable)
        for number, key in list(self.rest.keys.items()):
            for variable in variables.get(key, ()):
                self.rest.keys.pop(number, None)
                self.assign(variable, key)

    def _arrived(self, node: ObjectNode, name: str, child: Any) -> None:
        """Restore a child that an object got after it was restored."""
        number = node.children.get(name)
        if number is not None and number not in self.matched and trackable.is_trackable(child):
            self.match(child, number)

    def again(self) -> None:
        """Match again the restored objects, for children that lists and dicts got since."""
        for number, target in list(self.matched.items()):
            found = trackable.children(target)
            for name, child in self.contents.nodes[number].children.items():
                if child not in self.matched and name in found:
                    self.match(found[name], child)

    def assign(self, variable: Variable, key: str) -> None:
        """Set a variable to a value. InvalidArgumentError or ValueError for one of another dtype or shape."""
        value = self.contents.values[key]
        content = variable.content_spec
        message = (
            f"cannot restore `{key.removesuffix(VALUE)}` from {self.prefix!r}: the checkpoint has "
            f"{dtypes.of_array(value).name}{list(value.shape)}, the variable {variable.name!r} is {content}"
        )
        if value.dtype != content.dtype.numpy_dtype:
            raise InvalidArgumentError(message)
        if not compatible(content.shape, value.shape):
            raise ValueError(message)
        # Set the value directly, also while the function that makes the variable is traced.
        variable._array = value.copy()
        self._taken.add(id(variable))

    def has_value(self, variable: Variable) -> bool:
        """Return whether a variable got a value."""
        return id(variable) in self._taken

    def has_values(self) -> bool:
        """Return whether any variable got a value."""
        return bool(self._taken)

    def unused(self) -> list[str]:
        """Return the saved values that no variable has taken."""
        return list(self.rest.keys.values())


class LoadStatus:
    """The status of a checkpoint's values: the result of `Checkpoint.restore` and `read`."""

    def __init__(self, restoration: Restoration, root: Any) -> None:
        self._restoration = restoration
        self._root = root

    def assert_consumed(self) -> LoadStatus:
        """Raise AssertionError if a saved value has no variable, or a variable got no value."""
        self._restoration.again()
        unused = self._restoration.unused()
        if unused:
            raise AssertionError(
                f"no object in the program uses these values of {self._restoration.prefix!r}: {_listed(unused)}"
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raise AssertionError if an existing variable got no value."""
        self._restoration.again()
        missing = [
            key
            for key, variable in ObjectGraph.of(self._root).variables.items()
            if not self._restoration.has_value(variable)
        ]
        if missing:
            raise AssertionError(
                f"{self._restoration.prefix!r} has no values for these variables: {_listed(missing)}"
            )
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raise AssertionError if nothing but the root was found in the checkpoint."""
        self._restoration.again()
        if not self._restoration.matched.keys() - {0} and not self._restoration.has_values():
            raise AssertionError(f"no part of the object was found in {self._restoration.prefix!r}")
        return self

    def expect_partial(self) -> LoadStatus:
        """Do not log unused values."""
        self._restoration.rest.is_silent = True
        return self


class NothingRestored:
    """The result of `Checkpoint.restore(None)`: there is no checkpoint yet."""

    def assert_consumed(self) -> NothingRestored:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> NothingRestored:
        return self


def _listed(keys: list[str]) -> str:
    shown = [key.removesuffix(VALUE) for key in keys[:10]]
    return ", ".join(shown) + (f" and {len(keys) - 10} more" if len(keys) > 10 else "")
