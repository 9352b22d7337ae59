"""Images from and to files: what Pillow wrote, limits, and the errors of TensorFlow."""

import io
import sys

import agc.runtime as tf
import numpy as np
import pytest

HEADER = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def pillow():
    return pytest.importorskip("PIL.Image", reason="the extra `image` is not installed")


y, x = np.mgrid[:20, :30]
RGB = np.stack([x * 8, y * 12, (x + y) * 5], -1).astype(np.uint8)
GRAY = (x * y % 256).astype(np.uint8)


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def equal(tensor, array):
    assert tensor.shape == array.shape and tensor.dtype.as_numpy_dtype == array.dtype
    np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_there_and_back(pillow, channels):
    image = np.concatenate([RGB, GRAY[..., None]], -1)[..., :channels]
    text = tf.io.encode_png(image, compression=1)
    equal(tf.io.decode_png(text), image)
    np.testing.assert_array_equal(np.array(pillow.open(io.BytesIO(text.numpy()))), image.squeeze())
    traced = tf.function(lambda one: tf.io.decode_image(tf.io.encode_png(one), expand_animations=False))
    equal(traced(tf.constant(image)), image)
    batch = np.stack([image, image[::-1]])
    equal(tf.image.decode_png(tf.image.encode_png(batch)[1]), image[::-1])


def test_channels(pillow):
    gray, color = saved(pillow.fromarray(GRAY), "PNG"), saved(pillow.fromarray(RGB), "PNG")
    equal(tf.io.decode_png(gray, channels=3), np.repeat(GRAY[..., None], 3, -1))
    equal(tf.io.decode_png(gray, channels=4)[..., 3], np.full((20, 30), 255, np.uint8))
    gray_of_color = (RGB.astype(int) @ [[9797], [19234], [3737]] >> 15).astype(np.uint8)
    equal(tf.io.decode_png(color, channels=1), gray_of_color)  # as in TensorFlow
    equal(tf.io.decode_image(color, dtype=tf.uint16), RGB.astype(np.uint16) * np.uint16(257))
    np.testing.assert_allclose(tf.io.decode_image(color, dtype=tf.float32), RGB / 255, atol=1e-6)
    sixteen = (x * 2000 + y).astype(np.uint16)
    wide = saved(pillow.fromarray(sixteen), "PNG")
    equal(tf.io.decode_png(wide, dtype=tf.uint16), sixteen[..., None])
    equal(tf.io.decode_png(wide), (sixteen >> 8).astype(np.uint8)[..., None])
    equal(tf.io.decode_png(tf.io.encode_png(sixteen[..., None]), dtype=tf.uint16), sixteen[..., None])
    with pytest.raises(tf.errors.UnimplementedError, match="16 bits"):
        tf.io.decode_png(tf.io.encode_png(RGB.astype(np.uint16)), dtype=tf.uint16)


def test_bmp(pillow):
    equal(tf.io.decode_bmp(saved(pillow.fromarray(RGB), "BMP")), RGB)
    rgba = np.dstack([RGB, GRAY])
    equal(tf.io.decode_image(saved(pillow.fromarray(rgba), "BMP")), rgba)
    equal(tf.io.decode_bmp(saved(pillow.fromarray(rgba), "BMP"), channels=3), RGB)


def test_jpeg(pillow):
    text = tf.io.encode_jpeg(RGB, quality=100, chroma_downsampling=False)
    assert np.abs(tf.io.decode_jpeg(text).numpy().astype(int) - RGB).max() <= 6
    assert tf.io.decode_jpeg(text, ratio=2).shape == (10, 15, 3)
    assert tf.io.decode_jpeg(text, channels=1).shape == (20, 30, 1)
    assert tf.io.extract_jpeg_shape(text).numpy().tolist() == [20, 30, 3]
    whole = tf.io.decode_jpeg(text)
    equal(tf.io.decode_and_crop_jpeg(text, [2, 3, 4, 5]), whole.numpy()[2:6, 3:8])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_and_crop_jpeg(text, [2, 3, 40, 5])
    cut = text.numpy()[:-200]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        tf.io.decode_jpeg(cut)
    assert tf.io.decode_jpeg(cut, try_recover_truncated=True).shape == (20, 30, 3)
    worse = tf.image.adjust_jpeg_quality(tf.constant(RGB) / 255, 5)
    assert worse.dtype == tf.float32 and 0.01 < np.abs(worse.numpy() - RGB / 255).mean() < 0.2


@pytest.mark.parametrize("ratio", [2, 4, 8])
@pytest.mark.parametrize("size", [(7, 9), (20, 30), (15, 3)])
def test_smaller_jpeg(pillow, size, ratio):
    jpeg = tf.io.encode_jpeg(np.full((*size, 3), 100, np.uint8))
    height, width = size
    expected = np.full((-(-height // ratio), -(-width // ratio), 3), 100, np.uint8)
    equal(tf.io.decode_jpeg(jpeg, ratio=ratio), expected)
    equal(tf.io.decode_jpeg(jpeg, channels=1, ratio=ratio), expected[..., :1])


def test_gif(pillow):
    frames = [pillow.fromarray(np.roll(RGB, k, 0)).quantize(256) for k in (0, 3)]
    text = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    expected = np.stack([np.array(frame.convert("RGB")) for frame in frames])
    equal(tf.io.decode_gif(text), expected)
    equal(tf.io.decode_image(text), expected)
    equal(tf.io.decode_image(text, expand_animations=False), expected[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Got 2 frames"):
        tf.io.decode_png(text)
    with pytest.raises(tf.errors.InvalidArgumentError, match="0 or 3 for GIF"):
        tf.io.decode_image(text, channels=1)


def test_datasets_of_files(pillow, tmp_path):
    for name in ("a", "b"):
        tf.io.write_file(str(tmp_path / f"{name}.png"), tf.io.encode_png(RGB))
    files = tf.data.Dataset.list_files(str(tmp_path / "*.png"))
    images = files.map(lambda name: tf.io.decode_png(tf.io.read_file(name), channels=3))
    assert images.element_spec.shape.as_list() == [None, None, 3]
    assert [image.shape.as_list() for image in images.batch(2)] == [[2, 20, 30, 3]]


def test_invalid_files(pillow):
    for text in (b"", b"hello", HEADER, b"\xff\xd8\xff", b"GIF89a", b"BM", b"BM" + b"\xff" * 60):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_image(text)
    good = saved(pillow.fromarray(RGB), "PNG")
    rng = np.random.default_rng(3)
    for _ in range(200):
        damaged = bytearray(good)
        damaged[rng.integers(len(good))] = rng.integers(256)
        try:
            found = tf.io.decode_image(bytes(damaged))
        except tf.errors.OpError:
            continue
        assert found.dtype == tf.uint8


def test_damaged_png(pillow):
    png = tf.io.encode_png(RGB).numpy()
    data = png.index(b"IDAT")
    flipped = png[: data + 9] + bytes([png[data + 9] ^ 1]) + png[data + 10 :]
    for damaged, text in (
        (flipped, "wrong checksum at byte"),
        (png[:-12], "breaks off"),
        (png[:-1], "breaks off"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            tf.io.decode_png(damaged)
    comment = b"\0\0\0\2tEXtab\0\0\0\0"  # a wrong checksum of no pixels
    equal(tf.io.decode_png(png[:-12] + comment + png[-12:]), RGB)


def test_decompression_bombs(pillow):
    import struct
    import zlib

    header = struct.pack(">IIBBBBB", 1 << 15, 1 << 15, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_png(HEADER + chunk + chunk)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.io.decode_png(b"", channels=2),
        lambda: tf.io.decode_png([b""]),
        lambda: tf.io.decode_png(b"", dtype=tf.int32),
        lambda: tf.io.decode_jpeg(b"", ratio=3),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 2), np.uint8)),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 3), np.uint8), quality=101),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 3), np.uint8), format="grayscale"),
        lambda: tf.io.encode_png(np.zeros((2, 2), np.uint8)),
        lambda: tf.io.encode_png(np.zeros((0, 2, 3), np.uint8)),
        lambda: tf.io.encode_png(np.zeros((2, 2, 3), np.float32)),
    ],
)
def test_wrong_arguments(call):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        call()


def test_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(tf.errors.UnimplementedError, match=r"pip install agc-autograph\[image\]"):
        tf.io.decode_image(tf.io.encode_png(RGB))
    assert tf.io.is_jpeg(b"\xff\xd8\xff\xe0") and not tf.image.is_jpeg(b"GIF")
