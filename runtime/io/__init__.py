"""The namespace `tf.io`: files, records, and values as bytes."""
# Namespace io: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..data.tfrecord_writer import TFRecordOptions, TFRecordWriter
from ..ops.state.file_io import matching_files, read_file
from ..ops.strings.decode_raw import decode_base64, decode_raw, encode_base64
from ..ops.strings.tensor_proto import parse_tensor, serialize_tensor
from ..storage import gfile
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from .files import decode_csv, write_file
from .parse_example import (
    parse_example, parse_sequence_example, parse_single_example, parse_single_sequence_example,
)

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions",
    "TFRecordWriter", "VarLenFeature", "decode_base64", "decode_csv", "decode_raw", "encode_base64", "gfile",
    "matching_files", "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_tensor", "write_file",
]

_explain(__name__)
