"""Keras: a small convolutional network with dropout, trained by `fit`, tested by `evaluate`, and used by `predict`."""

from __future__ import annotations

import itertools

import numpy as np

TITLE = "Keras, CNN with dropout, {what}"
FULL = {"batch": 64, "batches": 16}
TINY = {"batch": 16, "batches": 8}
EAGER = False
SIZE, CLASSES, KEPT = 28, 10, np.float32(0.7)


def _data(batch, batches):
    """Images with one bright corner, and the number of the corner."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, batch * batches).astype(np.int32)
    images = random.standard_normal((batch * batches, SIZE, SIZE, 1), np.float32)
    half = SIZE // 2
    for image, corner in zip(images, labels, strict=True):
        row, column = half * (corner // 2), half * (corner % 2)
        image[row : row + half, column : column + half] += 1
    return images, labels


def _weights():
    """Kernels and biases of two convolutions and two dense layers."""
    random = np.random.default_rng(1)
    weights = []
    for shape in (3, 3, 1, 16), (3, 3, 16, 32), (800, 64), (64, CLASSES):
        scale = np.float32(np.prod(shape[:-1]) ** -0.5)
        weights += [random.standard_normal(shape, np.float32) * scale, np.zeros(shape[-1], np.float32)]
    return weights


def _learned(losses):
    """Whether a loss is below that of equal chances: dropout draws other numbers in each library."""
    return np.float32(losses[-1] < np.log(CLASSES))


def tensorflow(tf, compiled, what, batch, batches):
    keras = tf.keras
    layers = keras.layers
    images, labels = _data(batch, batches)
    keras.utils.set_random_seed(1)
    model = keras.Sequential([
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(1 - float(KEPT)),
        layers.Dense(64, activation="relu"),
        layers.Dense(CLASSES),
    ])  # fmt: skip
    model.set_weights(_weights())
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], jit_compile=compiled)

    def fit():
        return _learned(model.fit(images, labels, batch_size=batch, verbose=0).history["loss"])

    def evaluate():
        return np.float32(model.evaluate(images, labels, batch_size=batch, verbose=0)[0])

    def predict():
        return model.predict(images, batch_size=batch, verbose=0)

    return {"fit": fit, "evaluate": evaluate, "predict": predict}[what]


def by_hand(what, batch, batches):
    images, labels = _data(batch, batches)
    weights, random = _weights(), np.random.default_rng(2)
    moments = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in weights]
    steps = itertools.count(1)
    slices = [slice(i, i + batch) for i in range(0, len(images), batch)]

    def fit():
        losses = []
        for each in slices:
            loss, gradients = _gradients(weights, images[each], labels[each], random)
            losses.append(loss)
            _adam(weights, moments, gradients, next(steps))
        return _learned([np.mean(losses)])

    def predict():
        return np.concatenate([_forward(weights, images[each])[0] for each in slices])

    def evaluate():
        return _cross_entropy(predict(), labels)[0]

    return {"fit": fit, "evaluate": evaluate, "predict": predict}[what]


def _forward(weights, x, mask=1):
    """The logits, and what the way back needs."""
    saved = []
    for kernel, bias in (weights[:2], weights[2:4]):
        patches = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2)).transpose(0, 1, 2, 4, 5, 3)
        patches = patches.reshape(*patches.shape[:3], -1)
        y = np.maximum(patches @ kernel.reshape(-1, len(bias)) + bias, 0)
        rows, columns = (length // 2 for length in y.shape[1:3])
        tiles = y[:, : 2 * rows, : 2 * columns].reshape(len(x), rows, 2, columns, 2, -1)
        saved.append((patches, y.shape, tiles, x := tiles.max((2, 4))))
    flat = x.reshape(len(x), -1) * mask
    hidden = np.maximum(flat @ weights[4] + weights[5], 0)
    return hidden @ weights[6] + weights[7], saved, flat, hidden


def _cross_entropy(logits, labels):
    """The loss, and its gradient by the logits."""
    shares = np.exp(logits - logits.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    chosen = np.arange(len(labels)), labels
    loss = -np.mean(np.log(shares[chosen]))
    shares[chosen] -= 1
    return loss, shares / np.float32(len(labels))


def _gradients(weights, x, labels, random):
    mask = (random.random((len(x), len(weights[4])), np.float32) < KEPT) / KEPT
    logits, saved, flat, hidden = _forward(weights, x, mask)
    loss, d = _cross_entropy(logits, labels)
    found = [hidden.T @ d, d.sum(0)]
    d = (d @ weights[6].T) * (hidden > 0)
    found = [flat.T @ d, d.sum(0), *found]
    d = (d @ weights[4].T) * mask
    for layer in (1, 0):
        patches, shape, tiles, largest = saved[layer]
        d = d.reshape(largest.shape)[:, :, None, :, None]
        best = largest[:, :, None, :, None]
        whole = np.zeros(shape, np.float32)
        rows, columns = largest.shape[1:3]
        there = whole[:, : 2 * rows, : 2 * columns]
        there[:] = (d * (tiles == best) * (best > 0)).reshape(there.shape)
        kernel = weights[2 * layer]
        by_kernel = patches.reshape(-1, patches.shape[-1]).T @ whole.reshape(-1, shape[-1])
        found = [by_kernel.reshape(kernel.shape), whole.sum((0, 1, 2)), *found]
        if layer:
            d = _by_input(whole, kernel, saved[0][3].shape)
    return loss, found


def _by_input(d, kernel, shape):
    """The gradient of a convolution by its input."""
    found = np.zeros(shape, np.float32)
    rows, columns = d.shape[1:3]
    for i, j in itertools.product(range(3), range(3)):
        found[:, i : i + rows, j : j + columns] += d @ kernel[i, j].T
    return found


def _adam(weights, moments, gradients, step, rate=1e-3, beta_1=0.9, beta_2=0.999):
    rate *= np.sqrt(1 - beta_2**step) / (1 - beta_1**step)
    for weight, (m, v), gradient in zip(weights, moments, gradients, strict=True):
        m += (gradient - m) * np.float32(1 - beta_1)
        v += (gradient * gradient - v) * np.float32(1 - beta_2)
        weight -= np.float32(rate) * m / (np.sqrt(v) + np.float32(1e-7))
