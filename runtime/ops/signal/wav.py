"""Operations that decode and encode sound files: WAV with 16 bits a sample.

decode_wav(contents)    ==>    audio: [samples, channels] from -1 to 1, sample_rate
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...core.export import export
from ...ir.value_types import TensorType
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype

Array = Any
_SCALE = np.float32(1 / 32768)


class DecodeWav(NamedTuple):
    """Sound in samples and channels, and the number of samples in a second."""

    audio: Any
    sample_rate: Any


@export("audio.decode_wav")
def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """Return the samples of a WAV file of 16 bits as float32 from -1 to 1, and the sample rate, an int32 scalar.

    Args:
        contents: the content of the file, a string scalar.
        desired_channels: the number of channels: more are left out, and the last one is repeated. -1 for the file's.
        desired_samples: the number of samples: more are left out, and zeros added. -1 for the file's.

    Raises InvalidArgumentError for other files.

    >>> decode_wav(encode_wav([[0.5], [-1.0]], 8000)).audio.numpy().tolist()
    [[0.5], [-1.0]]
    """
    return DecodeWav(*samples_of_wav(contents, desired_channels, desired_samples, name))


@op
def samples_of_wav(
    contents: Input, desired_channels: int, desired_samples: int, name: Name = None
) -> tuple[TensorType, TensorType]:
    """Return the samples and the sample rate of a WAV file; see `decode_wav`.

    >>> samples_of_wav(encode_wav([[0.5], [-1.0]], 8000), -1, -1)[1].numpy()
    np.int32(8000)
    """
    require_dtype(contents, STRINGS, "decode_wav")
    if contents.shape not in (None, ()):
        raise ValueError(f"contents must be scalar but got shape {list(contents.shape)}")
    sizes = (None if size == -1 else size for size in (desired_samples, desired_channels))
    return TensorType(dtypes.float32, tuple(sizes)), TensorType(dtypes.int32, ())


@samples_of_wav.kernel
def _(contents: Array, desired_channels: int, desired_samples: int) -> tuple[Array, Array]:
    rate, samples = _parsed(contents[()])
    if desired_channels != -1:
        lacking = max(desired_channels - samples.shape[1], 0)
        samples = np.pad(samples, ((0, 0), (0, lacking)), "edge")[:, :desired_channels]
    if desired_samples != -1:
        samples = np.pad(samples, ((0, max(desired_samples - len(samples), 0)), (0, 0)))[:desired_samples]
    return np.ascontiguousarray(samples), np.array(rate, np.int32)


def _parsed(content: bytes) -> tuple[int, Array]:
    """Return the sample rate and the samples of a file."""
    if len(content) < 12:
        raise errors.InvalidArgumentError("Data too short when trying to read string")
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise errors.InvalidArgumentError("Header mismatch: Expected RIFF … WAVE")
    position, form = 12, None
    while position + 8 <= len(content):
        kind, size = struct.unpack_from("<4sI", content, position)
        body = content[position + 8 : position + 8 + size]
        if len(body) < size:
            break
        if kind == b"fmt ":
            form = _form(body)
        elif kind == b"data":
            if form is None:
                raise errors.InvalidArgumentError("Data chunk found before fmt chunk")
            rate, channels = form
            samples = np.frombuffer(body[: size - size % (2 * channels)], "<i2").reshape(-1, channels)
            return rate, samples * _SCALE
        position += 8 + size + size % 2
    raise errors.InvalidArgumentError("Data too short when trying to read string")


def _form(body: bytes) -> tuple[int, int]:
    """Return the sample rate and the number of channels of a format chunk."""
    if len(body) < 16:
        raise errors.InvalidArgumentError(f"Bad format chunk size for WAV: {len(body)}")
    form, channels, rate, speed, width, bits = struct.unpack_from("<HHIIHH", body)
    if form != 1:
        raise errors.InvalidArgumentError(f"Bad audio format for WAV: Expected 1 (PCM), but got {form}")
    if bits != 16:
        raise errors.InvalidArgumentError(f"Can only read 16-bit WAV files, but received {bits}")
    if not channels:
        raise errors.InvalidArgumentError("Bad number of channels for WAV: 0")
    if (width, speed) != (2 * channels, 2 * channels * rate):
        raise errors.InvalidArgumentError(
            f"Bad header of WAV: {channels} channels at rate {rate} have {2 * channels} bytes a sample and "
            f"{2 * channels * rate} a second, but got {width} and {speed}"
        )
    return rate, channels


@export("audio.encode_wav")
@op
def encode_wav(audio: Input, sample_rate: Input, name: Name = None) -> TensorType:
    """Return the content of a WAV file of 16 bits; samples outside of -1 to 1 are clipped.

    Args:
        audio: samples: [samples, channels], float32, or float64, which is rounded to float32.
        sample_rate: the number of samples in a second, an int32 scalar.

    Raises InvalidArgumentError for another rank, no channels, or a rate that is not positive.

    >>> len(encode_wav([[0.5], [-1.0]], 8000).numpy())
    48
    """
    require_dtype(audio, frozenset({dtypes.float32, dtypes.float64}), "encode_wav, argument `audio`,")
    require_dtype(sample_rate, frozenset({dtypes.int32}), "encode_wav, argument `sample_rate`,")
    if audio.shape is not None and len(audio.shape) != 2:
        raise ValueError(f"audio must be 2-dimensional, not of shape {list(audio.shape)}")
    if sample_rate.shape not in (None, ()):
        raise ValueError(f"sample_rate should be a scalar, not of shape {list(sample_rate.shape)}")
    return TensorType(dtypes.string, ())


@encode_wav.kernel
def _(audio: Array, sample_rate: Array) -> Array:
    channels, rate = np.shape(audio)[1], int(sample_rate)
    if not channels:
        raise ValueError("audio must have at least one channel")
    if rate <= 0:
        raise ValueError(f"sample_rate must be in (0, 2^32), got: {rate}")
    scaled = np.clip(np.rint(np.asarray(audio, np.float32) * np.float32(32768)), -32768, 32767)
    data = np.nan_to_num(scaled).astype("<i2").tobytes()
    head = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"WAVE" + head + struct.pack("<4sI", b"data", len(data)) + data
    result = np.empty((), object)
    result[()] = b"RIFF" + struct.pack("<I", len(body)) + body
    return result


encode_wav.no_gradient("files of samples are discrete")
samples_of_wav.no_gradient("files of samples are discrete")
