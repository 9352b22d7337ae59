"""The training step of mlp.py without a graph: each operation runs by itself, and a tape records it."""

from __future__ import annotations

from .mlp import FULL, MOMENTUM, RATE, STEPS, TINY, _data, by_hand, limit, torch  # noqa: F401  (the same program)

TITLE = "eager MLP training step, tape, momentum"
ONLY_EAGER = True


def tensorflow(tf, compiled, batch, layers):
    def step():
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
            h = tf.nn.relu(tf.matmul(h, weights[2]) + weights[3])
            logits = tf.matmul(h, weights[4]) + weights[5]
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for gradient, weight, velocity in zip(tape.gradient(loss, weights), weights, velocities):  # noqa: B905
            velocity.assign(MOMENTUM * velocity + gradient)
            weight.assign_sub(RATE * velocity)
        return loss

    x, labels, initial = _data(batch, layers)
    weights = [tf.Variable(value) for value in initial]
    velocities = [tf.Variable(tf.zeros_like(value)) for value in initial]
    x, labels = tf.constant(x), tf.constant(labels)
    return step
