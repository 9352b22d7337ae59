"""The module `tf.experimental`: what TensorFlow keeps there."""

from __future__ import annotations

from . import dlpack

__all__ = ["dlpack"]
