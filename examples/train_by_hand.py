"""Train a logistic regression with a loop of your own: a dataset, a tape, and one graph for a whole epoch."""

import agc.runtime as tf
import numpy as np

random = np.random.default_rng(0)
points = random.normal(size=(512, 2)).astype("float32")
labels = (points @ [2.0, -1.0] + 0.5 > 0).astype("float32")
batches = tf.data.Dataset.from_tensor_slices((points, labels)).batch(64)

w, b = tf.Variable(tf.zeros([2, 1])), tf.Variable(0.0)


@tf.function
def epoch(rate):
    total, count = 0.0, 0.0
    for x, y in batches:
        with tf.GradientTape() as tape:
            logits = (x @ w)[:, 0] + b
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
        for variable, gradient in zip((w, b), tape.gradient(loss, (w, b)), strict=True):
            variable.assign_sub(rate * gradient)
        total, count = total + loss, count + 1.0
    return total / count


for number in range(1, 31):
    loss = epoch(tf.constant(1.0))
    if number % 10 == 0:
        print(f"epoch {number}: loss {loss:.3f}")
right = tf.reduce_mean(tf.cast(((points @ w)[:, 0] + b > 0) == (labels > 0), tf.float32))
print(f"accuracy {right:.2f}")

# Output:
# epoch 10: loss 0.136
# epoch 20: loss 0.105
# epoch 30: loss 0.091
# accuracy 1.00
