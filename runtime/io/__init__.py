"""The namespace `tf.io`: files, records, and values as bytes."""
# Namespace io: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..data.tfrecord_writer import TFRecordOptions, TFRecordWriter
from ..image.codecs import (
    decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, encode_jpeg,
    extract_jpeg_shape, is_jpeg,
)
from ..ops.image.codecs import encode_png
from ..ops.state.file_io import matching_files, read_file
from ..ops.strings.decode_compressed import decode_compressed
from ..ops.strings.decode_raw import decode_base64, decode_raw, encode_base64
from ..ops.strings.tensor_proto import parse_tensor, serialize_tensor
from ..sparse.messages import deserialize_many_sparse, serialize_many_sparse, serialize_sparse
from ..storage import gfile
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from .files import decode_csv, write_file
from .parse_example import (
    parse_example, parse_sequence_example, parse_single_example, parse_single_sequence_example,
)

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions",
    "TFRecordWriter", "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp",
    "decode_compressed", "decode_csv", "decode_gif", "decode_image", "decode_jpeg", "decode_png",
    "decode_raw", "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png",
    "extract_jpeg_shape", "gfile", "is_jpeg", "matching_files", "parse_example", "parse_sequence_example",
    "parse_single_example", "parse_single_sequence_example", "parse_tensor", "read_file",
    "serialize_many_sparse", "serialize_sparse", "serialize_tensor", "write_file",
]

_explain(__name__)
