"""The namespace `tf.test.experimental`: the end of pending operations.

>>> sync_devices()
"""

from ..core.missing_names import explain as _explain


def sync_devices() -> None:
    """Return at once: operations have finished when they return.

    >>> sync_devices()
    """


__all__ = ["sync_devices"]

_explain(__name__)
