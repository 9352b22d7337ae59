"""The module `tf.keras.utils`: seeds, labels, sequences, registered classes, the progress bar."""

from __future__ import annotations

from ...core.missing_names import explain as _explain
from ..callbacks.progress import Progbar
from ..models.batches import packed as pack_x_y_sample_weight
from ..models.batches import unpacked as unpack_x_y_sample_weight
from ..naming import forget as clear_session
from ..random import set_random_seed
from ..registry import (
    custom_object_scope,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
)
from ..registry import serialized as serialize_keras_object
from ..symbolic import is_keras_tensor
from .arrays import PyDataset, Sequence, normalize, pad_sequences, to_categorical

CustomObjectScope = custom_object_scope

__all__ = [
    "CustomObjectScope", "Progbar", "PyDataset", "Sequence", "clear_session", "custom_object_scope",
    "get_custom_objects", "get_registered_name", "get_registered_object", "is_keras_tensor", "normalize",
    "pack_x_y_sample_weight", "pad_sequences", "register_keras_serializable", "serialize_keras_object",
    "set_random_seed", "to_categorical", "unpack_x_y_sample_weight",
]  # fmt: skip

_explain(__name__)
