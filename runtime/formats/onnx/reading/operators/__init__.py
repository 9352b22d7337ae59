"""The operators that can be read, by family. Importing this package registers them all."""

from . import (  # noqa: F401
    arrays,
    control,
    elementwise,
    indexing,
    networks,
    quantized,
    recurrent,
    reductions,
    regions,
    resizing,
    sequences,
    spectra,
)
