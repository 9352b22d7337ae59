"""The operation that checks that all elements are finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core.export import export
from ...core.tensor import Tensor
from ...ir import batching
from ...ir.traits import IDEMPOTENT, KEEPS_VARIABLES
from ...ir.value_types import TensorType
from ..framework.op import Input, Name, op
from ..framework.op_families import FLOATS, require_dtype


@export("debugging.check_numerics")
@op(stateful=True, traits=KEEPS_VARIABLES | IDEMPOTENT, batch=batching.unchanged, element_operands=1)
def check_numerics(tensor: Input, message: str, name: Name = None) -> TensorType:
    """Return `tensor`; at each run, raise InvalidArgumentError with `message` if it has NaN or infinite elements.

    >>> check_numerics([1.0, 2.0], "loss").numpy()
    array([1., 2.], dtype=float32)
    """
    require_dtype(tensor, FLOATS, "check_numerics")
    spec: TensorType = tensor.spec
    return spec


@check_numerics.kernel
def _(tensor: Any, message: str) -> Any:
    kinds = [name for name, found in (("Inf", np.isinf), ("NaN", np.isnan)) if found(tensor).any()]
    if kinds:
        raise errors.InvalidArgumentError(f"{message} : Tensor had {' and '.join(kinds)} values")
    return tensor


@check_numerics.gradient
def _(dy: Any, y: Any, tensor: Any, message: str) -> Any:
    return check_numerics(dy, "Not a number (NaN) or infinity (Inf) values detected in gradient.")


@export("debugging.assert_all_finite")
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """Return `x`; raise InvalidArgumentError with `message` when it has NaN or infinite elements, at each run.

    >>> assert_all_finite([1.0], "loss").numpy()
    array([1.], dtype=float32)
    """
    return check_numerics(x, message, name=name)  # type: ignore[no-any-return]
