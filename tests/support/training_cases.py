"""Models that are trained from given initial values: the loss of each step, as TensorFlow's and as agc's.

Each of `CASES` makes variables and a step: a function that changes them a little and gives the loss before. It is
called eagerly, as a `function`, and from a loop in a `function`; what TensorFlow's losses were is recorded in
`fixtures/tensorflow/training.json` (`make differential WITH=--record`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parents[2] / "fixtures" / "tensorflow" / "training.json"

Step = Callable[[Any], Any]
"""From the number of a step to its loss."""


def linear_regression(tf: Any) -> tuple[Step, int]:
    """A line through noisy points, by gradient descent."""
    r = np.random.RandomState(0)
    xs = r.uniform(-1.0, 1.0, 200).astype("f")
    ys = (3.0 * xs + 2.0 + 0.3 * r.randn(200)).astype("f")
    x, y = tf.constant(xs), tf.constant(ys)
    slope, height = tf.Variable(5.0), tf.Variable(0.0)

    def step(number: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(slope * x + height - y))
        by_slope, by_height = tape.gradient(loss, [slope, height])
        slope.assign_sub(0.1 * by_slope)
        height.assign_sub(0.1 * by_height)
        return loss

    return step, 40


def digits(tf: Any) -> tuple[Step, int]:
    """A perceptron of two layers on scikit-learn's pictures of digits, by descent with momentum, in batches."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    pictures, labels = load_digits(return_X_y=True)
    x, y = tf.constant((pictures / 16.0).astype("f")), tf.constant(labels.astype("i4"))
    r = np.random.RandomState(1)
    weights = [
        tf.Variable((r.randn(*shape) / np.sqrt(shape[0])).astype("f"))
        for shape in ((64, 32), (32,), (32, 10), (10,))
    ]
    speeds = [tf.Variable(tf.zeros(w.shape), trainable=False) for w in weights]

    def step(number: Any) -> Any:
        start = number * 64 % 1728
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x[start : start + 64] @ weights[0] + weights[1])
            logits = hidden @ weights[2] + weights[3]
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=y[start : start + 64], logits=logits
            )
            loss = tf.reduce_mean(losses)
        for weight, speed, grad in zip(weights, speeds, tape.gradient(loss, weights), strict=True):
            speed.assign(0.9 * speed - 0.05 * grad)
            weight.assign_add(speed)
        return loss

    return step, 60


def dynamic_rnn(tf: Any) -> tuple[Step, int]:
    """A recurrent cell in a loop over sequences of several lengths, which keeps its outputs in a TensorArray; Adam."""
    r = np.random.RandomState(2)
    inputs = r.randn(16, 9, 3).astype("f")
    sizes = r.randint(3, 10, 16).astype("i4")
    sums = np.array([row[:n, 0].sum() for row, n in zip(inputs, sizes, strict=True)], "f")
    x, lengths, y = tf.constant(inputs), tf.constant(sizes), tf.constant(sums)
    weights = [tf.Variable((0.4 * r.randn(*shape)).astype("f")) for shape in ((3, 8), (8, 8), (8,), (8, 1))]
    adam = tf.keras.optimizers.Adam(0.02)
    adam.build(weights)

    def predicted(batch: Any) -> Any:
        steps = tf.shape(batch)[1]
        outputs = tf.TensorArray(tf.float32, steps)
        state = tf.zeros([tf.shape(batch)[0], 8])
        for i in tf.range(steps):
            new = tf.tanh(batch[:, i] @ weights[0] + state @ weights[1] + weights[2])
            state = tf.where((i < lengths)[:, None], new, state)
            outputs = outputs.write(i, state)
        last = tf.transpose(outputs.stack(), [1, 0, 2])[:, -1]
        return tf.squeeze(last @ weights[3], -1)

    def step(number: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(predicted(x) - y))
        adam.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return step, 30


CASES = {"linear_regression": linear_regression, "digits": digits, "dynamic_rnn": dynamic_rnn}
WAYS = ("eager", "function", "loop")


def losses(tf: Any, name: str, way: str) -> list[float]:
    """The loss of each step of a case, trained in one of `WAYS`."""
    step, count = CASES[name](tf)
    if way == "loop":
        return all_in_graph(tf, step)(tf.constant(count)).numpy().tolist()  # type: ignore[no-any-return]
    called = tf.function(step) if way == "function" else step
    return [float(called(tf.constant(number))) for number in range(count)]


def all_in_graph(tf: Any, step: Step) -> Callable[[Any], Any]:
    """All steps as one loop of a graph."""

    @tf.function
    def train(count: Any) -> Any:
        losses = tf.TensorArray(tf.float32, count)
        for number in tf.range(count):
            losses = losses.write(number, step(number))
        return losses.stack()

    return train  # type: ignore[no-any-return]


def read() -> dict[str, list[float]]:
    """TensorFlow's losses."""
    found: dict[str, list[float]] = json.loads(PATH.read_text())
    return found


def record(tf: Any) -> None:
    """Write down the losses of the real TensorFlow."""
    lines = [
        f'"{name}": {json.dumps([float(f"{loss:.8g}") for loss in losses(tf, name, "eager")])}'
        for name in CASES
    ]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")
