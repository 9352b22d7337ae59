"""Tables that are filled once: the same rows in eager code, in each executor, in saved models and in pipelines."""

import agc.runtime as tf
import pytest
from support.everywhere import everywhere

Init = tf.lookup.KeyValueTensorInitializer
Lines = tf.lookup.TextFileIndex


@pytest.fixture
def words():
    return tf.lookup.StaticHashTable(Init(["a", "b"], [10, 20]), -1)


@pytest.fixture
def vocabulary():
    ids = tf.constant([0, 1, 2], tf.int64)
    return tf.lookup.StaticVocabularyTable(Init(["emerson", "lake", "palmer"], ids), 5)


class TestLookup:
    def test_every_executor_finds_the_same_values(self, words):
        keys = tf.constant([["a", "z"], ["b", "a"]])
        assert everywhere(words.lookup, keys).tolist() == [[10, -1], [20, 10]]

    def test_integers_are_keys_in_native_code(self):
        table = tf.lookup.StaticHashTable(Init([3, 5], [0.5, 0.25]), 9.0)
        scaled = tf.function(lambda x: table.lookup(x + 1) * 2.0, jit_compile=True)
        assert scaled(tf.constant([2, 4, 8])).numpy().tolist() == [1.0, 0.5, 18.0]

    def test_ragged_and_sparse_keys_keep_their_places(self, words):
        ragged = tf.function(words.lookup)(tf.ragged.constant([["a"], [], ["z", "b"]]))
        assert ragged.to_list() == [[10], [], [-1, 20]]
        sparse = words.lookup(tf.sparse.from_dense([["a", ""], ["", "z"]]))
        assert sparse.indices.numpy().tolist() == [[0, 0], [1, 1]]
        assert sparse.values.numpy().tolist() == [10, -1]

    def test_values_may_be_strings(self):
        table = tf.lookup.StaticHashTable(Init([1, 2], ["one", "two"]), "many")
        assert everywhere(table.lookup, tf.constant([2, 3])).tolist() == [b"two", b"many"]

    def test_a_table_can_be_made_inside_a_traced_function(self):
        @tf.function
        def found(keys):
            return tf.lookup.StaticHashTable(Init(["a"], [1]), 0)[keys]

        assert found(tf.constant(["a", "b"])).numpy().tolist() == [1, 0]

    def test_vectorized_map_looks_up_all_rows_at_once(self, words):
        rows = tf.constant([["a", "q"], ["b", "b"]])
        assert tf.vectorized_map(words.lookup, rows).numpy().tolist() == [[10, -1], [20, 20]]

    def test_a_loop_over_keys_looks_up_each(self, words):
        @tf.function
        def total(keys):
            found = 0
            for key in keys:
                if key != "a":
                    found += words.lookup(key)
            return found

        assert total(tf.constant(["a", "b", "b"])).numpy() == 40

    def test_pipelines_look_up_elements(self, words):
        found = tf.data.Dataset.from_tensor_slices(["b", "q"]).map(words.lookup).batch(2)
        assert next(iter(found)).numpy().tolist() == [20, -1]


class TestRows:
    def test_size_and_export(self, words):
        keys, values = words.export()
        assert int(words.size()) == 2
        assert dict(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True)) == {b"a": 10, b"b": 20}

    def test_equal_rows_count_once(self):
        assert int(tf.lookup.StaticHashTable(Init(["a", "a"], [1, 1]), 0).size()) == 1

    def test_two_values_of_one_key_are_an_error(self):
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"Key a has 1 and trying to add value 2"):
            tf.lookup.StaticHashTable(Init(["a", "a"], [1, 2]), 0)

    @pytest.mark.parametrize(
        ("keys", "values", "error", "text"),
        [
            (["a", "b"], [1], tf.errors.InvalidArgumentError, r"Expected shape \[2\] for value, got \[1\]"),
            ([], [], TypeError, "Keys of a lookup table are string, int32 or int64, not float32"),
            ([True], [1], TypeError, "not bool"),
        ],
    )
    def test_rows_that_fit_no_table_are_refused(self, keys, values, error, text):
        with pytest.raises(error, match=text):
            tf.lookup.StaticHashTable(Init(keys, values), -1)

    def test_a_default_value_of_another_dtype_is_refused(self):
        with pytest.raises(TypeError, match="Cannot convert 'x'"):
            tf.lookup.StaticHashTable(Init(["a"], [1]), "x")

    def test_keys_of_another_dtype_are_refused(self, words):
        with pytest.raises(TypeError, match=r"Dtype of argument `keys` must be string, received: int32"):
            words.lookup(tf.constant([1]))

    def test_traced_keys_of_a_static_table_are_refused_with_the_fix(self):
        @tf.function
        def made(keys):
            return tf.lookup.StaticHashTable(Init(keys, [1, 2]), 0).lookup(keys)

        with pytest.raises(ValueError, match=r"when the graph runs.*MutableHashTable"):
            made(tf.constant(["a", "b"]))

    def test_a_subclass_may_leave_the_table_empty(self):
        class Nothing(Init):
            def __init__(self):
                pass

            key_dtype = property(lambda self: tf.string)
            value_dtype = property(lambda self: tf.int64)

            def initialize(self, table):
                pass

        table = tf.lookup.StaticHashTable(Nothing(), -1)
        assert table.lookup(["a"]).numpy().tolist() == [-1]
        assert int(table.size()) == 0


class TestTextFiles:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "vocabulary.txt"
        path.write_bytes(b"emerson 10\r\nlake 20\npalmer 30\n")
        return str(path)

    def rows(self, *arguments, default=-1, **options):
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(*arguments, **options), default)
        keys, values = (part.numpy().tolist() for part in table.export())
        return dict(zip(keys, values, strict=True))

    def test_columns_lines_and_their_numbers(self, path):
        assert self.rows(path, tf.string, 0, tf.int64, 1, delimiter=" ") == {
            b"emerson": 10, b"lake": 20, b"palmer": 30,
        }  # fmt: skip
        whole = self.rows(
            path, tf.string, Lines.WHOLE_LINE, tf.int64, Lines.LINE_NUMBER, vocab_size=2, value_index_offset=5
        )
        assert whole == {b"emerson 10": 5, b"lake 20": 6}
        assert self.rows(path, tf.int64, Lines.LINE_NUMBER, tf.string, 0, default="", delimiter=" ") == {
            0: b"emerson", 1: b"lake", 2: b"palmer",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("arguments", "options", "error", "text"),
        [
            ((tf.string, 0, tf.int64, 5), {"delimiter": " "}, tf.errors.InvalidArgumentError, "expected at least 6"),
            ((tf.string, 1, tf.int64, 0), {"delimiter": " "}, tf.errors.InvalidArgumentError, "emerson in line 0"),
            ((tf.string, -2, tf.int64, -1), {"vocab_size": 9}, tf.errors.InvalidArgumentError, "expected 9 but got 3"),
            ((tf.string, -1, tf.int64, 0), {}, ValueError, "`key_dtype` must be int64 if `key_index` is -1"),
            ((tf.string, -3, tf.int64, 0), {}, ValueError, "`key_index` should be >= -2"),
            ((tf.string, -2, tf.int64, -1), {"vocab_size": 0}, ValueError, "`vocab_size` should be > 0"),
        ],
    )  # fmt: skip
    def test_files_that_fit_no_table_are_refused(self, path, arguments, options, error, text):
        with pytest.raises(error, match=text):
            self.rows(path, *arguments, **options)

    def test_an_empty_line_is_refused(self, tmp_path):
        (tmp_path / "gap.txt").write_text("a\n\nb")
        with pytest.raises(tf.errors.InvalidArgumentError, match="line 1 is empty"):
            self.rows(str(tmp_path / "gap.txt"), tf.string, Lines.WHOLE_LINE, tf.int64, Lines.LINE_NUMBER)

    def test_a_missing_file_is_not_found(self):
        with pytest.raises(tf.errors.NotFoundError):
            self.rows("/no/such/file", tf.string, Lines.WHOLE_LINE, tf.int64, Lines.LINE_NUMBER)


class TestVocabularies:
    def test_other_keys_get_ids_by_their_hash(self, vocabulary):
        keys = tf.constant(["emerson", "lake", "palmer", "king", "crimson"])
        assert everywhere(vocabulary.lookup, keys).tolist() == [0, 1, 2, 6, 7]
        assert int(vocabulary.size()) == 8
        assert vocabulary.lookup(tf.ragged.constant([["lake", "king"], []])).to_list() == [[1, 6], []]

    def test_integers_are_hashed_as_their_digits(self):
        keys = Init(tf.constant([7, 8], tf.int64), tf.constant([0, 1], tf.int64))
        table = tf.lookup.StaticVocabularyTable(keys, 3, lookup_key_dtype=tf.int32)
        assert table.lookup(tf.constant([7, 8, 9, 10])).numpy().tolist() == [0, 1, 4, 4]

    def test_without_a_vocabulary_all_keys_are_hashed(self):
        assert tf.lookup.StaticVocabularyTable(None, 5).lookup(["a", "b"]).numpy().tolist() == [4, 2]

    def test_vocabularies_need_buckets_and_fitting_dtypes(self):
        ids = Init(["a"], tf.constant([0], tf.int64))
        with pytest.raises(ValueError, match="`num_oov_buckets` must be > 0; use StaticHashTable"):
            tf.lookup.StaticVocabularyTable(ids, 0)
        with pytest.raises(TypeError, match="Invalid `value_dtype`, expected int64 but got int32"):
            tf.lookup.StaticVocabularyTable(Init(["a"], [0]), 1)
        with pytest.raises(TypeError, match="Invalid `key_dtype`, expected string but got int64"):
            tf.lookup.StaticVocabularyTable(ids, 1, tf.int64)


class TestDatasets:
    def test_tables_are_filled_from_datasets(self):
        pairs = tf.data.Dataset.from_tensor_slices((["a", "b", "c"], tf.constant([5, 6, 7], tf.int64)))
        make = tf.data.experimental.table_from_dataset
        assert make(pairs, vocab_size=2, default_value=0).lookup(["b", "c"]).numpy().tolist() == [6, 0]
        assert make(pairs, num_oov_buckets=2).lookup(["b", "z"]).numpy().tolist() == [6, 4]
        words = tf.data.Dataset.from_tensor_slices(["x", "y"])
        assert tf.data.experimental.index_table_from_dataset(words)[["y", "z"]].numpy().tolist() == [1, -1]

    def test_elements_must_be_pairs_of_scalars(self):
        words = tf.data.Dataset.from_tensor_slices(["x", "y"])
        with pytest.raises(ValueError, match=r"in the form .key, value.*of 1 components"):
            tf.data.experimental.DatasetInitializer(words)
        with pytest.raises(ValueError, match="non-scalar key Tensors of rank 1"):
            tf.data.experimental.DatasetInitializer(words.batch(2))


class TestSaving:
    def test_a_saved_model_contains_the_rows(self, words, tmp_path):
        module = tf.Module()
        module.words = words
        module.find = tf.function(words.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
        tf.saved_model.save(module, tmp_path / "model")
        restored = tf.saved_model.load(tmp_path / "model")
        assert restored.find(tf.constant(["b", "z"])).numpy().tolist() == [20, -1]

    def test_a_checkpoint_contains_no_rows(self, words, tmp_path):
        path = tf.train.Checkpoint(words=words).save(tmp_path / "points")
        assert not [name for name, _ in tf.train.list_variables(path) if "words" in name]


def test_a_number_in_a_file_that_the_dtype_cannot_hold_is_named(tmp_path):
    (tmp_path / "numbers").write_text("a 1\nb 3000000000\n")
    reader = tf.lookup.TextFileInitializer(
        str(tmp_path / "numbers"), tf.string, 0, tf.int32, 1, delimiter=" "
    )
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Field 3000000000 in line 1 of .* is not a valid int32"
    ):
        tf.lookup.StaticHashTable(reader, -1)
