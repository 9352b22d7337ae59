"""Show a function as generated code and as a graph, and run the graph.

python examples/see_a_function.py
"""

import agc.runtime as tf
from agc import autograph


def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


print(autograph.to_code(gcd))

staged = tf.function(gcd)
print(staged.get_concrete_function(tf.constant(48), tf.constant(36)).graph)
print(staged(tf.constant(48), tf.constant(36)).numpy())

# Output:
# from agc.autograph import operators as ag__
#
#
# def gcd(a, b):
#     def loop_body(a, b):
#         a, b = b, a % b
#         return (a, b)
#     (a, b) = ag__.while_loop(lambda a, b: b != 0, loop_body, (a, b))
#     return a
#
# graph gcd(a: int32[], b: int32[]) -> int32[]
#   a.1, b.1 = while a, b                         : int32[], int32[]
#     test a, b
#       not_equal = not_equal b, 0                : bool[]
#       yield not_equal
#     body a, b
#       b.1 = floormod a, b                       : int32[]
#       yield b, b.1
#   return a.1
# 12
