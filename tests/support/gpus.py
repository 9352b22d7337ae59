"""GPUs for tests: none but where JAX has some."""

from __future__ import annotations

import agc.runtime as tf
import pytest


def demand_gpus(count: int = 1) -> list[str]:
    """Return the names of GPUs; skip the test if there are fewer than `count`."""
    names = [device.name for device in tf.config.list_logical_devices("GPU")]
    if len(names) < count:
        pytest.skip("no GPU" if count == 1 or not names else f"only {len(names)} GPU")
    return names[:count]
