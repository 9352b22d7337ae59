"""Calls that an operation refuses."""

from typing import Any

import agc.runtime as tf
import pytest


def refuses(message: str) -> Any:
    """Expect an InvalidArgumentError whose message matches a pattern."""
    return pytest.raises(tf.errors.InvalidArgumentError, match=message)
