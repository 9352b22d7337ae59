"""Tables that change: in program order in graphs, with their rows in checkpoints and saved models."""

import threading

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.kernels.hash_index import HashIndex

Table = tf.lookup.experimental.MutableHashTable
Dense = tf.lookup.experimental.DenseHashTable
EXECUTORS = {
    "plan": {"jit_compile": False},
    "interpret": {"experimental_executor": "interpret"},
    "default": {},
}


def rows(table):
    keys, values = (part.numpy().tolist() for part in table.export())
    return {
        tuple(key) if isinstance(key, list) else key: value for key, value in zip(keys, values, strict=True)
    }


@pytest.fixture
def counts():
    table = Table(tf.string, tf.int64, -1)
    table.insert(["a", "b"], [1, 2])
    return table


class TestChanges:
    def test_insert_replaces_and_remove_forgets(self, counts):
        assert counts.insert(["b", "c", "c"], [7, 8, 9]) is None
        assert rows(counts) == {b"a": 1, b"b": 7, b"c": 9}
        assert counts.remove(["a", "zz"]) is None
        assert rows(counts) == {b"b": 7, b"c": 9}
        assert counts[["a", "b"]].numpy().tolist() == [-1, 7]
        assert int(counts.size()) == 2

    @pytest.mark.parametrize("options", EXECUTORS.values(), ids=EXECUTORS)
    def test_graphs_change_tables_in_program_order(self, counts, options):
        @tf.function(**options)
        def count(words):
            before = counts.size()
            for word in words:
                counts.insert(word, tf.maximum(counts.lookup(word), 0) + 1)
            counts.remove(["b"])
            return before, counts.size(), counts.lookup(words)

        before, after, found = count(tf.constant(["a", "c", "b", "c"]))
        assert (int(before), int(after)) == (2, 2)
        assert found.numpy().tolist() == [2, 2, -1, 2]

    def test_native_code_is_refused_as_in_tensorflow(self, counts):
        with pytest.raises(Exception, match="find_in_mutable_table: variables are not compiled"):
            tf.function(counts.lookup, jit_compile=True)(tf.constant(["a"]))

    def test_defaults_may_be_given_with_the_keys(self, counts):
        assert counts.lookup(["a", "q"], dynamic_default_values=[5, 6]).numpy().tolist() == [1, 6]
        assert counts.lookup(["a", "q"], dynamic_default_values=7).numpy().tolist() == [1, 7]

    def test_ragged_and_sparse_keys_keep_their_places(self, counts):
        assert counts.lookup(tf.ragged.constant([["a"], [], ["q"]])).to_list() == [[1], [], [-1]]
        assert counts.lookup(tf.sparse.from_dense([["", "b"]])).values.numpy().tolist() == [2]

    def test_values_have_the_shape_of_the_default(self):
        table = Table(tf.int64, tf.float32, [0.0, 0.0])
        table.insert([1], [[2.0, 3.0]])
        assert table.lookup([[1, 5]]).numpy().tolist() == [[[2.0, 3.0], [0.0, 0.0]]]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Expected shape \(1, 2\) for value, got \(1,\)"
        ):
            table.insert([1], [2.0])
        assert rows(table) == {1: [2.0, 3.0]}

    def test_shapes_that_are_known_late_are_checked_at_each_run(self, counts):
        spec = [tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)]
        insert = tf.function(counts.insert, input_signature=spec)
        insert(tf.constant(["n"]), tf.constant([5], tf.int64))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape"):
            insert(tf.constant(["n"]), tf.constant([5, 6], tf.int64))
        assert rows(counts)[b"n"] == 5

    def test_other_dtypes_are_refused(self, counts):
        with pytest.raises(ValueError, match="int64 for Tensor with dtype int32"):
            counts.insert(["a"], tf.constant([1]))
        with pytest.raises(TypeError, match="must be string, received: int32"):
            counts.lookup(tf.constant([1]))
        with pytest.raises(TypeError, match="must be string, received: int32"):
            counts.remove(tf.constant([1]))
        with pytest.raises(TypeError, match="Keys of a lookup table are string, int32 or int64, not float32"):
            Table(tf.float32, tf.int64, 0)

    def test_pipelines_see_changes(self, counts):
        pipeline = tf.data.Dataset.from_tensor_slices(["a", "new"]).map(counts.lookup).batch(2)
        assert next(iter(pipeline)).numpy().tolist() == [1, -1]
        counts.insert(["new"], [4])
        assert next(iter(pipeline)).numpy().tolist() == [1, 4]

    def test_exports_are_copies(self, counts):
        _, before = counts.export()
        counts.insert(["a"], [100])
        assert before.numpy().tolist() == [1, 2]

    def test_threads_insert_all_their_rows(self):
        table = Table(tf.int64, tf.int64, -1)

        def insert(first):
            for key in range(first, first + 50):
                table.insert([key], [key * 2])

        threads = [threading.Thread(target=insert, args=(50 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert rows(table) == {key: 2 * key for key in range(200)}


class TestSaving:
    def test_checkpoints_restore_the_rows(self, counts, tmp_path):
        point = tf.train.Checkpoint(counts=counts)
        path = point.save(tmp_path / "points")
        counts.insert(["c"], [3])
        counts.remove(["a"])
        point.restore(path)
        assert rows(counts) == {b"a": 1, b"b": 2}
        assert counts.lookup(["c", "b"]).numpy().tolist() == [-1, 2]
        fresh = Table(tf.string, tf.int64, -1)
        tf.train.Checkpoint(counts=fresh).restore(path)
        assert rows(fresh) == {b"a": 1, b"b": 2}

    def test_a_table_may_stay_out_of_checkpoints(self, tmp_path):
        table = Table(tf.string, tf.int64, -1, checkpoint=False)
        path = tf.train.Checkpoint(table=table).save(tmp_path / "points")
        assert not [name for name, _ in tf.train.list_variables(path) if name.startswith("table")]

    def test_saved_models_contain_the_rows_and_can_change_them(self, counts, tmp_path):
        module = tf.Module()
        module.counts = counts
        module.find = tf.function(counts.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
        module.add = tf.function(
            lambda key: counts.insert(key, tf.zeros_like(key, tf.int64)),
            input_signature=[tf.TensorSpec([None], tf.string)],
        )
        tf.saved_model.save(module, tmp_path / "model")
        restored = tf.saved_model.load(tmp_path / "model")
        assert restored.find(tf.constant(["b", "n"])).numpy().tolist() == [2, -1]
        restored.add(tf.constant(["n"]))
        assert restored.find(tf.constant(["b", "n"])).numpy().tolist() == [2, 0]
        assert rows(counts) == {b"a": 1, b"b": 2}


class TestDenseTables:
    def test_reserved_keys_are_refused_in_every_executor(self):
        table = Dense(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1)
        table.insert_or_assign([5], [50])
        for find in (table.lookup, *(tf.function(table.lookup, **options) for options in EXECUTORS.values())):
            assert find(tf.constant([5, 6], tf.int64)).numpy().tolist() == [50, -1]
            with pytest.raises(tf.errors.InvalidArgumentError, match="Using the empty_key as a table key"):
                find(tf.constant([5, 0], tf.int64))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Using the deleted_key as a table key"):
            table.erase([-1])
        table.erase([5])
        assert int(table.size()) == 0

    def test_keys_may_be_vectors(self):
        table = Dense(tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[-1, -1])
        table.insert([[1, 2], [3, 4]], [7, 8])
        assert rows(table) == {(1, 2): 7, (3, 4): 8}
        assert table.lookup([[[3, 4]], [[5, 5]]]).numpy().tolist() == [[8], [-1]]
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            table.lookup([[1, 2, 3]])

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"empty_key": 0, "deleted_key": 0}, "Empty and deleted keys cannot be equal"),
            (
                {"empty_key": 0, "deleted_key": -1, "initial_num_buckets": 3},
                "at least 4 and a power of 2, got: 3",
            ),
        ],
    )
    def test_options_that_make_no_table_are_refused(self, options, text):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            Dense(tf.int64, tf.int64, -1, **options)


def test_random_changes_agree_with_a_dict():
    random, expected = np.random.default_rng(0), {}
    index = HashIndex(np.empty(0, np.int64), np.empty((0, 2)))
    for _ in range(200):
        keys = random.integers(0, 30, random.integers(1, 6))
        if random.random() < 0.6:
            values = random.random((len(keys), 2))
            index.insert(keys, values)
            expected.update(zip(keys.tolist(), values.tolist(), strict=True))
        else:
            index.remove(keys)
            for key in keys.tolist():
                expected.pop(key, None)
        assert dict(zip(index.keys.tolist(), index.values.tolist(), strict=True)) == expected
        assert index.find(np.arange(30), np.zeros(2)).tolist() == [
            expected.get(key, [0, 0]) for key in range(30)
        ]
