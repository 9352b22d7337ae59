"""Saved models: what is loaded does what was saved, without the code, or says why it cannot.

Signatures, choices among graphs and classes of errors are those of TensorFlow 2.21.
"""

import collections
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.saved_model import file_format
from agc.runtime.storage import checksummed_json

X = tf.constant([[1.0, 2.0]])
V = tf.Variable(3)


class Model(tf.Module):
    """Variables here and in containers, Python-valued arguments, control flow, effects."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.steps = tf.Variable(0, trainable=False)
        self.layers = [tf.Variable(5.0), {"a": tf.Variable(6.0)}]
        self.offset = tf.constant([1.0, 1.0])

    @tf.function
    def __call__(self, x, training=False, scale=2.0):
        self.steps.assign_add(1)
        if training:
            return {"y": tf.matmul(x, self.w) * scale, "n": (self.steps.read_value(), None)}
        y = x @ self.w + self.offset
        for _ in tf.range(2):
            if tf.reduce_sum(y) > 10.0:
                y = y - self.layers[0]
        return y

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="inp")])
    def fixed(self, x):
        return x * self.layers[1]["a"]

    @tf.function
    def never_called(self, x):
        return x


@pytest.fixture
def model():
    made = Model()
    made(X)
    made(X, training=True)
    return made


@pytest.fixture
def folder(model, tmp_path):
    tf.saved_model.save(model, tmp_path / "model")
    return tmp_path / "model"


def reloaded(value, tmp_path, **options):
    tf.saved_model.save(value, tmp_path / "other", **options)
    return tf.saved_model.load(tmp_path / "other")


def holding(**attributes):
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def test_a_loaded_model_computes_the_same(model, folder):
    loaded = tf.saved_model.load(folder)
    assert loaded(X).numpy().tolist() == model(X).numpy().tolist()
    result = loaded(X, training=True)
    assert result["y"].numpy().tolist() == [[14.0, 20.0]]
    assert (int(result["n"][0]), result["n"][1]) == (4, None)
    assert int(loaded.steps) == 4  # its own, which was 2 when it was saved


@pytest.mark.parametrize("tags", [None, "serve", ["serve"], {"serve"}])
def test_a_model_has_the_tag_serve(folder, tags):
    assert tf.saved_model.load(folder, tags=tags).steps.dtype is tf.int32


@pytest.mark.parametrize("tags", ["foo", ["foo"], ["serve", "gpu"], []])
def test_tags_that_the_model_lacks_are_refused(folder, tags):
    with pytest.raises(ValueError, match=r"incompatible argument to `tags`.* has graphs .*\[\['serve'\]\]"):
        tf.saved_model.load(folder, tags=tags)


def test_constants_name_the_keys_of_signatures_and_the_files_of_tensorflow():
    assert tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY == "serving_default"
    assert (tf.saved_model.PREDICT_INPUTS, tf.saved_model.PREDICT_OUTPUTS) == ("inputs", "outputs")
    assert (tf.saved_model.SAVED_MODEL_FILENAME_PB, tf.saved_model.SAVED_MODEL_SCHEMA_VERSION) == (
        "saved_model.pb",
        1,
    )


def test_loading_needs_no_code_of_the_model(folder):
    program = (
        "import sys, agc.runtime as tf\n"
        "loaded = tf.saved_model.load(sys.argv[1])\n"
        "print(loaded(tf.constant([[1.0, 2.0]])).numpy().tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[[3.0, 6.0]]\n"


def test_the_variables_are_found_under_their_names(folder):
    loaded = tf.saved_model.load(folder)
    assert loaded.w.name == "w:0"
    assert loaded.w.trainable
    assert not loaded.steps.trainable
    assert float(loaded.layers[1]["a"]) == 6.0
    assert len(loaded.variables) == 4
    assert not hasattr(loaded, "offset")


def test_assigning_a_loaded_variable_changes_the_result(folder):
    loaded = tf.saved_model.load(folder)
    before = loaded.fixed(X)
    loaded.layers[1]["a"].assign(12.0)
    assert loaded.fixed(X).numpy().tolist() == (2 * before).numpy().tolist()


def test_arguments_choose_among_the_graphs(folder):
    loaded = tf.saved_model.load(folder)
    assert loaded(X, True, 2.0)["y"].shape == (1, 2)
    assert loaded.fixed([[1.0, 2.0]]).numpy().tolist() == [[6.0, 12.0]]
    assert loaded.fixed(np.ones([3, 2], np.float32)).shape == (3, 2)
    with pytest.raises(
        ValueError, match=r"(?s)Could not find matching.*scale=3.0.*expected one of 2:.*training=True"
    ):
        loaded(X, training=True, scale=3.0)
    with pytest.raises(ValueError, match="Could not find matching"):
        loaded(tf.ones([4, 2]))
    with pytest.raises(
        ValueError,
        match=r"for never_called\(\): it was saved without a graph. Call it before saving",
    ):
        loaded.never_called(X)


def test_errors_name_the_types_that_a_graph_takes(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x, **scales: x * scales["a"][0])
    module.f(tf.ones([2, 3]), a=[tf.constant(2.0)])
    module.g = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None, 3])])
    tf.saved_model.save(module, tmp_path, signatures=module.g)
    loaded = tf.saved_model.load(tmp_path)
    with pytest.raises(ValueError) as failure:
        loaded.f(tf.ones([5, 3]), a=[[0.0] * 1000])
    got, expected = str(failure.value).splitlines()
    assert "(float32[5, 3], a=[[0.0, " in got
    assert len(got) < 200
    assert expected == "  lambda_(x: float32[2, 3], scales['a'][0]: float32[])"
    with pytest.raises(
        TypeError, match=r"`x` is float32\[2\], but the graph was traced for float32\[\?, 3\]"
    ):
        loaded.signatures["serving_default"](x=tf.ones([2]))
    with pytest.raises(KeyError, match="no signature 'predict' among those of the model: 'serving_default'"):
        loaded.signatures["predict"]


def test_graphs_are_found_by_specs(folder):
    loaded = tf.saved_model.load(folder)
    concrete = vars(loaded)["__call__"]
    graph = concrete.get_concrete_function(tf.TensorSpec([1, 2]))
    assert graph(X).numpy().tolist() == [[3.0, 6.0]]
    assert len(concrete.concrete_functions) == 2


def test_tensors_of_a_signature_have_the_names_of_tensorflow(tmp_path):
    two, named = (
        [tf.TensorSpec([]), tf.TensorSpec([])],
        {"b": tf.TensorSpec([]), "a": tf.TensorSpec([], name="q")},
    )
    module = tf.Module()
    module.f = tf.function(lambda x, d, x_1: x[0] - x[1] + d["a"] * x_1, input_signature=[two, named, two[0]])
    tf.saved_model.save(module, tmp_path)
    signature = tf.saved_model.load(tmp_path).signatures["serving_default"]
    assert sorted(signature.structured_input_signature[1]) == ["d", "q", "x", "x_1", "x_1_1"]
    values = {
        name: tf.constant(value)
        for name, value in {"x": 1.0, "x_1": 2.0, "q": 3.0, "d": 4.0, "x_1_1": 5.0}.items()
    }
    assert signature(**values)["output_0"] == 14.0


def test_functions_are_loaded_by_aliases(tmp_path):
    module = tf.Module()
    module.factor = tf.Variable(2.0)
    module.scale = tf.function(lambda x: x * module.factor, input_signature=[tf.TensorSpec([])])
    options = tf.saved_model.SaveOptions(function_aliases={"twice": module.scale})
    tf.saved_model.save(module, tmp_path, options=options)
    loaded = tf.saved_model.load(
        tmp_path, options=tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    )
    assert loaded.function_aliases["twice"](tf.constant(3.0)) == 6.0
    loaded.factor.assign(5.0)
    assert loaded.function_aliases["twice"](tf.constant(3.0)) == 15.0
    assert not hasattr(tf.saved_model.load(tmp_path), "function_aliases")


@pytest.mark.parametrize("of_child", [False, True])
def test_aliases_of_methods_take_no_object(tmp_path, of_child):
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([])])
        def times(self, x):
            return x * self.factor

    scale = Scale()
    root = scale
    if of_child:
        root = tf.Module()
        root.child = scale
    aliases = {"method": scale.times, "graph": scale.times.get_concrete_function()}
    if of_child:
        del aliases["graph"]  # it has lost its object
    tf.saved_model.save(root, tmp_path, options=tf.saved_model.SaveOptions(function_aliases=aliases))
    loaded = tf.saved_model.load(
        tmp_path, options=tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    )
    assert [loaded.function_aliases[name](tf.constant(3.0)) for name in aliases] == [6.0] * len(aliases)


def test_a_single_function_with_input_signature_is_serving_default(folder):
    loaded = tf.saved_model.load(folder)
    assert list(loaded.signatures) == ["serving_default"]
    serving = loaded.signatures["serving_default"]
    assert serving.structured_input_signature == ((), {"inp": tf.TensorSpec([None, 2], name="inp")})
    assert serving.structured_outputs == {"output_0": tf.TensorSpec([None, 2], name="output_0")}
    assert serving(inp=X)["output_0"].numpy().tolist() == [[6.0, 12.0]]
    with pytest.raises(TypeError, match="takes exactly inp: `inp` is missing, `y` is unknown"):
        serving(y=X)


def test_functions_without_results_are_no_signature(tmp_path):
    total = tf.Variable(1.0)

    @tf.function(input_signature=[tf.TensorSpec([])])
    def add(x):
        total.assign_add(x)

    @tf.function(input_signature=[])
    def read():
        return total.read_value()

    loaded = reloaded(holding(add=add, total=total), tmp_path)
    assert list(loaded.signatures) == []
    loaded.add(tf.constant(2.0))
    assert float(loaded.total) == 3.0
    loaded = reloaded(holding(add=add, read=read, total=total), tmp_path)
    assert float(loaded.signatures["serving_default"]()["output_0"]) == 1.0


def test_signatures_take_and_give_tensors_by_name(tmp_path):
    @tf.function
    def pair(x, y):
        return x, x + y

    module = holding(pair=pair)
    chosen = pair.get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([], name="q"))
    loaded = reloaded(module, tmp_path, signatures={"both": chosen})
    found = loaded.signatures["both"](x=tf.constant(1.0), q=tf.constant(2.0))
    assert {name: float(value) for name, value in found.items()} == {"output_0": 1.0, "output_1": 3.0}


def test_a_signature_with_one_tensor_takes_no_second_one(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([])])
    def double(x):
        return 2.0 * x

    signature = reloaded(holding(double=double), tmp_path).signatures["serving_default"]
    x = tf.constant(3.0)
    assert signature(x)["output_0"].numpy() == 6.0
    with pytest.raises(TypeError, match="takes its tensors by name: x"):
        signature(x, x)


def test_python_values_are_part_of_a_signature(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([])])
    def scaled(x, n=5, mode="up"):
        return x * n if mode == "up" else x / n

    @tf.function
    def power(x, n):
        return x**n

    loaded = reloaded(holding(scaled=scaled), tmp_path)
    assert float(loaded.scaled(tf.constant(2.0))) == float(loaded.scaled(tf.constant(2.0), 5)) == 10.0
    assert float(loaded.signatures["serving_default"](x=tf.constant(2.0))["output_0"]) == 10.0
    cube = power.get_concrete_function(tf.TensorSpec([]), 3)
    loaded = reloaded(holding(power=power), tmp_path, signatures=cube)
    assert float(loaded.signatures["serving_default"](x=tf.constant(2.0))["output_0"]) == 8.0


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (3, "to be a `tf.function` or a concrete function, but got 3"),
        (tf.function(lambda x: x), "has 0 graphs"),
        (
            tf.function(lambda x, v: x).get_concrete_function(X, V),
            "cannot take `v`, since only tensors",
        ),
        (tf.function(lambda x: [[x]]).get_concrete_function(tf.TensorSpec([])), "a signature gives a tensor"),
    ],
    ids=["number", "untraced", "variable", "nested result"],
)
def test_an_invalid_signature_is_refused(tmp_path, value, reason):
    with pytest.raises(ValueError, match=reason):
        tf.saved_model.save(tf.Module(), tmp_path / "model", signatures=value)
    assert not (tmp_path / "model" / file_format.INDEX).exists()


def test_a_loaded_model_can_be_saved_and_checkpointed_again(folder, tmp_path):
    loaded = tf.saved_model.load(folder)
    again = reloaded(loaded, tmp_path)
    assert again(X).numpy().tolist() == [[3.0, 6.0]]
    path = tf.train.Checkpoint(model=again).save(tmp_path / "ckpt")
    again.w.assign(tf.zeros([2, 2]))
    tf.train.Checkpoint(model=loaded).restore(path).assert_consumed()
    assert loaded.w.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_nests_keep_their_structure(tmp_path):
    pair = collections.namedtuple("pair", "a b")

    @tf.function
    def mixed(p, table, *more, **named):
        return pair(p.a + table["k"], p.b), [more[0], named["n"], "text", 1.5, None]

    values = pair(tf.constant(1), 2), {"k": tf.constant(3)}, tf.constant(4)
    mixed(*values, n=tf.constant(5))
    result, rest = reloaded(holding(mixed=mixed), tmp_path).mixed(*values, n=tf.constant(6))
    assert (int(result.a), int(result.b)) == (4, 2)
    assert (int(rest[0]), int(rest[1])) == (4, 6)


def test_composite_tensors_are_arguments_and_results(tmp_path):
    double = tf.function(lambda x: tf.IndexedSlices(x.values * 2.0, x.indices))
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]))
    double(slices)
    result = reloaded(holding(double=double), tmp_path).double(slices)
    assert isinstance(result, tf.IndexedSlices)
    assert result.values.numpy().tolist() == [2.0]


def test_submodules_and_shared_variables(tmp_path):
    shared = tf.Variable(2.0)
    inner = holding(v=shared, f=tf.function(lambda x: x * shared, input_signature=[tf.TensorSpec([])]))
    loaded = reloaded(holding(inner=inner, same=shared), tmp_path)
    loaded.same.assign(5.0)
    assert loaded.inner.v is loaded.same
    assert float(loaded.inner.f(3.0)) == 15.0


def test_functions_that_call_functions(tmp_path):
    inner = tf.function(lambda x: x + 1.0)
    outer = tf.function(lambda x: inner(inner(x)), input_signature=[tf.TensorSpec([])])
    assert float(reloaded(holding(outer=outer), tmp_path).outer(1.0)) == 3.0


def test_functions_that_raise(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def checked(x):
        if x < 0:
            raise ValueError(f"{x} is negative")
        if x > 9:
            raise IndexError
        return x

    loaded = reloaded(holding(checked=checked), tmp_path)
    assert int(loaded.checked(3)) == 3
    with pytest.raises(ValueError, match=r"^-1 is negative"):
        loaded.checked(-1)
    with pytest.raises(IndexError) as raised:
        loaded.checked(10)
    assert raised.value.args == ()


def test_an_untracked_variable_is_named(tmp_path):
    lost = tf.Variable(1.0, name="lost")
    module = holding(f=tf.function(lambda x: x + lost, input_signature=[tf.TensorSpec([])]))
    with pytest.raises(
        AssertionError, match="'untracked' resource: the variable 'lost:0' must be an attribute"
    ):
        tf.saved_model.save(module, tmp_path / "model")


def test_python_code_cannot_be_saved(tmp_path):
    module = holding(f=tf.function(lambda x: tf.py_function(lambda a: a, [x], tf.float32)))
    module.f(tf.constant(1.0))
    with pytest.raises(ValueError, match=r"'py_function' at .*test_saved_model.py:\d+.* cannot be saved"):
        tf.saved_model.save(module, tmp_path / "model")


def test_graphs_for_python_objects_are_left_out_and_named(tmp_path, caplog):
    module = holding(f=tf.function(lambda thing, x: x))
    module.f(object, tf.constant(1.0))
    with caplog.at_level(logging.WARNING, "agc"):
        tf.saved_model.save(module, tmp_path / "model")
    assert re.search(
        "a graph of .* is not saved: its argument `thing` is the Python object <class 'object'>", caplog.text
    )


@pytest.mark.parametrize("value", [3, [tf.Variable(1.0)], None], ids=repr)
def test_only_objects_with_children_are_models(tmp_path, value):
    with pytest.raises(ValueError, match=r"Expected an object with variables, such as a tf.Module"):
        tf.saved_model.save(value, tmp_path / "model")


def test_assets_travel_with_the_model(tmp_path):
    source = tmp_path / "words.txt"
    source.write_text("hello")
    asset = tf.saved_model.Asset(source)
    loaded = reloaded(
        holding(asset=asset, path=tf.function(lambda: asset.asset_path, input_signature=[])), tmp_path
    )
    source.unlink()
    copy = loaded.path().numpy().decode()
    assert copy.endswith("assets/words.txt")
    assert Path(copy).read_text() == "hello"
    with pytest.raises(tf.errors.NotFoundError, match=r"no file .* for an Asset"):
        tf.saved_model.Asset(source)


def test_saving_is_atomic(folder, tmp_path):
    assert tf.saved_model.contains_saved_model(folder)
    assert not tf.saved_model.contains_saved_model(tmp_path)
    with pytest.raises(OSError, match="there is no saved model in"):
        tf.saved_model.load(tmp_path)


def present(folder):
    """The name of the folder with the model's files."""
    return json.loads((folder / file_format.INDEX).read_text())["content"]["folder"]


def test_saved_graphs_are_readable_text(folder):
    (graph,) = folder.glob("model-*/functions/*-fixed.json")
    operations = json.loads(graph.read_text())["graphs"][0]["operations"]
    assert [operation["op"] for operation in operations] == ["read_variable", "multiply"]


def test_saving_again_replaces_the_model_atomically(model, folder, monkeypatch):
    model.layers[1]["a"].assign(7.0)
    seen = []
    original = checksummed_json.write

    def write(*args):
        seen.append(float(tf.saved_model.load(folder).layers[1]["a"]))
        original(*args)

    monkeypatch.setattr(checksummed_json, "write", write)
    tf.saved_model.save(model, folder)
    assert seen == [6.0]
    assert float(tf.saved_model.load(folder).layers[1]["a"]) == 7.0
    assert {path.name for path in folder.iterdir()} == {present(folder), file_format.INDEX}


def test_a_save_that_fails_leaves_the_last_model(model, folder, monkeypatch):
    def full(*args):
        raise OSError("No space left on device")

    before = present(folder)
    for place, name in (
        (checksummed_json, "write"),
        (file_format.Writer, "variables"),
        (file_format.Writer, "function"),
    ):
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(place, name, full)
            tf.saved_model.save(model, folder)
        assert {path.name for path in folder.iterdir()} == {before, file_format.INDEX}
        assert tf.saved_model.load(folder)(X).numpy().tolist() == [[3.0, 6.0]]


def test_damage_is_refused_and_never_gives_other_results(folder):
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        step = max(1, len(content) // 12)
        for position in range(0, len(content), step):
            path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
            try:
                loaded = tf.saved_model.load(folder)
            except (tf.errors.DataLossError, tf.errors.NotFoundError):
                pass
            else:
                assert loaded(X).numpy().tolist() == [[3.0, 6.0]]
            path.write_bytes(content[:position])
            with pytest.raises((tf.errors.DataLossError, tf.errors.NotFoundError)):
                tf.saved_model.load(folder)
        path.unlink()
        with pytest.raises((tf.errors.NotFoundError, OSError)):
            tf.saved_model.load(folder)
        path.write_bytes(content)
    assert tf.saved_model.load(folder)(X).numpy().tolist() == [[3.0, 6.0]]


def test_a_model_of_a_newer_version_is_refused_by_name(folder):
    index = folder / file_format.INDEX
    index.write_text(index.read_text().replace('"version": 1', '"version": 9'))
    with pytest.raises(tf.errors.DataLossError, match=r"version 9 .* reads versions up to 1"):
        tf.saved_model.load(folder)


def test_a_model_does_not_name_files_elsewhere(folder):
    content = checksummed_json.read(folder / file_format.INDEX, file_format.KIND, 1)
    content["files"]["../../secret"] = ""
    content["nodes"][0]["functions"]["fixed"]["graphs"][0]["file"] = "../../secret"
    checksummed_json.write(folder / file_format.INDEX, file_format.KIND, 1, content)
    with pytest.raises((tf.errors.DataLossError, tf.errors.NotFoundError)):
        tf.saved_model.load(folder)


def test_saving_happens_outside_of_functions(tmp_path):
    module = tf.Module()

    @tf.function(autograph=False)
    def save():
        tf.saved_model.save(module, tmp_path)

    with pytest.raises(AssertionError, match=r"outside of tf\.function"):
        save()


def test_a_method_may_name_its_instance_as_it_likes(tmp_path):
    class Table(tf.Module):
        def __init__(self):
            self.rows = tf.Variable([10.0, 20.0, 30.0])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def __call__(this, x):  # noqa: N805
            return tf.gather(this.rows, x)

    table = Table()
    assert table(tf.constant([1])).numpy().tolist() == [20.0]
    tf.saved_model.save(table, tmp_path)
    assert tf.saved_model.load(tmp_path)(tf.constant([2, 0])).numpy().tolist() == [30.0, 10.0]
