"""The rules of operations, by families; importing the package registers them."""

from .. import structured
from . import elementwise, indexing, matmul, reshaping, state

__all__ = ["elementwise", "indexing", "matmul", "reshaping", "state", "structured"]
