"""Graphs that are put together first and run by sessions later: TensorFlow 1's way.

    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32)
        y = x * 2
    tf.compat.v1.Session(graph=y.graph).run(y, {x: 3.0})        6.0

graph_builder.py: graphs that grow; variables.py: variables whose values a session keeps; session.py: running parts of a
graph; variable_scope.py: `variable_scope` and `get_variable`.
"""
