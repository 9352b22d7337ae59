"""Register PyTorch's tensors with autograph."""

from __future__ import annotations

from typing import Any

from agc.autograph import staging

import torch

from .builtins import BUILTINS
from .in_place import TorchBackend
from .library import LIBRARY


def _with_item(target: Any, key: Any, value: Any) -> Any:
    target[key] = value
    return target


staging.register(TorchBackend(LIBRARY, BUILTINS, _with_item), torch.Tensor, always=False)
