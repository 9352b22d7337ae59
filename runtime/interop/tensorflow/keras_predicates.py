"""Functions of Keras that recognize what is TensorFlow's by names of modules and by `types.FunctionType`.

They are here as tests of the runtime's own classes, and Keras's modules take them from `REPLACED` and `WRAPPED`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from agc.autograph.api import with_own_code

from ...core.tensor import Tensor
from ...data.dataset import Dataset
from ...distribute.input import DistributedDataset
from ...ir.builder import current
from ...ops.framework.op import Op
from ...ragged.tensor import RaggedTensor
from ...sparse.tensor import SparseTensor
from ...storage.gfile import makedirs
from .keras_files import deletes_in_first, saves_in_first, writes_once


def is_tensorflow_tensor(value: Any) -> bool:
    """Return whether a value is a tensor, dense, sparse or ragged, as Keras distinguishes it from arrays."""
    return isinstance(value, (Tensor, RaggedTensor, SparseTensor))


def is_tensorflow_ragged(value: Any) -> bool:
    """Return whether a value is a ragged tensor."""
    return isinstance(value, RaggedTensor)


def is_tensorflow_sparse(value: Any) -> bool:
    """Return whether a value is a sparse tensor."""
    return isinstance(value, SparseTensor)


def is_tf_dataset(value: Any) -> bool:
    """Return whether a value is a dataset of `tf.data`."""
    return isinstance(value, (Dataset, DistributedDataset))


def in_tf_graph() -> bool:
    """Return whether operations are traced into a graph now."""
    return current() is not None


REPLACED: dict[str, dict[str, Any]] = {
    "keras.src.trainers.data_adapters": {"is_tf_dataset": is_tf_dataset},
    "keras.src.trainers.data_adapters.data_adapter_utils": {
        "is_tensorflow_ragged": is_tensorflow_ragged,
        "is_tensorflow_sparse": is_tensorflow_sparse,
        "is_tensorflow_tensor": is_tensorflow_tensor,
    },
    "keras.src.utils.backend_utils": {"in_tf_graph": in_tf_graph},
    "keras.src.utils.file_utils": {"makedirs": makedirs},  # several processes may make a folder
    "keras.src.utils.dataset_utils": {"is_tf_dataset": is_tf_dataset},
}
"""Functions by the module of Keras that defines them."""


def serializes_operations(serialize: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of Keras such that it serializes an operation, `tf.nn.relu`, as the Python function that it is.

    Keras writes functions by name and module; it recognizes them by the class `types.FunctionType`.
    """

    @functools.wraps(serialize)
    def wrapped(value: Any) -> Any:
        return serialize(inspect.unwrap(value) if isinstance(value, Op) else value)

    return wrapped


def ignores_itself(init: Callable[..., None]) -> Callable[..., None]:
    """Return Keras's `Model.__init__` such that `super().__init__(self)` works, as with Keras 2.

    Documents for TensorFlow 2 have such calls.
    """

    @functools.wraps(init)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *(value for value in args if value is not self), **kwargs)

    return wrapped


def reset_states(metric: Any) -> None:
    """Call the metric's `reset_state`, whose name in Keras 2 was `reset_states`."""
    metric.reset_state()


def _resolve_auto_jit_compile(self: Any) -> None:
    """Return None for `jit_compile="auto"`: functions that run often are compiled, without a GPU as well."""


ADDED = {
    "keras.src.metrics.metric": ("Metric", reset_states),
    "keras.src.trainers.trainer": ("Trainer", _resolve_auto_jit_compile),
}
"""Methods by the module of Keras whose class gets them: the class, and the method."""


def dumps_own_code(dump: Callable[[FunctionType], Any]) -> Callable[[FunctionType], Any]:
    """Return Keras's `func_dump`, which writes the code of a `Lambda` layer, such that it writes unconverted code.

    Converted code refers to operators, and could not be loaded by other programs.
    """

    @functools.wraps(dump)
    def wrapped(function: FunctionType) -> Any:
        return dump(with_own_code(function))

    return wrapped


WRAPPED: dict[str, Sequence[tuple[str, str, Callable[[Any], Any]]]] = {
    "keras.src.activations": [("", "serialize", serializes_operations)],
    "keras.src.callbacks.backup_and_restore": [
        ("BackupAndRestore", "_save_model", saves_in_first),
        ("BackupAndRestore", "on_train_end", deletes_in_first),
    ],
    "keras.src.models.model": [("Model", "__init__", ignores_itself)],
    "keras.src.saving.saving_api": [("", "save_model", writes_once), ("", "save_weights", writes_once)],
    "keras.src.saving.serialization_lib": [("", "serialize_keras_object", serializes_operations)],
    "keras.src.utils.python_utils": [("", "func_dump", dumps_own_code)],
}
"""Decorators by the module of Keras whose functions they change: the function's class, or "", and its name."""
