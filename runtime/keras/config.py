"""The module `tf.keras.config`: what Keras sets for a whole program."""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from .settings import (
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)

__all__ = ["epsilon", "floatx", "image_data_format", "set_epsilon", "set_floatx", "set_image_data_format"]

_explain(__name__)
