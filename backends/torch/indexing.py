"""Items of tensors at traced indices, which torch would read as numbers while it traces.

x[k]        ⇒    index(x, [k])
x[k] = v    ⇒    index_put_(x, [k], v)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode


class TracedIndices(TorchFunctionMode):  # type: ignore[misc]  # torch is untyped where it is not installed
    """Stages items whose indices are traced scalars."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if function is torch.Tensor.__getitem__ and _is_traced(args[1]):
            return _item(args[0], args[1])
        if function is torch.Tensor.__setitem__ and _is_traced(args[1]):
            return _set_item(*args)
        return function(*args, **(kwargs or {}))


def _keys(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _is_traced(key: Any) -> bool:
    return any(map(_is_scalar, _keys(key)))


def _is_scalar(key: Any) -> bool:
    return (
        isinstance(key, FakeTensor)
        and key.ndim == 0
        and key.dtype != torch.bool
        and not key.is_floating_point()
    )


def _item(target: Any, key: Any) -> Any:
    view, scalars = _front(target, key)
    return torch.ops.aten.index.Tensor(view, scalars)


def _set_item(target: Any, key: Any, value: Any) -> None:
    view, scalars = _front(target, key)
    value = torch.as_tensor(value, dtype=target.dtype, device=target.device)
    view.index_put_(scalars, value.expand(view.shape[len(scalars) :]))


def _front(target: Any, key: Any) -> tuple[Any, list[Any]]:
    """Return the scalars, and a view of the tensor by the other parts of the key, with their axes in front."""
    view, scalars = _split(target, key)
    places = [place for place, scalar in enumerate(scalars) if scalar is not None]
    rest = [place for place in range(view.ndim) if place not in places]
    return view.permute(*places, *rest), [scalars[place] for place in places]


def _split(target: Any, key: Any) -> tuple[Any, list[Any]]:
    """Return a view by the other parts of the key, and for each of its axes the scalar or None."""
    keys = _keys(key)
    if Ellipsis in [each for each in keys if not isinstance(each, torch.Tensor)]:
        at = next(place for place, each in enumerate(keys) if each is Ellipsis)
        used = sum(each is not None and each is not Ellipsis for each in keys)
        keys = (*keys[:at], *[slice(None)] * (target.ndim - used), *keys[at + 1 :])
    view = target[tuple(slice(None) if _is_scalar(each) else each for each in keys)]
    scalars = [each if _is_scalar(each) else None for each in keys if not isinstance(each, int)]
    return view, scalars
