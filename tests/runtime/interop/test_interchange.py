"""Tensors exchanged with other libraries: DLPack, buffers, pickles, notebooks, attributes that only arrays have."""

import copy
import html.parser
import pickle

import agc.runtime as tf
import numpy as np
import pytest

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def test_arrays_share_the_memory_of_a_tensor_and_cannot_write_to_it():
    array = np.from_dlpack(X)
    assert np.shares_memory(array, X._array)
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 9.0


def test_consumers_without_read_only_support_get_a_copy():
    class Old:
        def __dlpack__(self, stream=None):
            return X.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return X.__dlpack_device__()

    array = np.from_dlpack(Old())
    assert array.tolist() == X.numpy().tolist()
    assert not np.shares_memory(array, X._array)


def test_a_tensor_from_another_library_is_a_copy():
    array = np.arange(3.0)
    tensor = tf.experimental.dlpack.from_dlpack(array)
    array[0] = 9.0
    assert tensor.numpy().tolist() == [0.0, 1.0, 2.0]


def test_capsules_round_trip():
    capsule = tf.experimental.dlpack.to_dlpack(X)
    assert tf.experimental.dlpack.from_dlpack(capsule).numpy().tolist() == X.numpy().tolist()
    assert X.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("value", [tf.constant("text"), tf.constant(["a"])], ids=str)
def test_strings_have_no_dlpack(value):
    with pytest.raises(TypeError, match="only eager tensors of numbers"):
        tf.experimental.dlpack.to_dlpack(value)


def test_a_buffer_reads_a_tensor():
    """Support `__buffer__`, which memoryview(tensor) calls from Python 3.12 on."""
    view = tf.constant([1, 2, 3]).__buffer__(0)
    assert view.tolist() == [1, 2, 3]
    assert view.readonly


@pytest.mark.parametrize(
    "value",
    [X, tf.constant("é"), tf.TensorShape([None, 2]), tf.TensorSpec([2], name="x"), tf.float16],
    ids=lambda value: type(value).__name__,
)
def test_pickles_and_copies(value):
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert repr(again) == repr(value)


def test_a_traced_tensor_cannot_be_pickled():
    with pytest.raises(
        TypeError, match="a traced tensor cannot be pickled: `x` has no value until the graph"
    ):
        tf.function(lambda x: pickle.dumps(x), autograph=False)(X)


def test_a_traced_tensor_is_its_own_copy():
    @tf.function(autograph=False)
    def same(x):
        return (copy.copy(x) is x) and (copy.deepcopy([x])[0] is x)

    assert same(X)


class Cells(html.parser.HTMLParser):
    """The texts of a page, and whether its tags match."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.open = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def cells(value):
    """Return the texts that a notebook shows of a value after its heading."""
    return Cells(value._repr_html_()).texts[1:]


def test_notebooks_show_tensors_as_tables():
    assert Cells(X._repr_html_()).texts == [
        "tf.Tensor shape=(2, 2) dtype=float32  min 1  max 4",
        *("1.", "2.", "3.", "4."),
    ]
    assert cells(tf.constant(7)) == ["7"]
    assert cells(tf.constant(["<b>"])) == ["<b>"]
    assert cells(tf.constant([True, False])) == [" True", "False"]
    assert cells(tf.constant(["long" * 100])) == ["long" * 19 + "lon…"]
    assert cells(tf.zeros([0, 2])) == ["no elements"]
    assert "tf.Variable 'v:0'" in Cells(tf.Variable(1.0, name="v")._repr_html_()).texts[0]


def test_notebooks_align_numbers_and_count_those_that_are_not_finite():
    x = tf.constant([0.5, -12.25, float("nan")])
    assert cells(x) == ["  0.5 ", "-12.25", "   nan"]
    assert Cells(x._repr_html_()).texts[0].endswith("min -12.25  max 0.5  1 NaN or infinite")


def test_notebooks_show_the_ends_of_big_tensors():
    texts = cells(tf.reshape(tf.range(10_000), [100, 100]))
    assert len(texts) == 11 * 11
    assert (texts[0].strip(), texts[-1].strip(), texts.count("⋮")) == ("0", "9999", 11)


def test_notebooks_show_the_first_matrices_of_tensors_of_more_axes():
    texts = cells(tf.reshape(tf.range(16), [2, 2, 2, 2]))
    assert [text for text in texts if not text.strip().isdigit()] == [
        "[0, 0]",
        "[0, 1]",
        "[1, 0]",
        "… 1 more",
    ]
    assert cells(tf.zeros([1, 1, 1])) == ["[0]", "0."]


def test_notebooks_show_ragged_and_sparse_tensors_by_row_and_index():
    rows = tf.ragged.constant([[1, 2], [], [3]])
    assert Cells(rows._repr_html_()).texts[0] == "tf.RaggedTensor shape=(3, None) dtype=int32"
    assert cells(rows) == [
        *("row", "length", "elements"),
        "0",
        "2",
        "[1, 2]",
        "1",
        "0",
        "[]",
        "2",
        "1",
        "[3]",
    ]
    assert len(cells(tf.ragged.constant([[1]] * 100))) == 3 * (1 + 11)
    sparse = tf.sparse.from_dense([[0, 1], [2, 0]])
    assert cells(sparse) == ["index", "element", "[0, 1]", "1", "[1, 0]", "2"]


def test_tensors_of_graphs_are_shown_as_text():
    shown = []

    @tf.function(autograph=False)
    def f(rows, sparse):
        shown.extend([rows._repr_html_(), sparse._repr_html_()])
        return rows.flat_values

    f(tf.ragged.constant([[1]]), tf.sparse.from_dense([[1]]))
    assert shown == [None, None]


def test_notebooks_show_functions_and_graphs():
    @tf.function
    def double(x):
        return 2.0 * x

    texts = Cells(double._repr_html_()).texts
    assert texts[:2] == ["double(x): not traced yet", "Source"] and "Generated code" in texts
    assert "def double(x):" in "".join(texts)
    concrete = double.get_concrete_function(X)
    for page in (double._repr_html_(), concrete._repr_html_(), concrete.graph._repr_html_()):
        assert "double(" in "".join(Cells(page).texts)


def test_notebooks_show_datasets_without_an_iteration():
    def count():
        raise AssertionError("it is iterated")

    texts = Cells(
        tf.data.Dataset.from_generator(count, output_signature=tf.TensorSpec([2]))._repr_html_()
    ).texts
    assert texts[:3] == ["part", "type", "spec"] and "unknown elements" in texts
    assert "4 elements" in Cells(tf.data.Dataset.range(8).batch(2)._repr_html_()).texts
    assert "infinite elements" in Cells(tf.data.Dataset.counter()._repr_html_()).texts


def test_notebooks_show_profiles_as_tables():
    report = tf.profiler.profile(tf.function(lambda x: tf.tanh(x) * 2.0), X)
    texts = Cells(report._repr_html_()).texts
    assert {"Operations", "Lines", "share", "calls"} <= {*texts}
    assert any("tanh" in text for text in texts)


@pytest.mark.parametrize(
    ("name", "advice"),
    [("T", r"tf\.transpose\(x\)"), ("astype", r"tf\.cast"), ("tolist", r"x\.numpy\(\)\.tolist")],
)
def test_array_only_attributes_name_their_replacement(name, advice):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': write {advice}"):
        getattr(X, name)
    assert name not in dir(X) and not hasattr(tf.Tensor, name)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': .*write {advice}"):
        tf.function(lambda x: getattr(x, name), autograph=False)(X)


def test_objects_with_array_method_become_tensors():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.array([1, 2], dtype=dtype or np.int64)

    assert tf.constant(Column()).dtype is tf.int64
    assert tf.add(X[0], Column()).numpy().tolist() == [2.0, 4.0]


def test_dlpack_only_arrays_become_tensors():
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert tf.constant(Foreign(np.array([1.5]))).dtype is tf.float64
