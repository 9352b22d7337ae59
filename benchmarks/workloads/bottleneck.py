"""A bottleneck block of a residual network: four convolutions, each normalized over the batch, and a shortcut.

`what` is "forward" with given means and variances, or "training": those of the batch, all gradients, and a step.
"""

from __future__ import annotations

import functools

import numpy as np

TITLE = "bottleneck block 56x56x64 to 256, {what}"
FULL = {"batch": 8, "size": 56, "channels": 64, "width": 64, "grown": 256}
TINY = {"batch": 2, "size": 5, "channels": 3, "width": 4, "grown": 6}
RATE, EPSILON = 0.01, 1e-3
STEPS = 3
EAGER = False


def _data(batch, size, channels, width, grown):
    """Return images with the channels last, a target, and weights and moments of each convolution."""
    random = np.random.default_rng(0)
    x = random.standard_normal((batch, size, size, channels), np.float32)
    target = random.standard_normal((batch, size, size, grown), np.float32)
    layers = []
    inner = (1, channels, width), (3, width, width), (1, width, grown)
    for window, taken, given in (*inner, (1, channels, grown)):
        shape = (window, window, taken, given)
        filters = random.standard_normal(shape, np.float32) * np.float32((window**2 * taken) ** -0.5)
        scale, variance = (random.uniform(0.5, 1.5, given).astype(np.float32) for _ in range(2))
        offset, mean = (random.standard_normal(given, np.float32) * np.float32(0.1) for _ in range(2))
        layers.append((filters, scale, offset, mean, variance))
    return x, target, layers


def tensorflow(tf, compiled, what, **sizes):
    training = what == "training"

    def normalized(x, filters, scale, offset, mean, variance):
        y = tf.nn.conv2d(x, filters, 1, "SAME")
        if training:
            found = tf.raw_ops.FusedBatchNormV3(
                x=y, scale=scale, offset=offset, mean=[], variance=[], epsilon=EPSILON
            )
            return found[0]
        return tf.nn.batch_normalization(y, mean, variance, offset, scale, EPSILON)

    def block(x):
        h = tf.nn.relu(normalized(x, *layers[0]))
        h = tf.nn.relu(normalized(h, *layers[1]))
        return tf.nn.relu(normalized(h, *layers[2]) + normalized(x, *layers[3]))

    @tf.function(jit_compile=compiled)
    def forward(x):
        return block(x)

    @tf.function(jit_compile=compiled)
    def step(x, target):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(block(x) - target))
        for gradient, weight in zip(tape.gradient(loss, weights), weights):  # noqa: B905
            weight.assign_sub(RATE * gradient)
        return loss

    x, target, initial = _data(**sizes)
    layers = [[tf.Variable(value) for value in layer] for layer in initial]
    weights = [value for layer in layers for value in layer[:3]]
    x, target = tf.constant(x), tf.constant(target)
    return (lambda: step(x, target)) if training else (lambda: forward(x))


def jax(jax, what, **sizes):
    numpy = jax.numpy
    training = what == "training"

    def normalized(x, filters, scale, offset, mean, variance):
        form = ("NHWC", "HWIO", "NHWC")
        y = jax.lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=form)
        if training:
            mean = y.mean((0, 1, 2))
            variance = numpy.square(y - mean).mean((0, 1, 2))
        return (y - mean) * (scale * jax.lax.rsqrt(variance + EPSILON)) + offset

    def block(layers, x):
        h = jax.nn.relu(normalized(x, *layers[0]))
        h = jax.nn.relu(normalized(h, *layers[1]))
        return jax.nn.relu(normalized(h, *layers[2]) + normalized(x, *layers[3]))

    def loss(layers, x, target):
        return numpy.mean(numpy.square(block(layers, x) - target))

    @functools.partial(jax.jit, donate_argnums=0)  # what is replaced lends its memory
    def step(layers, x, target):
        value, gradients = jax.value_and_grad(loss)(layers, x, target)
        pairs = zip(layers, gradients, strict=True)
        return [[w - RATE * g for w, g in zip(*pair, strict=True)] for pair in pairs], value

    def run():
        nonlocal layers
        layers, value = step(layers, x, target)
        return jax.block_until_ready((layers, value))[1]

    x, target, initial = _data(**sizes)
    layers = [[numpy.array(value) for value in layer] for layer in initial]
    x, target = numpy.asarray(x), numpy.asarray(target)
    forward = jax.jit(block)
    return run if training else lambda: jax.block_until_ready(forward(layers, x))


def torch(torch, compiled, what, **sizes):
    """Images have their channels first."""
    functions = torch.nn.functional
    training = what == "training"

    def normalized(x, filters, scale, offset, mean, variance):
        y = functions.conv2d(x, filters, padding="same")
        given = (None, None) if training else (mean, variance)
        return functions.batch_norm(y, *given, scale, offset, training=training, eps=EPSILON)

    def block(x):
        h = torch.relu(normalized(x, *layers[0]))
        h = torch.relu(normalized(h, *layers[1]))
        return torch.relu(normalized(h, *layers[2]) + normalized(x, *layers[3]))

    def loss_of(x, target):
        return (block(x) - target).square().mean()

    def step():
        loss = run(x, target)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            torch._foreach_add_(weights, gradients, alpha=-RATE)
        return loss.detach()

    def forward():
        with torch.no_grad():
            return run(x).permute(0, 2, 3, 1)

    def converted(value):
        return torch.from_numpy(value.transpose(3, 2, 0, 1).copy() if value.ndim == 4 else value.copy())

    x, target, initial = _data(**sizes)
    layers = [[converted(value) for value in layer] for layer in initial]
    weights = [value.requires_grad_() for layer in layers for value in layer[:3]]
    x, target = (torch.from_numpy(value.transpose(0, 3, 1, 2).copy()) for value in (x, target))
    run = loss_of if training else block
    run = torch.compile(run) if compiled else run
    return step if training else forward


def _windows(x, window):
    """Return the windows around each element: [image, row, column, window and channels]."""
    margin = (window // 2, window // 2)
    wide = np.pad(x, ((0, 0), margin, margin, (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (window, window), (1, 2))
    return windows.transpose(0, 1, 2, 4, 5, 3).reshape(*x.shape[:3], -1)


class _Layer:
    """A convolution and its normalization, forward and back."""

    def __init__(self, filters, scale, offset, mean, variance):
        self.filters, self.scale, self.offset = filters, scale, offset
        self.mean, self.variance = mean, variance

    def forward(self, x, training):
        self.rows = _windows(x, len(self.filters))
        y = self.rows @ self.filters.reshape(-1, self.filters.shape[-1])
        if training:
            self.mean = y.mean((0, 1, 2))
            self.variance = np.square(y - self.mean).mean((0, 1, 2))
        self.factor = 1 / np.sqrt(self.variance + np.float32(EPSILON))
        self.normal = (y - self.mean) * self.factor
        return self.normal * self.scale + self.offset

    def back(self, dy):
        """Make a step; return the gradient of the input."""
        axes = (0, 1, 2)
        d_offset, d_scale = dy.sum(axes), (dy * self.normal).sum(axes)
        count = np.float32(np.prod(dy.shape[:3]))
        centered = dy - d_offset / count - self.normal * (d_scale / count)
        d = centered * (self.scale * self.factor)
        d_filters = np.tensordot(self.rows, d, (axes, axes)).reshape(self.filters.shape)
        flipped = self.filters[::-1, ::-1].swapaxes(2, 3)
        dx = _windows(d, len(flipped)) @ flipped.reshape(-1, flipped.shape[-1])
        for weight, gradient in (
            (self.filters, d_filters), (self.scale, d_scale), (self.offset, d_offset),
        ):  # fmt: skip
            weight -= np.float32(RATE) * gradient
        return dx


def by_hand(what, **sizes):
    training = what == "training"

    def block():
        h1 = np.maximum(layers[0].forward(x, training), 0)
        h2 = np.maximum(layers[1].forward(h1, training), 0)
        return h1, h2, np.maximum(layers[2].forward(h2, training) + layers[3].forward(x, training), 0)

    def step():
        h1, h2, y = block()
        loss = np.square(y - target).mean()
        d = (y - target) * np.float32(2 / y.size) * (y > 0)
        layers[3].back(d)
        layers[0].back(layers[1].back(layers[2].back(d) * (h2 > 0)) * (h1 > 0))
        return loss

    x, target, initial = _data(**sizes)
    layers = [_Layer(*layer) for layer in initial]
    return step if training else lambda: block()[-1]


def limit(compiled_c, what, batch, size, channels, width, grown):
    """The products alone: forward, and for training back to each filter and to the input of two of them."""

    def products():
        for number, (a, b) in enumerate(factors):
            c = np.matmul(a, b)
            if what == "training":
                np.matmul(a.T, c)
                if number in (1, 2):
                    np.matmul(c, b.T)

    rows = batch * size**2
    shapes = ((channels, width), (9 * width, width), (width, grown), (channels, grown))
    factors = [(np.ones((rows, k), np.float32), np.ones((k, n), np.float32)) for k, n in shapes]
    return products
