"""Graphs that are built first and run by sessions later, as in TensorFlow 1.

    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32)
        y = x * 2
    tf.compat.v1.Session(graph=y.graph).run(y, {x: 3.0})        6.0

graph_builder.py: growing graphs; variables.py: variables whose values a session holds; session.py: execution of a
graph's parts; variable_scope.py: `variable_scope` and `get_variable`.
"""
