"""Steps of training with cross entropy and momentum, in the words of JAX, PyTorch and NumPy.

The text for agc and TensorFlow is in each workload, which is loaded anew for each first call.
"""

from __future__ import annotations

import functools

import numpy as np

RATE, MOMENTUM = 0.01, 0.9


def jax_run(jax, logits_of, weights, x, labels):
    """Return a run of steps; `logits_of(weights, x)` is the network."""
    numpy = jax.numpy

    def loss(weights, x, labels):
        chosen = numpy.take_along_axis(jax.nn.log_softmax(logits_of(weights, x)), labels[:, None], 1)
        return -numpy.mean(chosen)

    @functools.partial(jax.jit, donate_argnums=(0, 1))  # what is replaced lends its memory
    def step(weights, velocities, x, labels):
        value, gradients = jax.value_and_grad(loss)(weights, x, labels)
        velocities = [MOMENTUM * v + g for v, g in zip(velocities, gradients, strict=True)]
        return [w - RATE * v for w, v in zip(weights, velocities, strict=True)], velocities, value

    def run():
        nonlocal weights, velocities
        weights, velocities, value = step(weights, velocities, x, labels)
        return jax.block_until_ready((weights, value))[1]

    weights = [numpy.array(value) for value in weights]
    velocities = [numpy.zeros_like(value) for value in weights]
    x, labels = numpy.asarray(x), numpy.asarray(labels)
    return run


def torch_run(torch, compiled, logits_of, weights, x, labels):
    """Return a run of steps; `logits_of(weights, x)` is the network."""

    def loss_of(x, labels):
        return torch.nn.functional.cross_entropy(logits_of(weights, x), labels)

    def run():
        loss = forward(x, labels)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            torch._foreach_mul_(velocities, MOMENTUM)
            torch._foreach_add_(velocities, gradients)
            torch._foreach_add_(weights, velocities, alpha=-RATE)
        return loss.detach()

    weights = [torch.from_numpy(value.copy()).requires_grad_() for value in weights]
    velocities = [torch.zeros_like(value) for value in weights]
    x, labels = torch.from_numpy(x), torch.from_numpy(labels).long()
    forward = torch.compile(loss_of) if compiled else loss_of
    return run


def numpy_run(gradients_of, weights, labels, classes):
    """Return a run of steps; `gradients_of(weights, losses)` gives the loss and gradients.

    `losses(logits)` gives the loss, and its gradient by the logits.
    """

    def losses(logits):
        logits -= logits.max(1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        loss = -logs[np.arange(len(labels)), labels].mean()
        return loss, (np.exp(logs) - one_hot) / np.float32(len(labels))

    def run():
        loss, gradients = gradients_of(weights, losses)
        for weight, velocity, gradient in zip(weights, velocities, gradients, strict=True):
            velocity *= np.float32(MOMENTUM)
            velocity += gradient
            weight -= np.float32(RATE) * velocity
        return loss

    velocities = [np.zeros_like(value) for value in weights]
    one_hot = np.eye(classes, dtype=np.float32)[labels]
    return run
