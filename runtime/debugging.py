"""The namespace `tf.debugging`: assertions, and switches for debugging.

>>> assert_equal([1, 2], [1, 2])
>>> is_traceback_filtering_enabled()
True
"""
# Namespace debugging: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .core.devices import get_log_device_placement, set_log_device_placement
from .core.traceback_switch import (
    disable_traceback_filtering, enable_traceback_filtering, is_traceback_filtering_enabled,
)
from .ops.assertions.assert_op import Assert
from .ops.assertions.assert_shapes import assert_shapes
from .ops.assertions.static_assertions import (
    assert_integer, assert_proper_iterable, assert_rank, assert_rank_at_least, assert_rank_in,
    assert_same_float_dtype, assert_scalar, assert_type, is_numeric_tensor,
)
from .ops.assertions.value_assertions import (
    assert_equal, assert_greater, assert_greater_equal, assert_less, assert_less_equal, assert_near,
    assert_negative, assert_non_negative, assert_non_positive, assert_none_equal, assert_positive,
)
from .ops.math.check_numerics import assert_all_finite, check_numerics
from .ops.math.numerics_watch import disable_check_numerics, enable_check_numerics

__all__ = [
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer",
    "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank",
    "assert_rank_at_least", "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes",
    "assert_type", "check_numerics", "disable_check_numerics", "disable_traceback_filtering",
    "enable_check_numerics", "enable_traceback_filtering", "get_log_device_placement", "is_numeric_tensor",
    "is_traceback_filtering_enabled", "set_log_device_placement",
]

_explain(__name__)
