"""Names that TensorFlow keeps under `autograph.experimental`."""

from __future__ import annotations

from .options.features import Feature
from .options.loop_options import set_loop_options
from .policy import do_not_convert

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
