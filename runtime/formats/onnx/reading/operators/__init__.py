"""The operators that can be read, by family. Importing this package registers them all."""

from . import arrays, control, elementwise, indexing, networks, recurrent, reductions, resizing, sequences  # noqa: F401
