"""tf.io: values as bytes, files, tf.io.gfile. Expected results and classes of errors are TensorFlow 2.21's."""

import os

import agc.runtime as tf
import numpy as np
import pytest

io, gfile = tf.io, tf.io.gfile
STAGED = pytest.mark.parametrize("staged", [False, True])
REFUSED = (ValueError, TypeError, tf.errors.InvalidArgumentError)


def values(staged, call, *args):
    results = (tf.function(call) if staged else call)(*args)
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if leaf.shape.rank else leaf.numpy(), results
    )


@STAGED
@pytest.mark.parametrize(
    "text, dtype, options, expected",
    [
        (b"\x01\x02\x03\x04", tf.uint8, {}, [1, 2, 3, 4]),
        (b"\x01\x02\x03\x04", tf.int16, {}, [513, 1027]),
        (b"\x01\x02\x03\x04", tf.int16, {"little_endian": False}, [258, 772]),
        ([b"\x01\x02", b"\x03\x04"], tf.uint8, {}, [[1, 2], [3, 4]]),
        ([b"\x01\x02", b"\x03"], tf.uint8, {"fixed_length": 4}, [[1, 2, 0, 0], [3, 0, 0, 0]]),
        ([b"\x01\x02\x03", b"\x03"], tf.uint8, {"fixed_length": 2}, [[1, 2], [3, 0]]),
        (b"\x00\x00\x80\x3f", tf.float32, {}, [1.0]),
        (b"", tf.int32, {}, []),
        (b"\x01", tf.bool, {}, [True]),
        (b"\x00\x02\xff", tf.bool, {}, [False, True, True]),
    ],
)
def test_decode_raw(staged, text, dtype, options, expected):
    assert values(staged, lambda t: io.decode_raw(t, dtype, **options), tf.constant(text)) == expected


def test_bytes_of_truth_values_become_0_and_1():
    """Native code relies on this: it looks at one bit only."""
    message = b"\x08\x0a\x12\x04\x12\x02\x08\x03\x22\x03\x00\x02\xff"  # dtype, shape, tensor_content
    for found in (io.parse_tensor(message, tf.bool), io.decode_raw(b"\x00\x02\xff", tf.bool)):
        assert found.numpy().view(np.uint8).tolist() == [0, 1, 1]
        for jit in (False, True):
            count = tf.function(lambda x: tf.reduce_sum(tf.cast(x, tf.int32)), jit_compile=jit)
            assert count(found).numpy() == 2


@STAGED
def test_base64(staged):
    texts = tf.constant(["hello", "a?>~~"])
    assert values(staged, io.encode_base64, texts) == [b"aGVsbG8", b"YT8-fn4"]
    assert values(staged, lambda t: io.encode_base64(t, pad=True), tf.constant("a")) == b"YQ=="
    assert values(staged, lambda t: io.decode_base64(io.encode_base64(t)), texts) == [b"hello", b"a?>~~"]
    assert values(staged, io.decode_base64, tf.constant(["YQ==", "YQ", "-_-_"])) == [
        b"a",
        b"a",
        b"\xfb\xff\xbf",
    ]
    for wrong in ("Y!", "Y", "+/+/", "YQ=", "Y===", "====", "YQ======"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"base64|Base64"):
            io.decode_base64(wrong)


@STAGED
@pytest.mark.parametrize(
    "records, defaults, options, expected",
    [
        ("1,2.5,abc", [0, 0.0, ""], {}, [1, 2.5, b"abc"]),
        (["1,2", "3,4"], [[0], [0]], {}, [[1, 3], [2, 4]]),
        ("1,,3", [0, 7, 0], {}, [1, 7, 3]),
        ('a,"b ""q"", c",d', ["", "", ""], {}, [b"a", b'b "q", c', b"d"]),
        ("1;2", [0, 0], {"field_delim": ";"}, [1, 2]),
        ("1,NA", [0, 5], {"na_value": "NA"}, [1, 5]),
        ("1,2,3", [0, 0], {"select_cols": [0, 2]}, [1, 3]),
        ('"a",b', ["", ""], {"use_quote_delim": False}, [b'"a"', b"b"]),
        (" 1 ,2,", [0, 0, ""], {}, [1, 2, b""]),
        ('1,"Braund, Mr.","",3', [0, "", "?", 0], {}, [1, b"Braund, Mr.", b"?", 3]),
        ('"1","a\nb",""', ["", "", ""], {}, [b"1", b"a\nb", b""]),
        ('"a""","""b",""""', ["", "", ""], {}, [b'a"', b'"b', b'"']),
        ('"a";b;"c;d";', [""] * 4, {"field_delim": ";"}, [b"a", b"b", b"c;d", b""]),
        (
            ["1,a", "NA,NA", ",", "4,d"],
            [7.0, "?"],
            {"na_value": "NA"},
            [[1, 7, 7, 4], [b"a", b"?", b"?", b"d"]],
        ),
        ([",", ","], [7, "?"], {}, [[7, 7], [b"?", b"?"]]),
    ],
)
def test_decode_csv(staged, records, defaults, options, expected):
    assert values(staged, lambda r: io.decode_csv(r, defaults, **options), tf.constant(records)) == expected


@pytest.mark.parametrize(
    "record, defaults, message",
    [
        ("1,,3", [[0], tf.constant([], tf.int32), [0]], "Field 1 is required but missing in record 0!"),
        ("1,2", [0, 0, 0], "Expect 3 fields but have 2 in record 0"),
        ("a", [0], "Field 0 in record 0 is not a valid int32: a"),
        ('a,"b', ["", ""], "Quoted field has to end with quote followed by delim or end"),
        ('a"b,c', ["", ""], "Unquoted fields cannot have quotes/CRLFs inside"),
        ('"a"b,c', ["", ""], "Quote inside a string has to be escaped by another quote"),
        ('"a","b"c"', ["", ""], "Quote inside a string has to be escaped by another quote"),
        ('"a",b\n', ["", ""], "Unquoted fields cannot have quotes/CRLFs inside"),
        ('a""', [""], "Unquoted fields cannot have quotes/CRLFs inside"),
        (["1,2", ",x"], [0, 0], "Field 1 in record 1 is not a valid int32: x"),
        ("1", [tf.constant(0, tf.int8)], "int8"),
        ("1", [[[0]]], "at most rank 1"),
        ("1", [[0, 1]], "only be 1 default per field"),
    ],
)
@STAGED
def test_records_that_are_refused(staged, record, defaults, message):
    call = lambda r: io.decode_csv(r, defaults)  # noqa: E731
    with pytest.raises(REFUSED, match=message):
        (tf.function(call) if staged else call)(tf.constant(record))


@pytest.mark.parametrize(
    "value, message",
    [
        (tf.constant([1, 2, 3]), b'\x08\x03\x12\x04\x12\x02\x08\x03"\x0c\x01\0\0\0\x02\0\0\0\x03\0\0\0'),
        (tf.constant(1.5), b'\x08\x01\x12\x00"\x04\x00\x00\xc0?'),
        (tf.constant(["a", "bcd"]), b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x03bcd"),
        (tf.constant([[True]]), b'\x08\n\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"\x01\x01'),
        (tf.constant([], tf.int64), b"\x08\t\x12\x02\x12\x00"),
        (tf.constant([1.5], tf.float16), b'\x08\x13\x12\x04\x12\x02\x08\x01"\x02\x00>'),
        (tf.constant(b""), b"\x08\x07\x12\x00B\x00"),
    ],
)
@STAGED
def test_tensors_as_messages(staged, value, message):
    assert values(staged, io.serialize_tensor, value) == message
    back = (tf.function(io.parse_tensor) if staged else io.parse_tensor)(tf.constant(message), value.dtype)
    assert (back.dtype, back.shape) == (value.dtype, value.shape)
    assert np.array_equal(back.numpy(), value.numpy())


def test_messages_of_other_writers():
    sevens = io.parse_tensor(b"\x08\x03\x12\x04\x12\x02\x08\x03:\x01\x07", tf.int32)
    assert sevens.numpy().tolist() == [7, 7, 7]
    floats = io.parse_tensor(b"\x08\x01\x12\x04\x12\x02\x08\x02*\x08\x00\x00\x80?\x00\x00\x00@", tf.float32)
    assert floats.numpy().tolist() == [1.0, 2.0]
    for message, dtype in (
        (b"xyz", tf.int32),
        (b"\x08\x03\x12", tf.int32),
        (b"\x08\x03\x12\x00", tf.float32),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Could not parse|Type mismatch"):
            io.parse_tensor(message, dtype)


@STAGED
def test_whole_files(staged, tmp_path):
    path = str(tmp_path / "sub" / "f.txt")

    def write_and_read(text):
        io.write_file(path, text)
        return io.read_file(path), io.matching_files(os.path.join(tmp_path, "*", "*.txt"))

    assert values(staged, write_and_read, tf.constant("hello\n")) == (b"hello\n", [path.encode()])
    read, found = (tf.function(write_and_read) if staged else write_and_read)(tf.constant("again"))
    assert (read.numpy(), found.numpy().tolist()) == (b"again", [path.encode()])
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        io.read_file(str(tmp_path / "nope"))
    with pytest.raises(REFUSED, match="must be scalar"):
        (tf.function(io.read_file) if staged else io.read_file)([path])


def test_files_that_are_read_and_written(tmp_path):
    path = gfile.join(str(tmp_path), "a.txt")
    with gfile.GFile(path, "w") as file:
        file.write("one\ntwo\n")
    with gfile.GFile(path, "a") as file:
        file.write("three")
    assert list(gfile.GFile(path)) == ["one\n", "two\n", "three"]
    with gfile.GFile(path, "rb") as file:
        assert (file.size(), file.readline(), file.tell()) == (13, b"one\n", 4)
        file.seek(1)
        assert (file.read(2), file.readlines()) == (b"ne", [b"\n", b"two\n", b"three"])
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        gfile.GFile(str(tmp_path / "nope")).read()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        gfile.GFile(path, "x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="for writing"):
        gfile.GFile(path).write("x")
    with gfile.GFile(path, "w") as file, pytest.raises(tf.errors.PermissionDeniedError, match="for reading"):
        file.read()


def test_directories(tmp_path):
    top = str(tmp_path)
    inner = gfile.join(top, "m", "n")
    gfile.makedirs(inner)
    gfile.makedirs(inner)
    gfile.mkdir(gfile.join(top, "m"))
    assert gfile.isdir(inner)
    assert gfile.stat(inner).is_directory
    for name in ("a", "b"):
        with gfile.GFile(gfile.join(top, f"{name}.txt"), "w") as file:
            file.write(name)
    a, b = gfile.glob(gfile.join(top, "*.txt"))
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(a, b)
    gfile.copy(a, b, overwrite=True)
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.rename(a, b)
    gfile.rename(a, gfile.join(top, "c.txt"))
    assert sorted(gfile.listdir(top)) == ["b.txt", "c.txt", "m"]
    assert [(place[len(top) :], *rest) for place, *rest in gfile.walk(top)] == [
        ("", ["m"], ["b.txt", "c.txt"]), ("/m", ["n"], []), ("/m/n", [], []),
    ]  # fmt: skip
    gfile.remove(b)
    gfile.rmtree(gfile.join(top, "m"))
    assert not gfile.exists(b)
    assert not gfile.exists(inner)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda path: gfile.mkdir(gfile.join(path, "q", "r")), tf.errors.NotFoundError),
        (lambda path: gfile.remove(gfile.join(path, "q")), tf.errors.NotFoundError),
        (lambda path: gfile.remove(path), tf.errors.FailedPreconditionError),
        (lambda path: gfile.rmtree(gfile.join(path, "q")), tf.errors.NotFoundError),
        (lambda path: gfile.listdir(gfile.join(path, "q")), tf.errors.NotFoundError),
        (lambda path: gfile.stat(gfile.join(path, "q")), tf.errors.NotFoundError),
        (lambda path: gfile.copy(gfile.join(path, "q"), gfile.join(path, "z")), tf.errors.NotFoundError),
    ],
)
def test_missing_files_are_refused(tmp_path, call, error):
    with pytest.raises(error):
        call(str(tmp_path))


@STAGED
@pytest.mark.parametrize(
    "call",
    [
        lambda: io.decode_raw([b"\x01\x02", b"\x03"], tf.uint8),
        lambda: io.decode_raw(b"\x01\x02\x03", tf.int16),
        lambda: io.decode_raw(b"ab", tf.string),
        lambda: io.decode_raw(b"abc", tf.int16, fixed_length=3),
        lambda: io.decode_raw(1, tf.int32),
        lambda: io.parse_tensor(["x"], tf.int32),
        lambda: io.encode_base64(1),
    ],
)
def test_refused(staged, call):
    with pytest.raises(REFUSED):
        (tf.function(call) if staged else call)()
