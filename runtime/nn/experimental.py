"""The module `tf.nn.experimental`: dropout with a given source of random numbers."""
# Namespace nn.experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..ops.nn.dropout import general_dropout, stateless_dropout

__all__ = [
    "general_dropout", "stateless_dropout",
]

_explain(__name__)
