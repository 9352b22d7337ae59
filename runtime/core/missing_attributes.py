"""Attributes of NumPy arrays, strings and lists that tensors do not have, and their replacements."""

from __future__ import annotations

from typing import NoReturn

INSTEAD = {
    "T": "tf.transpose(x)",
    "mT": "tf.linalg.matrix_transpose(x)",
    "to_device": "x, or tf.identity(x) under tf.device: there is one device",
    "size": "tf.size(x), or x.shape.num_elements() for what is known before the graph runs",
    "nbytes": "x.numpy().nbytes",
    "itemsize": "x.dtype.size",
    "flat": "tf.reshape(x, [-1])",
    "real": "tf.math.real(x)",
    "imag": "tf.math.imag(x)",
    "data": "x.numpy().data",
    "item": "x.numpy().item()",
    "tolist": "x.numpy().tolist()",
    "astype": "tf.cast(x, dtype)",
    "view": "tf.bitcast(x, dtype)",
    "copy": "tf.identity(x); a tensor never changes, so x itself will do",
    "fill": "tf.fill(x.shape, value)",
    "reshape": "tf.reshape(x, shape)",
    "ravel": "tf.reshape(x, [-1])",
    "flatten": "tf.reshape(x, [-1])",
    "transpose": "tf.transpose(x, perm)",
    "swapaxes": "tf.transpose(x, perm)",
    "squeeze": "tf.squeeze(x, axis)",
    "repeat": "tf.repeat(x, repeats, axis)",
    "take": "tf.gather(x, indices, axis=axis)",
    "sort": "tf.sort(x)",
    "argsort": "tf.argsort(x)",
    "clip": "tf.clip_by_value(x, low, high)",
    "round": "tf.round(x)",
    "conj": "tf.math.conj(x)",
    "dot": "tf.tensordot(x, y, 1), or x @ y for matrices",
    "cumsum": "tf.cumsum(x, axis)",
    "cumprod": "tf.math.cumprod(x, axis)",
    "sum": "tf.reduce_sum(x, axis)",
    "prod": "tf.reduce_prod(x, axis)",
    "mean": "tf.reduce_mean(x, axis)",
    "var": "tf.math.reduce_variance(x, axis)",
    "std": "tf.math.reduce_std(x, axis)",
    "max": "tf.reduce_max(x, axis)",
    "min": "tf.reduce_min(x, axis)",
    "any": "tf.reduce_any(x, axis)",
    "all": "tf.reduce_all(x, axis)",
    "argmax": "tf.argmax(x, axis)",
    "argmin": "tf.argmin(x, axis)",
    "nonzero": "tf.where(x)",
    "trace": "tf.linalg.trace(x)",
    "diagonal": "tf.linalg.diag_part(x)",
    "append": "tf.concat([x, [value]], 0), or append to a list: a tensor never changes",
    "extend": "tf.concat([x, values], 0)",
    "upper": "tf.strings.upper(x)",
    "lower": "tf.strings.lower(x)",
    "strip": "tf.strings.strip(x)",
    "split": "tf.strings.split(x, sep)",
    "replace": "tf.strings.regex_replace(x, pattern, rewrite)",
    "startswith": "tf.strings.substr(x, 0, len(prefix)) == prefix",
}


def missing(kind: str, name: str) -> AttributeError:
    """Return the error for an attribute that a tensor does not have.

    >>> missing("EagerTensor", "astype")
    AttributeError("'EagerTensor' object has no attribute 'astype': write tf.cast(x, dtype)")
    """
    instead = INSTEAD.get(name)
    advice = f": write {instead}" if instead else ""
    if instead and ".numpy()" in instead and kind == "SymbolicTensor":
        advice = f": it gets its value when the graph runs. Return it, and write {instead} there"
    return AttributeError(f"{kind!r} object has no attribute {name!r}{advice}")


class Missing:
    """Descriptor for an attribute that the instances of a class do not have.

    It replaces `__getattr__`, which would slow down every attribute access.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        if instance is None:
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {self.name!r}")
        raise missing(owner.__name__, self.name)


def declare_missing(kind: type) -> None:
    """Make missing attributes of a class's instances name their replacement."""
    for name in INSTEAD:
        setattr(kind, name, Missing(name))
