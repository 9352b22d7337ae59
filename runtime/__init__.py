"""agc.runtime: tensors, graphs and `function`, with TensorFlow's names.

    import agc.runtime as tf

    @tf.function
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps
"""

from __future__ import annotations

from . import config, debugging, dtypes, errors, ir, nest
from .control_flow import case, cond, switch_case, while_loop
from .convert import convert_to_tensor, register_tensor_conversion_function
from .debugging import Assert, print
from .dtypes import (
    DType, as_dtype, bool_, complex64, complex128, double, float16, float32, float64, half, int8, int16, int32,
    int64, string, uint8, uint16, uint32, uint64,
)  # fmt: skip
from .ir.graph import Graph, Operation
from .shapes import TensorShape
from .staging import BACKEND
from .tensor import Tensor
from .tensor_array import TensorArray
from .tensor_spec import TensorSpec
from .tracing.concrete import ConcreteFunction
from .tracing.function import Function, function
from .variable import Variable

bool = bool_  # TensorFlow's name
