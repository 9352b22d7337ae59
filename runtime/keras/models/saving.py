"""Weights and models in files: weights as a checkpoint, a model as a folder of its config and a checkpoint.

model.save("net")           net/model.json     the classes, their configs, what `compile` was given
                            net/weights…       the weights, and the optimizer's variables
load_model("net")           the model again; classes of the program's own are registered, or in `custom_objects`
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from agc import runtime as tf
from agc.runtime.storage.atomic_files import replacing

from ...storage.corruption import FAULTS
from .. import optimizers
from ..layers import _room
from ..registry import custom_object_scope, serialized

_CONFIG, _WEIGHTS = "model.json", "weights"


def _checked(filepath: Any) -> Path:
    path = Path(filepath)
    if path.suffix in (".h5", ".hdf5", ".keras"):
        raise ValueError(
            f"{str(path)!r}: files in HDF5, which .h5 and .keras are, are not supported. Leave the suffix away: "
            "weights are written as a checkpoint, a model as a folder"
        )
    return path


def save_weights(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Write the weights as a checkpoint with this prefix."""
    path = _checked(filepath)
    if not overwrite and list(path.parent.glob(path.name + ".*")):
        raise FileExistsError(f"{str(path)!r} exists, and `overwrite` is False")
    if not model.built:
        raise ValueError(f"the model {model.name!r} has no weights yet: call or build it first")
    path.parent.mkdir(parents=True, exist_ok=True)
    tf.train.Checkpoint(model=model).write(str(path))


def load_weights(model: Any, filepath: Any) -> Any:
    """Read the weights from such a checkpoint; those that are not made yet get theirs when they are."""
    return tf.train.Checkpoint(model=model).read(str(_checked(filepath)))


def save_model(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Write the model as a folder."""
    path = _checked(filepath)
    if not overwrite and path.exists():
        raise FileExistsError(f"{str(path)!r} exists, and `overwrite` is False")
    described = {"model": serialized(model), "compile": model.get_compile_config()}
    text = json.dumps(described, default=_plain, indent=1)
    path.mkdir(parents=True, exist_ok=True)
    with replacing(path / _CONFIG) as stream:
        stream.write(text.encode())
    parts = {"model": model} | ({} if model.optimizer is None else {"optimizer": model.optimizer})
    tf.train.Checkpoint(**parts).write(str(path / _WEIGHTS))


def _plain(value: Any) -> Any:
    """What JSON does not know: numbers of NumPy; all else is refused."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(
        f"{value!r} cannot be written into a model's config: give its class a `get_config` of plain values"
    )


def load_model(
    filepath: Any, custom_objects: Any = None, compile: bool = True, safe_mode: bool = True
) -> Any:
    """The model that `save` wrote, compiled as it was."""
    path = _checked(filepath)
    if not os.path.isfile(path / _CONFIG):
        raise ValueError(f"File not found: filepath={path}. There is no model in it that `model.save` wrote.")
    try:
        described = json.loads((path / _CONFIG).read_text())
        with custom_object_scope(custom_objects or {}):
            model = _room.deserialize(described["model"])
            parts = {"model": model}
            if compile and described["compile"] is not None:
                model.compile(**_revived(described["compile"]))
                parts["optimizer"] = model.optimizer
        tf.train.Checkpoint(**parts).read(str(path / _WEIGHTS)).expect_partial()
    except (
        *FAULTS,
        AssertionError,
        MemoryError,
        NotImplementedError,
        tf.errors.InvalidArgumentError,
    ) as error:
        raise ValueError(f"{path / _CONFIG} describes no model that can be made here: {error}") from error
    return model


def _revived(config: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `compile`, with objects in place of their configs."""
    revived = {name: _object(value) for name, value in config.items()}
    if isinstance(config["optimizer"], dict):
        revived["optimizer"] = optimizers.deserialize(config["optimizer"])
    return revived


def _object(value: Any) -> Any:
    if isinstance(value, dict):
        if "class_name" in value:
            return _room.deserialize(value)
        return {name: _object(item) for name, item in value.items()}
    return [_object(item) for item in value] if isinstance(value, list) else value
