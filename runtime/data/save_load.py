"""`save` and `load`: a folder with `elements.rows` (see `cache.py`) and `spec.json`, the spec of the elements.

{"tuple": [{"tensor": ["float32", [null, 3]]}, {"none": null}]}
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import Any

from .. import errors, nest
from ..core.tensor_spec import TensorSpec
from ..storage import checksummed_json
from ..storage.atomic_files import drafts_of
from ..storage.corruption import reading
from ..storage.locks import remove_leftovers
from .cache import Stored, written
from .dataset import Dataset
from .element_spec import NoneTensorSpec, leaf_specs

_SPEC, _ROWS = "spec.json", "elements.rows"
_OF_TENSORFLOW = "dataset_spec.pb"


def saved(dataset: Any, path: Any) -> None:
    folder = Path(path)
    described = _described(dataset.element_spec)
    folder.mkdir(parents=True, exist_ok=True)
    deque(written(dataset._known().elements(), os.fspath(folder / _ROWS)), maxlen=0)
    checksummed_json.write(folder / _SPEC, "dataset", 1, described)
    remove_leftovers(folder, drafts_of(_SPEC))


def loaded(path: Any, element_spec: Any) -> Dataset:
    spec_path = Path(path, _SPEC)
    # `Path.exists` raises an error for a name that is too long.
    if not os.path.exists(spec_path) and os.path.exists(spec_path.with_name(_OF_TENSORFLOW)):
        raise errors.UnimplementedError(
            f"{spec_path.parent} is a saved dataset of TensorFlow, with the file {_OF_TENSORFLOW}; agc does not read it"
        )
    described = checksummed_json.read(spec_path, "dataset", 1)
    with reading(spec_path):
        spec = _read(described)
    if element_spec is not None:
        if leaf_specs(element_spec) != leaf_specs(spec):
            raise ValueError(f"load: the elements are {spec!r}, not {element_spec!r}")
        spec = element_spec
    return Dataset(Stored(os.path.join(os.fspath(path), _ROWS), spec))


def _described(spec: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return {"tensor": [spec.dtype.name, spec.spec.shape]}
    if isinstance(spec, NoneTensorSpec):
        return {"none": None}
    if type(spec) is tuple:
        return {"tuple": [_described(part) for part in spec]}
    if type(spec) is dict and all(isinstance(key, str) for key in spec):
        return {"dict": {key: _described(part) for key, part in spec.items()}}
    kind = type(spec).__name__ if nest.is_nested(spec) else spec
    raise errors.UnimplementedError(
        f"save: elements with {kind!r} cannot be written: use tuples and dicts of tensors"
    )


def _read(described: Any) -> Any:
    ((kind, content),) = described.items()
    if kind == "tensor":
        dtype, shape = content
        return TensorSpec(shape, dtype)
    if kind == "tuple":
        return tuple(map(_read, content))
    if kind == "dict":
        return {key: _read(part) for key, part in content.items()}
    if kind == "none":
        return NoneTensorSpec()
    raise ValueError(f"{kind!r} is not a kind of spec")
