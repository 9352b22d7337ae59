"""The graph optimizer: turn a traced graph into an equivalent graph that runs faster.

>>> from agc import runtime as tf
>>> from agc.runtime.optimize import optimize
>>> graph = tf.function(lambda x: x + tf.constant(2.0) * 3.0).get_concrete_function(tf.TensorSpec(())).graph
>>> print(optimize(graph))
graph lambda_(x: float32[]) -> float32[]
  add = add x, 6.0                              : float32[]
  return add

The passes are listed in `pass_table.py`; `rewriter.py` is the framework that they use.
"""

from .options import OptimizerOptions
from .pass_manager import optimize, optimize_for_shapes
from .pass_table import PASSES, Pass

__all__ = ["PASSES", "OptimizerOptions", "Pass", "optimize", "optimize_for_shapes"]
