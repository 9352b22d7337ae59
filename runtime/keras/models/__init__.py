"""The module `tf.keras.models`: models, and making them again.

>>> model = Sequential([Dense(2, input_shape=(3,))])
>>> clone_model(model).count_params()
8
"""

from __future__ import annotations

import json
from typing import Any

from ...core.missing_names import explain as _explain
from ...storage.corruption import FAULTS as _FAULTS
from ..layers import _room as _layers_room
from ..layers.core import Dense as Dense
from .model import Functional, Model
from .saving import load_model, save_model
from .sequential import Sequential

for _kind in (Model, Functional, Sequential):
    _layers_room.add(_kind)


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model of the same layers, with weights of its own."""
    if input_tensors is not None or clone_function is not None:
        raise ValueError(
            "clone_model takes the model alone: `input_tensors` and `clone_function` are not supported"
        )
    clone = type(model).from_config(model.get_config())
    if model._build_shape is not None and not clone.built:
        clone.build(model._build_shape)
    return clone


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """The model that `to_json` described, with new weights."""
    try:
        return _layers_room.deserialize(json.loads(json_string), custom_objects)
    except _FAULTS as error:
        raise ValueError(f"the text describes no model that can be made here: {error}") from error


__all__ = ["Functional", "Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]

_explain(__name__)
