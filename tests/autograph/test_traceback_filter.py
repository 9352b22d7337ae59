"""Tracebacks show the lines of the user's program, whatever fails and wherever agc is called."""

import importlib.util
import inspect
import os
import re
import sys
import traceback
import types

import agc.runtime as tf
import numpy as np
import pytest
from agc import autograph
from agc.autograph import traceback_filter
from agc.runtime.core import shapes
from agc.runtime.core.call_slot import CallSlot
from agc.runtime.ir import source_location
from agc.runtime.ops.framework import static_values
from support.versions import converted_version

KERAS = os.path.dirname(importlib.util.find_spec("keras").origin) + os.sep


def foreign_frames(error):
    """The frames of a printed traceback, with those of its causes, except those of this file and of Keras."""
    shown = traceback.TracebackException.from_exception(error)
    found = []
    while shown is not None:
        found += [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in shown.stack]
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    return [frame for frame in found if not frame.startswith((__file__, KERAS))]


def failure(work):
    try:
        work()
    except Exception as error:
        return error
    return None


MATRIX = tf.ones([2, 3])
VECTOR = tf.constant([1.0, 2.0])
VARIABLE = tf.Variable([1.0, 2.0])
RAGGED = tf.ragged.constant([[1], [2, 3]])
NUMBERS = tf.data.Dataset.range(3)


def fails(*_):
    raise KeyError("the user's own")


def tape_of_nothing():
    with tf.GradientTape() as tape:
        y = VARIABLE * 2
    tape.gradient(y, VARIABLE)
    tape.gradient(y, VARIABLE)


def custom_gradient():
    @tf.custom_gradient
    def double(x):
        return x * 2, fails

    with tf.GradientTape() as tape:
        y = double(VARIABLE)
    tape.gradient(y, VARIABLE)


def over(dataset):
    for _ in dataset:
        pass


def traced(body, *arguments, **options):
    return tf.function(body, **options)(*arguments)


def leaked():
    kept = []

    def keep(x):
        kept.append(x * 2)
        return x

    traced(keep, VECTOR)
    return kept[0]


def layer():
    class Layer(tf.keras.layers.Layer):  # Keras is imported when a test needs it
        def call(self, x):
            return x @ x

    return Layer()


def model(*layers):
    made = tf.keras.Sequential(list(layers) or [tf.keras.layers.Dense(2)])
    made.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return made


def sequence():
    yield 1
    fails()


FAILURES = {
    # operators, indexing, and what Python calls of a tensor
    "matmul": lambda: MATRIX @ MATRIX,
    "add": lambda: MATRIX + VECTOR,
    "reflected": lambda: {} + VECTOR,
    "compare": lambda: MATRIX < VECTOR,
    "negate": lambda: -tf.constant("text"),
    "invert": lambda: ~VECTOR,
    "round": lambda: round(VECTOR, 2),
    "index": lambda: MATRIX[5],
    "index by text": lambda: MATRIX["text"],
    "bool": lambda: bool(MATRIX),
    "int": lambda: int(MATRIX),
    "len": lambda: len(tf.constant(1)),
    "iterate": lambda: list(tf.constant(1)),
    "unpack": lambda: (lambda a, b: a)(*tf.constant(1)),
    "hash": lambda: hash(VECTOR),
    "attribute": lambda: VECTOR.no_such,
    "assignment": lambda: VECTOR.__setitem__(0, 1),
    "numpy": lambda: np.add(VECTOR, MATRIX),
    # functions: operations, and those that consist of operations
    "operation": lambda: tf.reshape(MATRIX, [5]),
    "composite": lambda: tf.image.resize(MATRIX, [2, 2]),
    "constant": lambda: tf.constant([[1], [2, 3]]),
    "convert": lambda: tf.convert_to_tensor(object()),
    "few arguments": lambda: tf.reshape(),
    "unknown argument": lambda: tf.reshape(MATRIX, [6], wrong=1),
    "norm": lambda: tf.norm(MATRIX, ord="wrong"),
    "einsum": lambda: tf.einsum("ij,kl,", MATRIX, MATRIX),
    "assert": lambda: tf.debugging.assert_equal(VECTOR, 3.0),
    "nest": lambda: tf.nest.map_structure(fails, [1], [2, 3]),
    "missing name": lambda: tf.math.no_such,
    "map_fn": lambda: tf.map_fn(lambda x: x @ x, MATRIX),
    "vectorized_map": lambda: tf.vectorized_map(lambda x: x @ x, MATRIX),
    "while_loop": lambda: tf.while_loop(lambda i: i < 1, fails, [0]),
    "cond": lambda: tf.cond(tf.constant(True), fails, fails),
    "py_function": lambda: tf.py_function(fails, [VECTOR], tf.float32),
    "numpy_function": lambda: tf.numpy_function(fails, [VECTOR], tf.float32),
    # objects
    "variable": lambda: VARIABLE.assign([1.0]),
    "variable made": lambda: tf.Variable([1.0], shape=[2]),
    "ragged": lambda: RAGGED + tf.constant([[1, 2], [3, 4], [5, 6]]),
    "ragged method": lambda: RAGGED.to_tensor(shape=[1, 2, 3]),
    "sparse": lambda: tf.sparse.SparseTensor([[0]], [1], [1, 2]),
    "TensorArray": lambda: tf.TensorArray(tf.float32, 1).read(5),
    "dtype": lambda: tf.as_dtype("wrong"),
    "shape": lambda: tf.TensorShape([1]).assert_is_compatible_with([2]),
    "module": lambda: tf.Module(name="not a name"),
    # gradients
    "tape": tape_of_nothing,
    "tape of text": lambda: tf.GradientTape().watch("text"),
    "custom gradient": custom_gradient,
    # data
    "from_tensor_slices": lambda: tf.data.Dataset.from_tensor_slices(([1], [2, 3])),
    "map": lambda: NUMBERS.map(fails),
    "mapped": lambda: over(NUMBERS.map(lambda x: 1 // x)),
    "batch": lambda: over(tf.data.Dataset.from_generator(sequence, output_types=tf.int32).batch(1)),
    "zip": lambda: tf.data.Dataset.zip(1),
    "next": lambda: iter(NUMBERS.take(0)).get_next(),
    "files": lambda: over(tf.data.TFRecordDataset("/no/such/file")),
    # Keras
    "fit": lambda: model().fit(np.ones((4, 3)), np.array([0, 1, 5, 1]), verbose=0),
    "evaluate": lambda: model().evaluate(np.ones((4, 3)), np.array([0, 1, 5, 1]), verbose=0),
    "predict": lambda: model(layer()).predict(np.ones((4, 3)), verbose=0),
    "layer": lambda: tf.keras.layers.Dense(2)(tf.ones([])),
    "own layer": lambda: layer()(MATRIX),
    "layer made": lambda: tf.keras.layers.Dense("wrong"),
    "loss": lambda: tf.keras.losses.MeanSquaredError()(MATRIX, VECTOR),
    "metric": lambda: tf.keras.metrics.MeanSquaredError().update_state(MATRIX, VECTOR),
    "optimizer": lambda: tf.keras.optimizers.SGD().apply_gradients([(1.0, 2.0)]),
    "load_model": lambda: tf.keras.models.load_model("/no/such/model.keras"),
    # files
    "saved_model": lambda: tf.saved_model.load("/no/such/folder"),
    "checkpoint": lambda: tf.train.Checkpoint().read("/no/such/file"),
    "read_file": lambda: tf.io.read_file("/no/such/file"),
    "gfile": lambda: tf.io.gfile.listdir("/no/such/folder"),
    "parse_tensor": lambda: tf.io.parse_tensor(b"wrong", tf.int32),
    # functions that are traced or converted, and their tensors elsewhere
    "tracing": lambda: traced(lambda x: x @ x, MATRIX),
    "running": lambda: traced(lambda x: tf.reshape(x, tf.cast(x[0], tf.int32)), VECTOR),
    "own error": lambda: traced(fails, VECTOR),
    "autograph": lambda: autograph.convert(fails)(1),
    "conversion": lambda: autograph.convert(3),
    "conversion to text": lambda: autograph.to_code(3),
    "not a function": lambda: tf.function(3),
    "signature": lambda: traced(lambda x: x, VECTOR, input_signature=[tf.TensorSpec([3])]),
    "concrete": lambda: tf.function(lambda x: x).get_concrete_function(VECTOR)(MATRIX),
    "leaked operator": lambda: leaked() + 1,
    "leaked argument": lambda: tf.sin(leaked()),
    "leaked to a composite": lambda: tf.math.reduce_std(leaked()),
    "leaked numpy": lambda: leaked().numpy(),
    "leaked bool": lambda: bool(leaked()),
    "leaked to a function": lambda: (lambda kept: traced(lambda x: x + kept, VECTOR))(leaked()),
    "leaked to NumPy": lambda: np.asarray(leaked()),
    "leaked assignment": lambda: VARIABLE.assign(leaked()),
}  # fmt: skip


PLACES = {
    "eager": lambda work: work(),
    "function": lambda work: tf.function(work)(),
    "callback": lambda work: tf.py_function(work, [], []),
}
NEVER = {("function", "int")}  # a traced tensor says no more than that it is no int


@pytest.mark.parametrize("place", PLACES)
def test_tracebacks_show_user_lines_only(place):
    errors = {way: failure(lambda work=work: PLACES[place](work)) for way, work in FAILURES.items()}
    assert [way for way, error in errors.items() if error is None and (place, way) not in NEVER] == []
    found = {way: foreign_frames(error) for way, error in errors.items() if error is not None}
    assert {way: frames for way, frames in found.items() if frames} == {}


@pytest.mark.parametrize("way", ["matmul", "composite", "fit", "leaked operator", "mapped"])
def test_agc_full_traceback_shows_all_frames(way, monkeypatch):
    monkeypatch.setenv("AGC_FULL_TRACEBACK", "1")
    assert foreign_frames(failure(FAILURES[way])) != []


@pytest.mark.parametrize(
    "way", ["while_loop", "cond", "py_function", "map", "batch", "custom gradient", "own error"]
)
def test_frames_of_user_functions_are_kept(way):
    error = failure(FAILURES[way])
    assert traceback.extract_tb((error.__cause__ or error).__traceback__)[-1].name == "fails"


def test_the_error_for_a_leaked_tensor_names_its_line():
    made = inspect.getsourcelines(leaked)[1] + 4
    for way in FAILURES:
        if way.startswith("leaked") and "NumPy" not in way:
            shown = str(failure(FAILURES[way]))
            source = rf"^ *{made} \|  +kept\.append\(x \* 2\) +made here$"
            assert f"{__file__}:{made}, in keep" in shown or re.search(source, shown, re.MULTILINE), way


def test_an_error_of_keras_names_no_other_call():
    """The step that fails was traced in the first call."""
    network = model()
    network.fit(np.ones((4, 3)), np.array([0, 1, 0, 1]), verbose=0)
    error = failure(lambda: network.fit(np.ones((4, 3)), np.array([0, 1, 5, 1]), verbose=0))
    assert "label value of 5" in str(error)
    assert __file__ not in str(error)


NAMESPACES = (
    "math", "linalg", "nn", "image", "signal", "strings", "sparse", "ragged", "bitwise", "sets", "io",
)  # fmt: skip


def public_functions():
    """The functions and operations of tf and its namespaces, each once."""
    found = {}
    for module in (tf, *(getattr(tf, name) for name in NAMESPACES)):
        for name in module.__all__:
            value = getattr(module, name)
            is_manager = (
                isinstance(value, types.FunctionType) and value.__code__.co_name == "helper"
            )  # of contextlib
            if isinstance(value, (types.FunctionType, CallSlot)) and not is_manager:
                found[id(value)] = value
    return list(found.values())


@pytest.mark.parametrize(
    "arguments",
    [({},), ({}, {}), (object(), -100), ("text",) * 3][: None if os.environ.get("AGC_FUZZ") else 2],
)
def test_every_function_refuses_in_the_users_lines(arguments):
    assert len(public_functions()) > 550
    errors = {f: failure(lambda f=f: f(*arguments)) for f in public_functions()}
    found = {f.__name__: foreign_frames(error) for f, error in errors.items() if error is not None}
    assert {name: frames for name, frames in found.items() if frames} == {}


def test_decorated_functions_keep_their_attributes():
    for function in filter(inspect.isfunction, public_functions()):
        code = function.__code__
        assert traceback_filter._filter in code.co_consts, function
    for function in list(filter(inspect.isfunction, public_functions()))[::20]:
        code = function.__code__
        assert inspect.getsource(function).lstrip().startswith(("def ", "@"))
        assert max(line or 0 for _, _, line in code.co_lines()) >= code.co_firstlineno


def test_functions_that_no_program_calls_have_no_handler():
    """A handler takes time when a module is imported. Methods have one: programs may get objects of all classes."""
    assert traceback_filter._filter not in static_values.known_elements.__code__.co_consts
    assert traceback_filter._filter not in shapes.merge.__code__.co_consts
    assert traceback_filter._filter in shapes.TensorShape.merge_with.__code__.co_consts


def test_modules_that_another_thread_imports_are_filtered_later(monkeypatch):
    """At the end of an import, Python takes the module out of `sys.modules` and adds it again."""

    class Modules(dict):
        def keys(self):
            return {*super().keys(), "agc.runtime.almost_imported"}

    changed = types.SimpleNamespace(modules=Modules(sys.modules), version_info=sys.version_info)
    monkeypatch.setattr(traceback_filter, "sys", changed)
    traceback_filter.filter_tracebacks("agc.runtime")
    assert "agc.runtime.almost_imported" not in traceback_filter._DONE


# Bodies of all the forms that exception tables take; each calls `f`, which may fail.
BODIES = (
    """
from contextlib import suppress

def plain(f):
    return f() + 1

def tries(f):
    try:
        f()
    except KeyError:
        raise ValueError from None
    finally:
        f = f or f
    with suppress(TypeError):
        return f()

def loops(f):
    for _ in range(3):
        with suppress(TypeError):
            found = [f() for _ in range(2)]
    return found

def generates(f):
    yield 1
    try:
        yield f()
    finally:
        f()

def closes(f):
    def inner():
        return f()
    return inner

async def awaits(f):
    async with f():
        pass
"""
    + "def long(f):\n"
    + "    f = f if f else -f\n" * 1000
    + "    return f()\n"
)
CALLS = {
    "generates": list,
    "closes": lambda inner: inner(),
    "awaits": lambda coroutine: coroutine.send(None),
}


@pytest.fixture(scope="module")
def filtered():
    members = {}
    exec(compile(BODIES, traceback_filter.__file__, "exec"), members)
    names = [name for name, value in members.items() if inspect.isfunction(value)]
    for name in names:
        traceback_filter._filter_function(members[name])
    return {name: members[name] for name in names}


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("body", ["plain", "tries", "loops", "generates", "closes", "awaits", "long"])
def test_the_handler_handles_every_function_body(filtered, body, observed):
    def fails_with_division():
        return 1 // 0

    def call(f):
        return CALLS.get(body, lambda result: result)(filtered[body](f))

    before = sys.gettrace()
    try:
        if observed:
            sys.settrace(lambda *_: lambda *_: None)
        for _ in range(20):  # Python specializes the bytecode meanwhile
            for f in (fails, fails_with_division):
                error = failure(lambda f=f: call(f))
                assert isinstance(error, (KeyError, ValueError, ZeroDivisionError))
                assert foreign_frames(error) == []
            if body != "awaits":
                call(lambda: 1)
    finally:
        sys.settrace(before)


def test_at_the_recursion_limit_each_entry_of_a_traceback_has_a_line():
    """Pytest fails on an entry without one."""

    def endless(n):
        return n >= 0 and endless(n + 1)

    def later(frames):
        return later(frames - 1) if frames else converted_version(endless)(0)

    for frames in range(12):  # the limit comes in each function once, also in the handler
        error = failure(lambda frames=frames: later(frames))
        assert isinstance(error, RecursionError)
        while error is not None:
            assert None not in [line for _, line in traceback.walk_tb(error.__traceback__)]
            error = error.__context__


def test_files_that_record_operations_exist():
    """Their names are written down in `source_location`, which a renamed file would leave without effect."""
    assert [path for path in source_location._DIRECT if not os.path.exists(path)] == []
