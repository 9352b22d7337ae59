"""Conversions between strings and the bytes of numbers: decode_raw, base64."""

from __future__ import annotations

import binascii
import string
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels.strings.packed import lengths, packed
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Name, op
from ..framework.op_families import BOOLS, COMPLEX, FLOATS, INTEGERS, STRINGS, require_dtype
from .map_bytes import each, in_batch

Array = Any

_TYPES = FLOATS | COMPLEX | INTEGERS | BOOLS


@export("io.decode_raw")
@op
def decode_raw(
    input_bytes: Input,
    out_type: DType,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: Name = None,
) -> TensorType:
    """Reinterpret the bytes of strings as numbers, along a new last axis.

    Args:
        out_type: a numeric dtype, or bool.
        fixed_length: the number of bytes of each string, which is truncated or padded with zeros. Without it
            all strings must have the same length.

    Raises InvalidArgumentError for strings of different lengths, and lengths that are no multiple of the dtype's size.

    >>> decode_raw(["ab", "cd"], dtypes.uint8).numpy().tolist()
    [[97, 98], [99, 100]]
    """
    require_dtype(input_bytes, STRINGS, "decode_raw")
    if out_type not in _TYPES:
        raise ValueError(f"Value for attr 'out_type' of {out_type.name} is not in the list of allowed values")
    size = None
    if fixed_length is not None:
        if fixed_length < 1 or fixed_length % out_type.size:
            raise ValueError(
                f"fixed_length ({fixed_length}) must be a multiple of the size of out_type ({out_type.size})"
            )
        size = fixed_length // out_type.size
    elif input_bytes.value is not None:
        size = max(map(len, np.ravel(input_bytes.value)), default=0) // out_type.size
    return TensorType(out_type, None if input_bytes.shape is None else (*input_bytes.shape, size))


@decode_raw.kernel
def _(input_bytes: Array, out_type: Any, little_endian: bool, fixed_length: int | None) -> Array:
    items = np.asarray(input_bytes, object)
    if fixed_length is not None:
        items = each(lambda text: text[:fixed_length].ljust(fixed_length, b"\0"), items)
    texts = items.ravel()
    sizes = lengths(texts)
    length = sizes[0] if len(sizes) else fixed_length or 0
    if (sizes != length).any():
        raise errors.InvalidArgumentError(
            "DecodeRaw requires input strings to all be the same size, but there are "
            f"{length} and {sizes[sizes != length][0]}"
        )
    if length % out_type.size:
        raise errors.InvalidArgumentError(
            f"Input to DecodeRaw has length {length} that is not a multiple of {out_type.size}, the size of "
            f"{out_type.name}"
        )
    stored = out_type.numpy_dtype.newbyteorder("<" if little_endian else ">")
    content = packed(texts)
    numbers = content != 0 if out_type.is_bool else content.view(stored).astype(out_type.numpy_dtype)
    return numbers.reshape(*items.shape, length // out_type.size)


@export("io.encode_base64")
@op
def encode_base64(input: Input, pad: bool = False, name: Name = None) -> TensorType:
    """Encode strings in base64, in the URL-safe alphabet (- and _); with "=" at the end if `pad`.

    >>> encode_base64("a?>").numpy(), encode_base64("a", pad=True).numpy()
    (b'YT8-', b'YQ==')
    """
    require_dtype(input, STRINGS, "encode_base64")
    return TensorType(dtypes.string, input.shape)


@encode_base64.kernel
def _(input: Array, pad: bool) -> Array:
    return in_batch(lambda items: _encoded(items, b"" if pad else b"="), input)


_TO_URL, _FROM_URL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")


def _encoded(items: list[bytes], removed: bytes) -> list[bytes]:
    return b"".join(map(binascii.b2a_base64, items)).translate(_TO_URL, removed).split(b"\n")[:-1]  # lines


@export("io.decode_base64")
@op
def decode_base64(input: Input, name: Name = None) -> TensorType:
    """Decode strings in base64: in the alphabet of `encode_base64`, unpadded or padded with "=" to a multiple of 4.

    Raises InvalidArgumentError for other characters and truncated strings.

    >>> decode_base64(["YT8-", "YQ"]).numpy().tolist()
    [b'a?>', b'a']
    """
    require_dtype(input, STRINGS, "decode_base64")
    return TensorType(dtypes.string, input.shape)


decode_base64.kernel(lambda input: in_batch(_decoded, input))

_CHARACTERS = string.ascii_letters.encode() + b"0123456789-_"


def _decoded(items: list[bytes]) -> list[bytes]:
    texts = [item if len(item) % 4 else item.removesuffix(b"=").removesuffix(b"=") for item in items]
    if any(len(text) % 4 == 1 for text in texts):
        raise errors.InvalidArgumentError("Base64 string length cannot be 1 modulo 4.")
    if b"".join(texts).translate(None, _CHARACTERS):
        raise errors.InvalidArgumentError("Invalid character found in base64.")
    return [binascii.a2b_base64(text.translate(_FROM_URL) + b"==") for text in texts]
