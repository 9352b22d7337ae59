"""`Checkpoint`: saves and restores the values of an object's variables by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import trackable
from ..core.export import export
from ..core.variable import Variable
from ..ir.builder import current
from . import checkpoint_format, tensorflow_checkpoint
from .checkpoint_state import CheckpointState
from .object_graph import ObjectGraph
from .options import TENSORFLOW
from .restore import LoadStatus, NothingRestored, Restoration
from .written_once import written_once


@export("train.Checkpoint")
class Checkpoint:
    """Saves the variables of the given objects, and restores them.

    With `MultiWorkerMirroredStrategy` all workers save: the first one writes, and the others wait for it.

    Args:
        root: an object whose children are saved under their own names.
        kwargs: further objects by name: variables, modules, optimizers, lists and dicts of these.

    Attributes: `save_counter`, a variable that counts the calls of `save`.

    Raises ValueError for an object that cannot hold variables.

    >>> import tempfile
    >>> w = Variable([1.0, 2.0])
    >>> checkpoint = Checkpoint(w=w)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = checkpoint.save(f"{folder}/ckpt")
    ...     _ = w.assign([0.0, 0.0])
    ...     status = checkpoint.restore(path).assert_consumed()
    >>> os.path.basename(path), w.numpy().tolist()
    ('ckpt-1', [1.0, 2.0])
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        vars(self)["_root"] = root
        if root is not None:
            _demand_trackable("root", root)
            if isinstance(root, Variable):
                raise ValueError(
                    "Checkpoint(root) takes an object with variables; name a variable: Checkpoint(v=v)"
                )
        for name, value in sorted(kwargs.items()):
            if root is not None and trackable.children(root).get(name, value) is not value:
                raise ValueError(f"the root has another object with the name {name!r}")
            _demand_trackable(name, value)
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        trackable.announce(self, name, value)

    def __children__(self) -> dict[str, Any]:
        own = trackable.attributes(self)
        root = own.pop("_root")
        return own if root is None else {**trackable.children(root), **own}

    @property
    def save_counter(self) -> Variable:
        """The number of calls of `save`, an int64 variable."""
        return self._counter()

    def _counter(self) -> Variable:
        if "save_counter" not in self.__children__():
            counter = Variable(np.int64(0), trainable=False, name="save_counter")
            vars(self)["save_counter"] = counter
            trackable.announce(self, "save_counter", counter)
        found: Variable = self.__children__()["save_counter"]
        return found

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Save under exactly this prefix, without a number, for `read`. Return the prefix.

        Args:
            file_prefix: the path.
            options: `CheckpointOptions`, whose `experimental_format` may be TensorFlow's.
        """
        refuse_in_functions("Checkpoint.write")
        prefix = str(os.fspath(file_prefix))
        written_once(prefix, self._writing(prefix, options))
        return prefix

    def _writing(self, prefix: str, options: Any) -> Callable[[], None]:
        """Return the function that writes the values of now, which all workers of a strategy have computed."""
        graph = ObjectGraph.of(self)
        if getattr(options, "experimental_format", None) == TENSORFLOW:
            contents = tensorflow_checkpoint.contents(graph)
            return lambda: checkpoint_format.write_bundle(prefix, contents)
        values = {key: variable._array for key, variable in graph.variables.items()}
        return lambda: checkpoint_format.write(prefix, graph.nodes, values)

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Save under the prefix with the next number, and make this the latest checkpoint of its folder.

        Returns the path for `restore`, such as "folder/ckpt-1".
        """
        refuse_in_functions("Checkpoint.save")
        prefix = str(os.fspath(file_prefix))
        counter = self._counter()
        counter._array = np.array(counter._array + 1)
        path = f"{prefix}-{int(counter._array)}"
        try:
            write = self._writing(path, options)
            written_once(path, lambda: _as_latest(path, write))
        except BaseException:
            counter._array = np.array(counter._array - 1)
            raise
        return path

    def read(self, save_path: Any, options: Any = None) -> LoadStatus:
        """Restore what `write` or `save` saved; values without a variable wait until it is created.

        Checkpoints of TensorFlow are read as well: of `tf.train.Checkpoint` by objects, of
        `tf.compat.v1.train.Saver` by the names of existing variables.

        Raises NotFoundError when there is no such checkpoint, DataLossError when it is damaged. For a value that
        does not fit its variable raises InvalidArgumentError (by its dtype) or ValueError (by its shape).
        """
        refuse_in_functions("Checkpoint.read")
        prefix = str(os.fspath(save_path))
        restoration = Restoration(checkpoint_format.read(prefix), prefix)
        if restoration.contents.nodes:
            restoration.match(self, 0)
        else:
            restoration.match_names(self)
        return LoadStatus(restoration, self)

    def restore(self, save_path: Any, options: Any = None) -> LoadStatus | NothingRestored:
        """Restore what `save` saved, including the counter of saves. For None, restore nothing."""
        if save_path is None:
            return NothingRestored()
        refuse_in_functions("Checkpoint.restore")
        status = self.read(save_path, options)
        self._counter()  # so that it gets its value now, and numbering continues
        return status


def _as_latest(path: str, write: Callable[[], None]) -> None:
    write()
    CheckpointState.of(os.path.dirname(path) or ".").with_latest(path).write()


def _demand_trackable(name: str, value: Any) -> None:
    if hasattr(value, "get_next") and not trackable.children(value):
        raise ValueError(
            f"Checkpoint cannot save the position of the iterator `{name}`: the order of its elements is random, and "
            "in memory only. Use `cache` before `shuffle`, and give each `shuffle` in a function of the dataset a seed"
        )
    if not (trackable.is_trackable(value) or isinstance(value, (list, dict))):
        raise ValueError(
            f"Checkpoint was expecting `{name}` to be a trackable object: a variable, a module, an optimizer or a "
            f"list or dict of these, but got {value!r}. To keep a Python number, make it a tf.Variable"
        )


def refuse_in_functions(what: str) -> None:
    """Raise NotImplementedError if a graph is being built."""
    if current() is not None:
        raise NotImplementedError(
            f"{what} writes or reads files now, not when a graph runs: call it outside of tf.function"
        )
