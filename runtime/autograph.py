"""`tf.autograph`: what AutoGraph makes of a function, by TensorFlow's names."""

from __future__ import annotations

from agc.autograph.api import do_not_convert, to_code, to_graph


class experimental:  # noqa: N801  (TensorFlow's name)
    """Names that TensorFlow keeps under `tf.autograph.experimental`."""

    do_not_convert = staticmethod(do_not_convert)


__all__ = ["experimental", "to_code", "to_graph"]
