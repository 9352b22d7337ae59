"""Rules by family of operations, which importing this package registers; see `rule_registry`."""

from . import (  # noqa: F401
    arrays,
    control_flow,
    convolution,
    coordinates,
    images,
    indexing,
    linalg,
    list_gradients,
    lists,
    math,
    neural,
    pooling,
    ragged,
    randomness,
    reductions,
    signal,
    sorting,
    state,
    strings,
)
