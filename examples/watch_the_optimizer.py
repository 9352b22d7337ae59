"""Print a graph after each pass of the optimizer that changes it."""

import agc.runtime as tf
from agc.runtime.optimize import PASSES, optimize


@tf.function
def total(xs, n):
    scale = tf.reduce_sum(tf.constant([0.5, 1.5]))  # a constant
    result = 0.0
    for i in tf.range(n):
        result += xs[i] * 1.0 * tf.sqrt(scale)  # the root does not depend on i
    return result


graph = total.get_concrete_function(tf.zeros([8]), tf.constant(8)).graph
print(graph)
before = str(graph)
for row in PASSES:
    after = str(optimize(graph, after=row.name))
    if after != before:
        print(f"\nafter {row.name}:\n{after}")
    before = after

# Output:
# graph total(xs: float32[8], n: int32[]) -> float32[]
#   scale = reduce_sum [0.5, 1.5]                 : float32[]
#   range = range 0, n, 1 [dtype=int32]           : int32[?]
#   index, result = while 0, 0.0, n, xs, scale    : int32[], float32[]
#     test index, result, n, xs, scale
#       less = less index, n                      : bool[]
#       yield less
#     body index, result, n, xs, scale
#       add = add index, 1                        : int32[]
#       getitem = getitem xs, index [key='_']     : float32[]
#       multiply = multiply getitem, 1.0          : float32[]
#       sqrt = sqrt scale                         : float32[]
#       multiply.1 = multiply multiply, sqrt      : float32[]
#       result.1 = add result, multiply.1         : float32[]
#       yield add, result.1
#   return result
#
# after dce:
# graph total(xs: float32[8], n: int32[]) -> float32[]
#   scale = reduce_sum [0.5, 1.5]                 : float32[]
#   index, result = while 0, 0.0, n, xs, scale    : int32[], float32[]
#     test index, result, n, xs, scale
#       less = less index, n                      : bool[]
#       yield less
#     body index, result, n, xs, scale
#       add = add index, 1                        : int32[]
#       getitem = getitem xs, index [key='_']     : float32[]
#       multiply = multiply getitem, 1.0          : float32[]
#       sqrt = sqrt scale                         : float32[]
#       multiply.1 = multiply multiply, sqrt      : float32[]
#       result.1 = add result, multiply.1         : float32[]
#       yield add, result.1
#   return result
#
# after constant_fold:
# graph total(xs: float32[8], n: int32[]) -> float32[]
#   index, result = while 0, 0.0, n, xs, 2.0      : int32[], float32[]
#     test index, result, n, xs, scale
#       less = less index, n                      : bool[]
#       yield less
#     body index, result, n, xs, scale
#       add = add index, 1                        : int32[]
#       getitem = getitem xs, index [key='_']     : float32[]
#       multiply = multiply getitem, 1.0          : float32[]
#       multiply.1 = multiply multiply, 1.4142135 : float32[]
#       result.1 = add result, multiply.1         : float32[]
#       yield add, result.1
#   return result
#
# after algebraic_simplify:
# graph total(xs: float32[8], n: int32[]) -> float32[]
#   index, result = while 0, 0.0, n, xs, 2.0      : int32[], float32[]
#     test index, result, n, xs, scale
#       less = less index, n                      : bool[]
#       yield less
#     body index, result, n, xs, scale
#       add = add index, 1                        : int32[]
#       getitem = getitem xs, index [key='_']     : float32[]
#       multiply = multiply getitem, 1.4142135    : float32[]
#       result.1 = add result, multiply           : float32[]
#       yield add, result.1
#   return result
#
# after simplify_loops:
# graph total(xs: float32[8], n: int32[]) -> float32[]
#   index, result = while 0, 0.0, n, xs           : int32[], float32[]
#     test index, result, n, xs
#       less = less index, n                      : bool[]
#       yield less
#     body index, result, n, xs
#       add = add index, 1                        : int32[]
#       getitem = getitem xs, index [key='_']     : float32[]
#       multiply = multiply getitem, 1.4142135    : float32[]
#       result.1 = add result, multiply           : float32[]
#       yield add, result.1
#   return result
