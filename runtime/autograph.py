"""`tf.autograph`: the public AutoGraph functions, with TensorFlow's names."""

from __future__ import annotations

from agc.autograph.api import (
    Feature,
    do_not_convert,
    set_loop_options,
    set_verbosity,
    to_code,
    to_graph,
    trace,
)

from .core.missing_names import explain as _explain


class experimental:  # noqa: N801  (TensorFlow's name)
    """Names that TensorFlow keeps under `tf.autograph.experimental`.

    >>> [feature.name for feature in experimental.Feature][:3]
    ['ALL', 'AUTO_CONTROL_DEPS', 'ASSERT_STATEMENTS']
    """

    Feature = Feature
    do_not_convert = staticmethod(do_not_convert)
    set_loop_options = staticmethod(set_loop_options)


__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]

_explain(__name__)
