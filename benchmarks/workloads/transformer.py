"""A step of training: a transformer that predicts the next token, cross entropy, gradients, and Adam."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

TITLE = "transformer training step, Adam"
FULL = {"batch": 8, "length": 128, "width": 256, "heads": 8, "hidden": 1024, "layers": 2, "words": 1000}
TINY = {"batch": 2, "length": 5, "width": 8, "heads": 2, "hidden": 12, "layers": 1, "words": 11}
RATE, FIRST, SECOND, LEAST, EPSILON = 1e-3, 0.9, 0.999, 1e-8, 1e-5
STEPS = 3
EAGER = False

GELU = 0.7978845608028654, 0.044715
HIDDEN = np.float32(-1e9)


class Layer(NamedTuple):
    """The weights of a layer: attention and a dense network, each after a normalization."""

    scale1: object
    shift1: object
    query: object
    query_bias: object
    key: object
    key_bias: object
    value: object
    value_bias: object
    out: object
    out_bias: object
    scale2: object
    shift2: object
    grow: object
    grow_bias: object
    shrink: object
    shrink_bias: object


def _data(batch, length, width, hidden, layers, words):
    """Return tokens, the tokens that follow them, and the weights from the embeddings to the logits."""
    random = np.random.default_rng(0)

    def dense(rows, columns):
        matrix = random.standard_normal((rows, columns), np.float32) * np.float32(rows**-0.5)
        return [matrix, np.full(columns, 0.01, np.float32)]

    def normal():
        return [np.ones(width, np.float32), np.zeros(width, np.float32)]

    tokens = random.integers(0, words, (batch, length + 1), np.int32)
    weights = [random.standard_normal((count, width), np.float32) for count in (words, length)]
    for _ in range(layers):
        weights += normal()
        for _ in range(4):
            weights += dense(width, width)
        weights += [*normal(), *dense(width, hidden), *dense(hidden, width)]
    return tokens[:, :-1].copy(), tokens[:, 1:].copy(), [*weights, *normal(), *dense(width, words)]


def _split(weights):
    """Return the embeddings, the layers, and the weights after the last layer."""
    size = len(Layer._fields)
    inner = weights[2:-4]
    layers = [Layer(*inner[start : start + size]) for start in range(0, len(inner), size)]
    return weights[:2], layers, weights[-4:]


def tensorflow(tf, compiled, batch, length, width, heads, hidden, layers, words):
    def normalized(x, scale, shift):
        mean = tf.reduce_mean(x, -1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + EPSILON) * scale + shift

    def dense(x, matrix, bias):
        return tf.matmul(x, matrix) + bias

    def split(x):
        return tf.transpose(tf.reshape(x, [batch, length, heads, width // heads]), [0, 2, 1, 3])

    def attention(x, layer, mask):
        query = split(dense(x, layer.query, layer.query_bias))
        key = split(dense(x, layer.key, layer.key_bias))
        value = split(dense(x, layer.value, layer.value_bias))
        scores = tf.matmul(query, key, transpose_b=True) * (width // heads) ** -0.5 + mask
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), [0, 2, 1, 3])
        return dense(tf.reshape(mixed, [batch, length, width]), layer.out, layer.out_bias)

    def loss_of(weights, tokens, following):
        (embedding, positions), inner, (scale, shift, matrix, bias) = _split(weights)
        mask = HIDDEN * (1 - tf.linalg.band_part(tf.ones([length, length]), -1, 0))
        x = tf.gather(embedding, tokens) + positions
        for layer in inner:
            x += attention(normalized(x, layer.scale1, layer.shift1), layer, mask)
            h = dense(normalized(x, layer.scale2, layer.shift2), layer.grow, layer.grow_bias)
            x += dense(tf.nn.gelu(h, approximate=True), layer.shrink, layer.shrink_bias)
        logits = dense(normalized(x, scale, shift), matrix, bias)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=following, logits=logits)
        return tf.reduce_mean(losses)

    @tf.function(jit_compile=compiled)
    def step(tokens, following):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, tokens, following)
        count.assign_add(1.0)
        first, second = 1 - FIRST**count, 1 - SECOND**count
        for gradient, weight, mean, square in zip(tape.gradient(loss, weights), weights, means, squares):  # noqa: B905
            gradient = tf.convert_to_tensor(gradient)
            mean.assign(FIRST * mean + (1 - FIRST) * gradient)
            square.assign(SECOND * square + (1 - SECOND) * tf.square(gradient))
            weight.assign_sub(RATE * (mean / first) / (tf.sqrt(square / second) + LEAST))
        return loss

    tokens, following, initial = _data(batch, length, width, hidden, layers, words)
    weights = [tf.Variable(value) for value in initial]
    means = [tf.Variable(tf.zeros_like(value)) for value in initial]
    squares = [tf.Variable(tf.zeros_like(value)) for value in initial]
    count = tf.Variable(0.0)
    tokens, following = tf.constant(tokens), tf.constant(following)
    return lambda: step(tokens, following)


def jax(jax, batch, length, width, heads, hidden, layers, words):
    numpy = jax.numpy

    def normalized(x, scale, shift):
        mean = x.mean(-1, keepdims=True)
        variance = numpy.square(x - mean).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + EPSILON) * scale + shift

    def split(x):
        return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)

    def attention(x, layer):
        query = split(x @ layer.query + layer.query_bias)
        key = split(x @ layer.key + layer.key_bias)
        value = split(x @ layer.value + layer.value_bias)
        scores = query @ key.transpose(0, 1, 3, 2) * numpy.float32((width // heads) ** -0.5)
        scores = numpy.where(numpy.tri(length, dtype=bool), scores, HIDDEN)
        mixed = (jax.nn.softmax(scores) @ value).transpose(0, 2, 1, 3)
        return mixed.reshape(batch, length, width) @ layer.out + layer.out_bias

    def loss_of(weights, tokens, following):
        (embedding, positions), inner, (scale, shift, matrix, bias) = _split(weights)
        x = embedding[tokens] + positions
        for layer in inner:
            x += attention(normalized(x, layer.scale1, layer.shift1), layer)
            h = normalized(x, layer.scale2, layer.shift2) @ layer.grow + layer.grow_bias
            x += jax.nn.gelu(h, approximate=True) @ layer.shrink + layer.shrink_bias
        logits = normalized(x, scale, shift) @ matrix + bias
        return -numpy.take_along_axis(jax.nn.log_softmax(logits), following[..., None], -1).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2, 3))
    def step(weights, means, squares, count, tokens, following):
        loss, gradients = jax.value_and_grad(loss_of)(weights, tokens, following)
        count += 1
        first, second = 1 - FIRST**count, 1 - SECOND**count
        means = [FIRST * m + (1 - FIRST) * g for m, g in zip(means, gradients, strict=True)]
        squares = [SECOND * s + (1 - SECOND) * g * g for s, g in zip(squares, gradients, strict=True)]
        weights = [
            w - RATE * (m / first) / (numpy.sqrt(s / second) + LEAST)
            for w, m, s in zip(weights, means, squares, strict=True)
        ]
        return weights, means, squares, count, loss

    def run():
        nonlocal state
        *state, loss = step(*state, tokens, following)
        return jax.block_until_ready((state, loss))[1]

    tokens, following, initial = _data(batch, length, width, hidden, layers, words)
    tokens, following = numpy.asarray(tokens), numpy.asarray(following)
    state = [
        [numpy.array(value) for value in initial],
        [numpy.zeros_like(value) for value in initial],
        [numpy.zeros_like(value) for value in initial],
        numpy.zeros((), numpy.float32),
    ]
    return run


def torch(torch, compiled, batch, length, width, heads, hidden, layers, words):
    functional = torch.nn.functional

    def split(x):
        return x.view(batch, length, heads, width // heads).transpose(1, 2)

    def attention(x, layer):
        query = split(x @ layer.query + layer.query_bias)
        key = split(x @ layer.key + layer.key_bias)
        value = split(x @ layer.value + layer.value_bias)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return mixed.transpose(1, 2).reshape(batch, length, width) @ layer.out + layer.out_bias

    def normalized(x, scale, shift):
        return functional.layer_norm(x, (width,), scale, shift, EPSILON)

    def loss_of(tokens, following):
        (embedding, positions), inner, (scale, shift, matrix, bias) = _split(weights)
        x = functional.embedding(tokens, embedding) + positions
        for layer in inner:
            x = x + attention(normalized(x, layer.scale1, layer.shift1), layer)
            h = normalized(x, layer.scale2, layer.shift2) @ layer.grow + layer.grow_bias
            x = x + functional.gelu(h, approximate="tanh") @ layer.shrink + layer.shrink_bias
        logits = normalized(x, scale, shift) @ matrix + bias
        return functional.cross_entropy(logits.view(-1, words), following.view(-1))

    def step():
        loss = forward(tokens, following)
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            weight.grad = gradient
        adam.step()
        return loss.detach()

    tokens, following, initial = _data(batch, length, width, hidden, layers, words)
    weights = [torch.from_numpy(value).requires_grad_() for value in initial]
    adam = torch.optim.Adam(weights, RATE, (FIRST, SECOND), LEAST, fused=True)
    tokens, following = (torch.from_numpy(value).long() for value in (tokens, following))
    forward = torch.compile(loss_of) if compiled else loss_of
    return step


class _Normalization:
    """A normalization by hand, and its gradients."""

    def __init__(self, x, scale, shift):
        self.scale = scale
        self.spread = 1 / np.sqrt(x.var(-1, keepdims=True) + np.float32(EPSILON))
        self.even = (x - x.mean(-1, keepdims=True)) * self.spread
        self.result = self.even * scale + shift

    def back(self, change):
        gradients = (change * self.even).sum((0, 1)), change.sum((0, 1))
        change = change * self.scale
        aligned = (change * self.even).mean(-1, keepdims=True)
        return (change - change.mean(-1, keepdims=True) - self.even * aligned) * self.spread, *gradients


class _Dense:
    """A dense layer by hand, and its gradients."""

    def __init__(self, x, matrix, bias):
        self.x, self.matrix = x, matrix
        self.result = x @ matrix + bias

    def back(self, change):
        flat = change.reshape(-1, change.shape[-1])
        return change @ self.matrix.T, self.x.reshape(-1, self.x.shape[-1]).T @ flat, flat.sum(0)


class _Attention:
    """Attention by hand, and its gradients."""

    def __init__(self, x, layer, heads):
        _, length, width = x.shape
        self.heads, self.factor = heads, np.float32((width // heads) ** -0.5)
        pairs = (
            (layer.query, layer.query_bias),
            (layer.key, layer.key_bias),
            (layer.value, layer.value_bias),
        )
        self.dense = [_Dense(x, *pair) for pair in pairs]
        self.query, self.key, self.value = (self._split(each.result) for each in self.dense)
        scores = self.query @ self.key.swapaxes(-1, -2) * self.factor
        scores += HIDDEN * (1 - np.tri(length, dtype=np.float32))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        self.shares = scores / scores.sum(-1, keepdims=True)
        self.out = _Dense(self._joined(self.shares @ self.value), layer.out, layer.out_bias)
        self.result = self.out.result

    def _split(self, x):
        return x.reshape(*x.shape[:2], self.heads, -1).swapaxes(1, 2)

    def _joined(self, x):
        return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)

    def back(self, change):
        change, *last = self.out.back(change)
        change = self._split(change)
        value = self.shares.swapaxes(-1, -2) @ change
        shares = change @ self.value.swapaxes(-1, -2)
        scores = self.shares * (shares - (shares * self.shares).sum(-1, keepdims=True)) * self.factor
        changes = scores @ self.key, scores.swapaxes(-1, -2) @ self.query, value
        parts = [dense.back(self._joined(each)) for dense, each in zip(self.dense, changes, strict=True)]
        return sum(part[0] for part in parts), *(each for part in parts for each in part[1:]), *last


class _Gelu:
    """The activation by hand, and its gradient."""

    def __init__(self, x):
        factor, third = map(np.float32, GELU)
        self.x, self.tanh = x, np.tanh(factor * (x + third * x * x * x))
        self.result = np.float32(0.5) * x * (1 + self.tanh)

    def back(self, change):
        factor, third = map(np.float32, GELU)
        inner = factor * (1 + 3 * third * self.x * self.x)
        return change * np.float32(0.5) * (1 + self.tanh + self.x * (1 - self.tanh * self.tanh) * inner)


def by_hand(batch, length, width, heads, hidden, layers, words):
    def forward(x, layer):
        normal1 = _Normalization(x, layer.scale1, layer.shift1)
        attention = _Attention(normal1.result, layer, heads)
        x = x + attention.result
        normal2 = _Normalization(x, layer.scale2, layer.shift2)
        grow = _Dense(normal2.result, layer.grow, layer.grow_bias)
        gelu = _Gelu(grow.result)
        shrink = _Dense(gelu.result, layer.shrink, layer.shrink_bias)
        return x + shrink.result, (normal1, attention, normal2, grow, gelu, shrink)

    def backward(change, parts):
        normal1, attention, normal2, grow, gelu, shrink = parts
        inner, *shrinks = shrink.back(change)
        inner, *grows = grow.back(gelu.back(inner))
        inner, *normals2 = normal2.back(inner)
        change = change + inner
        inner, *attentions = attention.back(change)
        inner, *normals1 = normal1.back(inner)
        return change + inner, [*normals1, *attentions, *normals2, *grows, *shrinks]

    def gradients_of():
        (embedding, positions), inner, last = _split(weights)
        x = embedding[tokens] + positions
        kept = []
        for layer in inner:
            x, parts = forward(x, layer)
            kept.append(parts)
        normal = _Normalization(x, *last[:2])
        out = _Dense(normal.result, *last[2:])
        logits = out.result - out.result.max(-1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        loss = -np.take_along_axis(logs, following[..., None], -1).mean()
        change, *ends = out.back((np.exp(logs) - one_hot) / np.float32(batch * length))
        change, *normals = normal.back(change)
        gradients = []
        for parts in reversed(kept):
            change, here = backward(change, parts)
            gradients = here + gradients
        rows = np.zeros_like(embedding)
        np.add.at(rows, tokens, change)
        return loss, [rows, change.sum(0), *gradients, *normals, *ends]

    def step():
        nonlocal count
        loss, gradients = gradients_of()
        count += 1
        first, second = np.float32(1 - FIRST**count), np.float32(1 - SECOND**count)
        for weight, mean, square, gradient in zip(weights, means, squares, gradients, strict=True):
            mean *= np.float32(FIRST)
            mean += np.float32(1 - FIRST) * gradient
            square *= np.float32(SECOND)
            square += np.float32(1 - SECOND) * gradient * gradient
            weight -= np.float32(RATE) * (mean / first) / (np.sqrt(square / second) + np.float32(LEAST))
        return loss

    tokens, following, weights = _data(batch, length, width, hidden, layers, words)
    means, squares = ([np.zeros_like(value) for value in weights] for _ in range(2))
    one_hot = np.eye(words, dtype=np.float32)[following]
    count = 0
    return step


def limit(compiled_c, batch, length, width, heads, hidden, layers, words):
    """The products alone: one forward and two back for each matrix, and for the scores and values of each head."""
    rows, inner = batch * length, width // heads
    sizes = [(rows, width, width)] * 4 * layers + [(rows, width, hidden), (rows, hidden, width)] * layers
    sizes.append((rows, width, words))
    cases = []
    for m, k, n in sizes:
        x, w, y = (np.ones(shape, np.float32) for shape in ((m, k), (k, n), (m, n)))
        cases += [(x, w, y), (y, w.T, np.empty_like(x)), (x.T, y, np.empty_like(w))]
    heads_of = np.ones((batch, heads, length, inner), np.float32)
    scores = np.ones((batch, heads, length, length), np.float32)
    out = np.empty_like(heads_of)
    turned = heads_of.swapaxes(-1, -2)
    for _ in range(layers):
        cases += [(heads_of, turned, np.empty_like(scores)), (scores, heads_of, out)] * 2
        cases += [(scores, heads_of, out), (scores.swapaxes(-1, -2), heads_of, out)]

    def products():
        for left, right, result in cases:
            np.matmul(left, right, out=result)

    return products
