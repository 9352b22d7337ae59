"""Readers of contents that a program has read itself: images, sounds, records, compressed and encoded strings.

{"decode_png": Loader(write=…, read=…)}      as in `loaders`; errors name no file
"""

import contextlib
import zlib

import agc.runtime as tf
import numpy as np

from . import mutations
from .loader import Loader

SOUND = [[0.5, -0.5], [1.0, 0.0], [0.25, 0.75]]
PIXELS = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
BMP = (
    b"BM" + (62).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little")
    + (40).to_bytes(4, "little") + (1).to_bytes(4, "little") + (2).to_bytes(4, "little")
    + b"\1\0\x18\0" + bytes(24) + b"\0\0\xff\0\xff\0\0\0"
)  # fmt: skip
GIF = (
    b"GIF89a\1\0\1\0\x80\0\0\xff\0\0\0\0\0" + b",\0\0\0\0\1\0\1\0\0\2\2D\1\0" * 3 + b";"
)  # fmt: skip
FEATURES = {
    "a": tf.io.FixedLenFeature([2], tf.int64), "b": tf.io.VarLenFeature(tf.string),
    "c": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
    "d": tf.io.SparseFeature("i", "v", tf.float32, 10),
    "e": tf.io.RaggedFeature(tf.int64, "e", [tf.io.RaggedFeature.RowSplits("s")]),
    "f": tf.io.RaggedFeature(tf.int64, "e", [tf.io.RaggedFeature.RowLengths("l")]),
    "g": tf.io.RaggedFeature(tf.int64, "e", [tf.io.RaggedFeature.ValueRowIds("r")]),
    "h": tf.io.RaggedFeature(tf.int64, "e", [tf.io.RaggedFeature.UniformRowLength(2)]),
}  # fmt: skip
STEPS = {
    "a": tf.io.FixedLenSequenceFeature([2], tf.int64), "b": tf.io.VarLenFeature(tf.string),
    "e": tf.io.RaggedFeature(tf.int64, "e", [tf.io.RaggedFeature.RowLengths("l")]),
}  # fmt: skip


def _content(name, content):
    return lambda folder: (folder / name).write_bytes(content() if callable(content) else content)


def _feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _example():
    values = {
        "a": [1, -2], "b": [b"x", b"yy"], "c": [0.5], "i": [3, 4], "v": [1.0, 2.0], "e": [1, 2, 3, 4],
        "s": [0, 3, 4], "l": [1, 3], "r": [0, 0, 1, 2],
    }  # fmt: skip
    features = tf.train.Features(feature={key: _feature(items) for key, items in values.items()})
    return tf.train.Example(features=features).SerializeToString()


def _sequence():
    def steps(*rows):
        return tf.train.FeatureList(feature=[_feature(row) for row in rows])

    lists = {"a": steps([1, 2], [3, 4]), "b": steps([b"x"]), "e": steps([1, 2], [3]), "l": steps([1, 1], [1])}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": _feature([1])}),
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    ).SerializeToString()


def _parse(content):
    for record in (content, [content, content]):
        tf.io.parse_example(record, FEATURES)
    tf.train.Example.FromString(content)


def _parse_sequence(content):
    for record in (content, [content, content]):
        tf.io.parse_sequence_example(record, {"n": tf.io.FixedLenFeature([], tf.int64)}, STEPS)
    tf.train.SequenceExample.FromString(content)


def _decode_images(content):
    for dtype in (tf.uint8, tf.uint16, tf.float32):
        with contextlib.suppress(tf.errors.UnimplementedError):
            tf.io.decode_image(content, dtype=dtype)
    tf.io.decode_image(content, channels=3, expand_animations=False)


def _decode_jpeg(content):
    tf.io.extract_jpeg_shape(content)
    tf.io.decode_jpeg(content, ratio=2)
    tf.io.decode_jpeg(content, try_recover_truncated=True)
    tf.io.decode_and_crop_jpeg(content, [0, 0, 2, 2])


def _wav(content):
    tf.audio.decode_wav(content)
    tf.audio.decode_wav(content, desired_channels=1, desired_samples=2)


def _numbers(content):
    for dtype in (tf.float32, tf.float64, tf.int32, tf.int64):
        tf.strings.to_number(content, dtype)


def _transcode(content):
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        tf.strings.unicode_transcode(content, encoding, "UTF-8")


def _make_array(content):
    tf.make_ndarray(type(tf.make_tensor_proto(1)).FromString(content))


def _loader(content, read, damage=mutations.damaged, **options):
    return Loader(
        _content("a", content), lambda folder: read((folder / "a").read_bytes()), {"*": damage}, names_file=False,
        **options,
    )  # fmt: skip


def in_message(content, rng):
    """Return a record with other messages inside."""
    from .tensorflow_files import in_message

    return in_message(content, rng)


def in_png(content, rng):
    """Return a PNG file with other chunks, whose checksums fit."""
    if rng.random() < 0.3:
        return mutations.damaged(content, rng)
    chunks, at = [], 8
    while at + 8 <= len(content):
        size = int.from_bytes(content[at : at + 4], "big")
        chunks.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + size]))
        at += 12 + size
    place = rng.randrange(len(chunks))
    kind, body = chunks[place]
    if kind == b"IDAT" and rng.random() < 0.5:
        body = zlib.compress(mutations.damaged(zlib.decompress(body), rng))
    else:
        body = mutations.damaged(body, rng)
    chunks[place : place + 1] = rng.choice([[(kind, body)], [(kind, body)] * 2, []])
    return content[:8] + b"".join(
        len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
        for kind, body in chunks
    )


CONTENT_LOADERS = {
    "PNG": _loader(
        lambda: tf.io.encode_png(PIXELS).numpy(), _decode_images, in_png, has_bounded_memory=False
    ),
    "PNG of 16 bits": _loader(
        lambda: tf.io.encode_png(PIXELS[..., :1].astype(np.uint16) * 250).numpy(), _decode_images, in_png,
        has_bounded_memory=False,
    ),
    "JPEG": _loader(lambda: tf.io.encode_jpeg(PIXELS).numpy(), _decode_jpeg, has_bounded_memory=False),
    "GIF": _loader(GIF, _decode_images, has_bounded_memory=False),
    "BMP": _loader(BMP, _decode_images, has_bounded_memory=False),
    "WAV": _loader(lambda: tf.audio.encode_wav(SOUND, 8000).numpy(), _wav),
    "Example": _loader(_example, _parse, in_message),
    "SequenceExample": _loader(_sequence, _parse_sequence, in_message),
    "decode_compressed": _loader(
        lambda: zlib.compress(b"text" * 100), lambda content: tf.io.decode_compressed(content, "ZLIB")
    ),
    "to_number": _loader(b"-12", _numbers),
    "unicode_transcode": _loader("wörld".encode("utf-16-be"), _transcode),
    "make_ndarray": _loader(
        lambda: tf.make_tensor_proto(np.arange(6.0).reshape(2, 3)).SerializeToString(), _make_array, in_message
    ),
}  # fmt: skip
