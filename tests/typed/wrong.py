"""What mypy finds: each line is an error of the code in brackets, or `make lint` reports an unused comment."""

import agc.runtime as tf

x = tf.constant([1.0])
tf.reduce_sun(x)  # type: ignore[attr-defined]
tf.math.reduce_sun(x)  # type: ignore[attr-defined]
tf.linalg.matmull(x, x)  # type: ignore[attr-defined]
tf.config.list_physical_device()  # type: ignore[attr-defined]
tf.compat.as_byte("a")  # type: ignore[attr-defined]
tf.compat.v2.reduce_sun(x)  # type: ignore[attr-defined]
_ = tf.data.Datasets  # type: ignore[attr-defined]
tf.train.Chekpoint()  # type: ignore[attr-defined]
tf.random.unifrom([2])  # type: ignore[attr-defined]

tf.nn.relu(x, bogus=1)  # type: ignore[call-arg]
tf.reduce_sum(x, axes=0)  # type: ignore[call-arg]
tf.reduce_sum(x, keepdims="yes")  # type: ignore[arg-type]
tf.matmul(x)  # type: ignore[call-arg]
tf.linalg.matvec(x)  # type: ignore[call-arg]
tf.concat([x, x])  # type: ignore[call-arg]
tf.random.uniform([2], lower=0)  # type: ignore[call-arg]
tf.Variable(1.0, trainabel=False)  # type: ignore[call-arg]
tf.GradientTape(persist=True)  # type: ignore[call-arg]

x.nump()  # type: ignore[attr-defined]
_ = x.shapes  # type: ignore[attr-defined]


@tf.function
def scaled(value: tf.Tensor, factor: float) -> tf.Tensor:
    return value * factor


scaled(x, "two")  # type: ignore[arg-type]
scaled(x)  # type: ignore[call-arg]
text: str = scaled(x, 2.0)  # type: ignore[assignment]
