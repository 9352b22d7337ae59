"""Random networks of convolutions, pools and normalizations with odd geometry, and their gradients in each executor.

    Network(seed)   x: float32[2, 1, 7, 4], conv2d [3, 1, 2, 6] stride (2, 1) "SAME", relu, max_pool2d 2, …
    disagreements(network)   ==>   differences of eager calls, plan and native code from the interpreter

Half of the networks are exact: small whole numbers, whose products and sums have no rounding errors, and many
equal numbers under the windows of pools. The other half are compared within a multiple of the rounding errors, which
the interpreter estimates with float64.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
from agc.runtime.executors import Plan, interpret
from agc.runtime.executors.llvm import JitFunction

TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-9}

Layer = Callable[..., Any]
"""From a tensor and its weights to a tensor."""


class Network:
    """A network that a seed describes: layers, each with the shapes of its weights."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.is_exact = self.chance(0.5)
        self.dtype = "float32" if self.chance(0.7) else self.one_of("float64", "float16")
        if self.dtype == "float16":
            self.is_exact = False
        self.has_odd_values = self.chance(0.15)
        self.texts: list[str] = []
        self.layers: list[tuple[Layer, int]] = []
        self.arrays = [self.array(self.first_shape())]
        self.shape = self.arrays[0].shape
        for _ in range(self.random.randint(1, 4)):
            self.grow()
        self.spoil()

    def __str__(self) -> str:
        kind = "exact " if self.is_exact else ""
        return f"{kind}{self.dtype}{list(self.arrays[0].shape)}: {', '.join(self.texts)}"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one_of(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def first_shape(self) -> tuple[int, ...]:
        images = self.one_of(0, 1, 1, 2, 2, 3, 5, 8)
        sizes = [self.one_of(1, 1, 2, 3, 4, 5, 7, 8, 12, 17) for _ in range(2)]
        return (images, *sizes, self.one_of(1, 1, 2, 3, 4, 6, 8, 16))

    def array(self, shape: tuple[int, ...]) -> Any:
        """Return numbers in this shape; some are not contiguous."""
        turned = self.chance(0.2)
        drawn = shape[::-1] if turned else shape
        values = (
            self.numbers.integers(-2, 3, drawn) if self.is_exact else self.numbers.normal(size=drawn)
        ).astype(self.dtype)
        return values.T if turned else values

    def spoil(self) -> None:
        """Put an infinite number or NaN into the input.

        Not into filters: whether infinity meets the zeros of a padding depends on the algorithm, as in TensorFlow.
        """
        array = self.arrays[0]
        if self.has_odd_values and array.size:
            position = tuple(self.random.randrange(size) for size in array.shape)
            array[position] = self.one_of(np.nan, np.inf, -np.inf)

    def grow(self) -> None:
        kinds = [
            self.conv,
            self.conv,
            self.conv,
            self.depthwise,
            self.transposed,
            self.pool,
            self.pool,
            self.bias,
        ]
        if not self.is_exact:
            kinds += [self.normalization, self.normalization]
        self.one_of(*kinds)()

    def add(self, text: str, layer: Layer, *weights: tuple[int, ...]) -> None:
        """Append a layer, unless its result would be large or not be defined."""
        arrays = [self.array(shape) for shape in weights]
        specs = [tf.TensorSpec(shape, self.dtype) for shape in (self.shape, *weights)]
        try:
            shape = tuple(tf.function(layer).get_concrete_function(*specs).structured_outputs.shape)
        except (ValueError, tf.errors.InvalidArgumentError):
            return
        if int(np.prod(shape)) <= 40_000:
            self.texts.append(text)
            self.layers.append((layer, len(weights)))
            self.arrays += arrays
            self.shape = shape

    def window(self) -> list[int]:
        return [self.one_of(1, 1, 2, 3, 3, 5) for _ in range(2)]

    def setting(self) -> dict[str, Any]:
        strides, dilations = [self.one_of(1, 1, 2, 3), self.one_of(1, 1, 2)], [1, 1]
        if self.chance(0.25):
            strides, dilations = [1, 1], [self.one_of(1, 2, 3), self.one_of(1, 2)]
        padding: Any = self.one_of("SAME", "VALID")
        if self.chance(0.15):
            padding = [[0, 0], *([self.one_of(0, 1, 3), self.one_of(0, 2)] for _ in range(2)), [0, 0]]
        return {"strides": strides, "padding": padding, "dilations": dilations}

    def conv(self) -> None:
        channels, setting = self.shape[-1], self.setting()
        groups = self.random.choice([n for n in range(1, channels + 1) if channels % n == 0])
        filter = (*self.window(), channels // groups, groups * self.one_of(1, 2, 3))
        ends = self.one_of(lambda y: y, tf.nn.relu, lambda y: tf.maximum(y, 1) * 2)
        self.add(f"conv {filter} {setting}", lambda x, w: ends(tf.nn.conv2d(x, w, **setting)), filter)

    def depthwise(self) -> None:
        setting, stride = self.setting(), self.one_of(1, 1, 2, 3)
        padding = self.one_of("SAME", "VALID")
        rates = setting["dilations"] if stride == 1 else [1, 1]
        filter = (*self.window(), self.shape[-1], self.one_of(1, 1, 2))
        self.add(
            f"depthwise {filter} {stride} {padding} {rates}",
            lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding, dilations=rates),
            filter,
        )

    def transposed(self) -> None:
        window, stride = self.window(), self.one_of(1, 2, 3)
        images, height, width, channels = self.shape
        shape = [images, height * stride, width * stride, self.one_of(1, 2, 5)]
        filter = (*window, shape[-1], channels)
        self.add(
            f"transposed {filter} {stride}", lambda x, w: tf.nn.conv2d_transpose(x, w, shape, stride), filter
        )

    def pool(self) -> None:
        kind, window = self.one_of("max", "max", "avg"), self.window()
        if kind == "avg" and self.is_exact:
            kind = "max"
        strides, padding = [self.one_of(1, 2, 3), self.one_of(1, 2)], self.one_of("SAME", "VALID")
        function = tf.nn.max_pool2d if kind == "max" else tf.nn.avg_pool2d
        self.add(f"{kind} pool {window} {strides} {padding}", lambda x: function(x, window, strides, padding))

    def bias(self) -> None:
        self.add("bias, relu", lambda x, b: tf.nn.relu(x + b), (self.shape[-1],))

    def normalization(self) -> None:
        count = self.shape[-1]

        def layer(x: Any, scale: Any, offset: Any) -> Any:
            mean, variance = tf.nn.moments(x, [0, 1, 2])
            return tf.nn.batch_normalization(x, mean, variance, offset, scale, 0.1)

        def fused(x: Any, scale: Any, offset: Any) -> Any:
            none = tf.zeros([0])
            scale, offset = tf.cast(scale, tf.float32), tf.cast(offset, tf.float32)
            return tf.raw_ops.FusedBatchNormV3(
                x=x, scale=scale, offset=offset, mean=none, variance=none, epsilon=0.1
            )[0]

        chosen = fused if self.dtype == "float32" and self.chance(0.7) else layer
        self.add(chosen.__name__.replace("layer", "normalization"), chosen, (count,), (count,))

    def __call__(self, *values: Any) -> Any:
        """Return the result and the gradients of its weighted sum."""
        with tf.GradientTape() as tape:
            tape.watch(values)
            y, rest = values[0], iter(values[1:])
            for layer, count in self.layers:
                y = layer(y, *(next(rest) for _ in range(count)))
            factors = tf.reshape(tf.range(tf.size(y)) % 5 - 2, tf.shape(y))
            loss = tf.reduce_sum(y * tf.cast(factors, y.dtype))
        found = tape.gradient(loss, values, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return [y, *found]


def disagreements(network: Network) -> Iterator[str]:
    """Yield the results of executors that differ from the interpreter's."""
    arrays = network.arrays
    graph = tf.function(network).get_concrete_function(*map(tf.constant, arrays)).graph
    wanted = interpret(graph, arrays)
    errors = _rounding_errors(network, wanted)
    runs: dict[str, Callable[[], Any]] = {
        "eager": lambda: network(*map(tf.constant, arrays)),
        "plan": lambda: Plan(graph)(*arrays),
        "native": lambda: JitFunction(graph).run(arrays),
        "function": lambda: tf.function(network, jit_compile=True)(*arrays),
    }
    for name, run in runs.items():
        for number, (found, value, error) in enumerate(zip(run(), wanted, errors, strict=True)):
            text = _difference(np.asarray(found), value, error)
            if text:
                yield f"{name}, result {number}: {text}"


def _rounding_errors(network: Network, wanted: Any) -> list[float]:
    """Return the tolerated absolute error of each result."""
    if network.is_exact:
        return [0.0 for _ in wanted]
    exact = [array.astype("float64") for array in network.arrays]
    graph = tf.function(network).get_concrete_function(*map(tf.constant, exact)).graph
    least = TOLERANCES[network.dtype]
    errors = []
    for value, other in zip(wanted, interpret(graph, exact), strict=True):
        with np.errstate(all="ignore"):
            finite = np.isfinite(value) & np.isfinite(other)
            values = value.astype("float64")
        size = np.abs(other[finite]).max(initial=0.0)
        errors.append(float(least * (1.0 + size) + 16 * np.abs(values - other)[finite].max(initial=0.0)))
    return errors


def _difference(found: Any, wanted: Any, error: float) -> str:
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    with np.errstate(all="ignore"):
        apart = np.abs(found.astype("float64") - wanted.astype("float64"))
        is_equal = (found == wanted) | (np.isnan(found) & np.isnan(wanted)) | (apart <= error)
    if is_equal.all():
        return ""
    position = tuple(int(index[0]) for index in np.nonzero(~is_equal))
    count = int((~is_equal).sum())
    return f"{count} of {found.size} differ, first at {position}: {found[position]} instead of {wanted[position]}"
