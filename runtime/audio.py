"""The namespace `tf.audio`: sound files."""
# Namespace audio: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .ops.signal.wav import decode_wav, encode_wav

__all__ = [
    "decode_wav", "encode_wav",
]

_explain(__name__)
