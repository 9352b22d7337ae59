"""Functions of Keras that recognize classes by the name of TensorFlow's modules, as tests of the runtime's classes."""

from __future__ import annotations

from typing import Any

from ...core.conversion import is_tensor
from ...data.dataset import Dataset
from ...ir.builder import current
from ...ragged.tensor import RaggedTensor
from ...sparse.tensor import SparseTensor


def is_tensorflow_tensor(value: Any) -> bool:
    """Return whether a value is a tensor, dense, sparse or ragged, as Keras distinguishes it from arrays."""
    return is_tensor(value)


def is_tensorflow_ragged(value: Any) -> bool:
    """Return whether a value is a ragged tensor."""
    return isinstance(value, RaggedTensor)


def is_tensorflow_sparse(value: Any) -> bool:
    """Return whether a value is a sparse tensor."""
    return isinstance(value, SparseTensor)


def is_tf_dataset(value: Any) -> bool:
    """Return whether a value is a dataset of `tf.data`."""
    return isinstance(value, Dataset)


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
    "keras.src.utils.dataset_utils": {"is_tf_dataset": is_tf_dataset},
}
"""Functions by the module of Keras that defines them."""
