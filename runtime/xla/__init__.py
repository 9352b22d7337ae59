"""The namespace `tf.xla`."""

from ..core.missing_names import explain as _explain
from . import experimental

__all__ = ["experimental"]

_explain(__name__)
