"""The module `tf.nn.experimental`: dropout with a given source of random numbers."""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from ..ops.nn.dropout import general_dropout, stateless_dropout

__all__ = ["general_dropout", "stateless_dropout"]

_explain(__name__)
