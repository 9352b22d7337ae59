"""Nests of tensors as JSON, so that both sides can compare values without sharing more than NumPy.

{"y": tf.constant([1.5])}      ⇄      {"dict": {"y": {"dtype": "float32", "shape": [1], "values": [1.5]}}}
"""

import math

import numpy as np

_PARTS = {"complex64": "float32", "complex128": "float64"}


def encode(value):
    """Return a nest of tensors, arrays and Python values as JSON data."""
    if isinstance(value, dict):
        return {"dict": {str(key): encode(item) for key, item in value.items()}}
    if isinstance(value, (list, tuple)):
        return {"list": [encode(item) for item in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"python": value}
    if hasattr(value, "to_list"):
        return {"ragged": [_text(item) for item in value.flat_values.numpy().ravel().tolist()]}
    array = value if isinstance(value, (np.ndarray, np.generic, bytes)) else value.numpy()
    return _array(np.asarray(array, object if isinstance(array, bytes) else None))


def _array(array):
    name = "string" if array.dtype.kind in "OSU" else array.dtype.name
    if name in _PARTS:
        items = array.reshape(-1, 1).view(_PARTS[name]).ravel().tolist()
    else:
        items = [_text(item) for item in array.ravel().tolist()]
    return {"dtype": name, "shape": list(array.shape), "values": items}


def _text(item):
    if isinstance(item, float) and not math.isfinite(item):
        return repr(item)
    return item.decode("latin-1") if isinstance(item, bytes) else item


def decode(data, tensor):
    """Return the nest of JSON data; `tensor` makes a tensor of an array."""
    if "dict" in data:
        return {key: decode(item, tensor) for key, item in data["dict"].items()}
    if "list" in data:
        return [decode(item, tensor) for item in data["list"]]
    if "python" in data:
        return data["python"]
    name, shape = data["dtype"], data["shape"]
    if name == "string":
        items = np.empty(len(data["values"]), object)
        items[:] = [item.encode("latin-1") for item in data["values"]]
        return tensor(items.reshape(shape))
    return tensor(np.array(data["values"], _PARTS.get(name, name)).view(name).reshape(shape))


def differences(found, wanted, tolerance=1e-5, path="result"):
    """Yield a sentence for each difference of two encoded nests."""
    if found.keys() != wanted.keys():
        yield f"{path}: {str(found)[:200]} instead of {str(wanted)[:200]}"
    elif "dict" in wanted or "list" in wanted:
        ours, theirs = (next(iter(nest.values())) for nest in (found, wanted))
        ours, theirs = (nest if isinstance(nest, dict) else dict(enumerate(nest)) for nest in (ours, theirs))
        if ours.keys() != theirs.keys():
            yield f"{path}: the parts {sorted(map(str, ours))} instead of {sorted(map(str, theirs))}"
            return
        for name in theirs:
            yield from differences(ours[name], theirs[name], tolerance, f"{path}/{name}")
    elif "values" in wanted:
        if (found["dtype"], found["shape"]) != (wanted["dtype"], wanted["shape"]):
            yield f"{path}: {found['dtype']}{found['shape']} instead of {wanted['dtype']}{wanted['shape']}"
        elif not _is_close(found, wanted, tolerance):
            yield f"{path}: {str(found['values'])[:200]} instead of {str(wanted['values'])[:200]}"
    elif found != wanted:
        yield f"{path}: {found} instead of {wanted}"


def _is_close(found, wanted, tolerance):
    if wanted["dtype"] == "string":
        return found["values"] == wanted["values"]
    ours, theirs = (np.array(each["values"], "float64") for each in (found, wanted))
    if wanted["dtype"].startswith(("float", "complex", "bfloat")):
        scale = 1.0 if not theirs.size else max(1.0, float(np.nanmax(np.abs(theirs), initial=1.0)))
        return np.allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    return np.array_equal(ours, theirs)
