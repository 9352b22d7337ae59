"""`tf.experimental.ExtensionType`: fields, specs, graphs and dispatch, as in TensorFlow."""

import pickle
import typing

import agc.runtime as tf
import pytest


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def shifted(self, distance):
        return Masked(self.values + distance, self.mask)


class Scaled(tf.experimental.ExtensionType):
    values: tf.Tensor
    factor: int = 3
    name: str = "x"

    def __validate__(self):
        if self.factor < 0:
            raise ValueError("factor must be >= 0")


class Everything(tf.experimental.ExtensionType):
    inner: Masked
    parts: tuple[tf.Tensor, ...]
    named: typing.Mapping[str, tf.Tensor]
    rows: tf.RaggedTensor
    maybe: tf.Tensor | None = None
    pair: tuple[int, str] = (1, "a")
    dtype: tf.DType = tf.float32
    shape: tf.TensorShape = tf.TensorShape([1])


class Summed(tf.experimental.ExtensionType):
    total: tf.Tensor

    def __init__(self, one, other):
        self.total = tf.convert_to_tensor(one) + other


class Named(Scaled):
    unit: str = "kg"


def masked():
    return Masked([1, 2], [True, False])


def everything(**fields):
    given = {
        "inner": masked(),
        "parts": ([1], [2.0]),
        "named": {"k": [1]},
        "rows": tf.ragged.constant([[1], []], dtype=tf.int32),
    }
    return Everything(**{**given, **fields})


def test_fields_are_converted_and_shown():
    assert repr(Scaled([1])) == (
        "Scaled(values=<tf.Tensor: shape=(1,), dtype=int32, numpy=array([1], dtype=int32)>, factor=3, name='x')"
    )
    value = everything(pair=[2, "b"], dtype="int32", shape=[1, 2])
    assert value.pair == (2, "b") and value.dtype is tf.int32 and value.shape == [1, 2]
    assert value.maybe is None and value.named["k"].numpy().tolist() == [1]
    assert repr(value.named).startswith("ImmutableDict({'k': <tf.Tensor")
    assert Summed(1, 2).total.numpy() == 3 and Named([1]).unit == "kg"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Scaled(), TypeError, "missing a required argument: 'values'"),
        (lambda: Scaled(1, 2, "n", 4), TypeError, "too many positional arguments"),
        (lambda: Scaled(1, power=3), TypeError, "got an unexpected keyword argument 'power'"),
        (lambda: Scaled(1, factor="a"), TypeError, "factor: expected 'int', got 'str'"),
        (lambda: everything(pair=(1, 2)), TypeError, r"pair\[1\]: expected 'str', got 'int'"),
        (lambda: Scaled(1, factor=-1), ValueError, "factor must be >= 0"),
        (lambda: setattr(masked(), "mask", 1), AttributeError, "Cannot mutate attribute `mask`"),
        (lambda: delattr(masked(), "mask"), AttributeError, "Cannot mutate attribute `mask`"),
        (lambda: hash(masked()), TypeError, "unhashable type: 'Masked'"),
        (lambda: tf.add(masked(), 1), ValueError, "unsupported type"),
    ],
)
def test_invalid_extension_types_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("annotation", [list, object, typing.Any, dict[str, int], tuple, 3])
def test_annotations_that_are_not_allowed(annotation):
    with pytest.raises(TypeError, match="In field 'x': Unsupported type annotation"):
        type("Bad", (tf.experimental.ExtensionType,), {"__annotations__": {"x": annotation}})


def test_equality():
    assert bool(masked() == Masked([1, 2], [True, False]))
    assert not bool(masked() == Masked([1, 3], [True, False]))
    assert (masked() == 3) is False and (Scaled([1]) == Scaled([1], 4)) is False


def test_specs():
    spec = tf.type_spec_from_value(masked())
    assert spec == Masked.Spec(tf.TensorSpec([2], tf.int32), tf.TensorSpec([2], tf.bool))
    assert repr(spec).startswith(
        "Masked.Spec(values=TensorSpec(shape=(2,), dtype=tf.int32, name=None), mask="
    )
    assert spec.is_compatible_with(masked()) and spec.value_type is Masked
    assert len(tf.nest.flatten(everything(), expand_composites=True)) == 7
    assert not tf.is_tensor(masked())


class Weighted(tf.experimental.ExtensionType):
    values: tf.Tensor
    weight: float = 1.0

    class Spec:
        def __init__(self, shape, dtype=tf.float32, weight=1.0):
            self.values = tf.TensorSpec(shape, dtype)
            self.weight = weight

        shape = property(lambda self: self.values.shape)


def test_a_nested_class_customizes_specs():
    x = Weighted([1.0, 2.0])
    spec = tf.type_spec_from_value(x)
    assert spec == Weighted.Spec([2]) and hash(spec) == hash(Weighted.Spec([2]))
    assert spec.shape == [2] and isinstance(spec, tf.experimental.ExtensionTypeSpec)
    assert Weighted.Spec([None]).is_compatible_with(x) and not Weighted.Spec([3]).is_compatible_with(x)
    total = tf.function(lambda x: tf.reduce_sum(x.values), input_signature=[Weighted.Spec([None])])
    assert total(x) == 3.0 and total(Weighted([1.0])) == 1.0
    assert tf.data.Dataset.from_tensors(x).element_spec == spec
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_errors_of_customized_specs():
    class Partial(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

        class Spec:
            def __init__(self, shape, **more):
                self.values = tf.TensorSpec(shape)
                self.__dict__.update(more)

    with pytest.raises(ValueError, match=r"Partial\.Spec: missing required fields: mask"):
        Partial.Spec([2])
    with pytest.raises(ValueError, match=r"Partial\.Spec: attributes that are no fields: rank"):
        Partial.Spec([2], mask=tf.TensorSpec([2], tf.bool), rank=1)
    with pytest.raises(ValueError, match="reserved name 'value_type'"):
        type("Bad", (tf.experimental.ExtensionType,), {"Spec": type("Spec", (), {"value_type": int})})


def test_fields_need_an_annotation_and_a_free_name():
    with pytest.raises(ValueError, match="Field unit is missing a type annotation"):
        type("Bare", (tf.experimental.ExtensionType,), {"unit": "m"})
    with pytest.raises(ValueError, match="Field '_signature' is reserved"):
        type("Taken", (tf.experimental.ExtensionType,), {"__annotations__": {"_signature": tf.Tensor}})

    class Rich(tf.experimental.ExtensionType):
        x: tf.Tensor
        double = property(lambda self: 2 * self.x)
        triple = staticmethod(lambda x: 3 * x)

        class Helper:
            pass

    assert Rich(1.0).double.numpy() == 2.0


def test_functions_trace_once_for_a_spec():
    @tf.function
    def shifted(x):
        return x.shifted(1)

    assert shifted(masked()).values.numpy().tolist() == [2, 3]
    shifted(Masked([5, 6], [True, True]))
    assert shifted.experimental_get_tracing_count() == 1
    general = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool))
    assert tf.type_spec_from_value(shifted.get_concrete_function(general).structured_outputs) == general


def test_python_fields_are_part_of_the_signature():
    @tf.function
    def scaled(x):
        return x.values * x.factor

    assert [scaled(Scaled([2], factor)).numpy().tolist() for factor in (2, 3)] == [[4], [6]]
    assert scaled.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_loops_and_branches(executor):
    @tf.function(experimental_executor=executor)
    def moved(x, far):
        y = x.shifted(100) if far else x
        for _ in tf.range(3):
            y = y.shifted(10)
        return y

    assert moved(masked(), tf.constant(True)).values.numpy().tolist() == [131, 132]
    assert moved(masked(), tf.constant(False)).values.numpy().tolist() == [31, 32]


def test_nested_values_travel():
    @tf.function
    def same(x):
        return x

    result = same(everything())
    assert result.rows.to_list() == [[1], []] and result.inner.mask.numpy().tolist() == [True, False]
    assert result.parts[1].numpy().tolist() == [2.0] and result.pair == (1, "a")


@pytest.fixture
def dispatch():
    """The decorators of `tf.experimental`; what they register is forgotten after the test."""
    registered = []

    def decorator(name, *arguments):
        def decorated(function):
            registered.append(function)
            return getattr(tf.experimental, name)(*arguments)(function)

        return decorated

    yield decorator
    for function in registered:
        tf.experimental.unregister_dispatch_for(function)


def test_elementwise_operations_are_dispatched(dispatch):
    @dispatch("dispatch_for_unary_elementwise_apis", Masked)
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    @dispatch("dispatch_for_binary_elementwise_apis", Masked, Masked)
    def binary(api, x, y):
        return Masked(api(x.values, y.values), x.mask & y.mask)

    assert tf.negative(masked()).values.numpy().tolist() == [-1, -2]
    assert tf.cast(masked(), tf.float32).values.dtype is tf.float32
    assert tf.add(masked(), masked()).values.numpy().tolist() == [2, 4]


def test_other_operations_are_dispatched(dispatch):
    @dispatch("dispatch_for_api", tf.shape)
    def shape(input: Masked, out_type=tf.int32):
        return tf.shape(input.values, out_type)

    @dispatch("dispatch_for_api", tf.stack, {"values": list[Masked]})
    def stack(values, axis=0):
        return Masked(tf.stack([x.values for x in values], axis), tf.stack([x.mask for x in values], axis))

    assert tf.shape(masked()).numpy().tolist() == [2]
    assert tf.stack([masked(), masked()]).values.numpy().tolist() == [[1, 2], [1, 2]]


def test_functions_for_other_signatures_are_refused():
    def transposed(a: Masked, other):
        return a

    with pytest.raises(ValueError, match="`matmul` has no parameter other"):
        tf.experimental.dispatch_for_api(tf.matmul)(transposed)


def test_arguments_that_a_function_does_not_take_are_refused(dispatch):
    @dispatch("dispatch_for_api", tf.stack)
    def stack(values: list[Masked]):
        return "stacked"

    assert tf.stack([masked(), masked()], axis=0) == "stacked"
    with pytest.raises(TypeError, match="stack: the function stack takes no argument `axis`, which is 1"):
        tf.stack([masked(), masked()], axis=1)


class Sized(tf.experimental.BatchableExtensionType):
    shape: tf.TensorShape
    values: tf.Tensor
    parts: tuple[tf.TensorShape, ...] = ()


def test_shapes_among_the_fields_have_the_size_of_the_batch():
    whole = Sized([3], tf.zeros([3, 2]), [[3, 4]])
    dataset = tf.data.Dataset.from_tensor_slices(whole)
    assert [(each.shape, each.parts) for each in dataset] == [([], ([4],))] * 3
    assert dataset.batch(2).element_spec.shape.as_list() == [None]
    assert next(iter(dataset.batch(3, drop_remainder=True))).shape == [3]
    assert [each.shape for each in dataset.batch(2).unbatch()] == [[]] * 3


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "graph"])
def test_map_fn_passes_rows_without_the_size(wrap):
    shapes = []

    def doubled(row):
        shapes.append(row.shape)
        return Sized(row.shape, 2 * row.values)

    whole = Sized([3], tf.ones([3, 2]))
    assert wrap(lambda: tf.map_fn(doubled, whole))().shape == [3]
    assert {tuple(shape) for shape in shapes} == {()}
    spec = Sized.Spec(tf.TensorShape([]), tf.TensorSpec([2]), ())
    made = tf.map_fn(lambda row: Sized([], row), tf.ones([3, 2]), fn_output_signature=spec)
    assert made.shape == [3] and made.values.shape == [3, 2]


class Interval(tf.experimental.BatchableExtensionType):
    start: tf.Tensor
    names: tf.RaggedTensor
    unit: str = "s"


def intervals():
    return Interval([[1, 2], [3, 4], [5, 6]], tf.ragged.constant([["a"], [], ["b", "c"]]))


def test_datasets_slice_and_batch_batchable_types():
    dataset = tf.data.Dataset.from_tensor_slices(intervals())
    assert len(dataset) == 3 and dataset.element_spec.start == tf.TensorSpec([2], tf.int32)
    first, second = dataset.batch(2)
    assert first.start.numpy().tolist() == [[1, 2], [3, 4]] and first.names.to_list() == [[b"a"], []]
    assert second.unit == "s" and second.names.to_list() == [[b"b", b"c"]]
    assert [each.start.numpy().tolist() for each in dataset.batch(2).unbatch()] == [[1, 2], [3, 4], [5, 6]]
    sums = dataset.map(lambda each: tf.reduce_sum(each.start) + tf.size(each.names))
    assert list(sums.as_numpy_iterator()) == [4, 7, 13]


def test_other_extension_types_have_no_slices():
    with pytest.raises(TypeError, match=r"cannot take elements with Masked\.Spec"):
        tf.data.Dataset.from_tensor_slices(masked())
    with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
        tf.data.Dataset.from_tensor_slices(Interval([1, 2], tf.ragged.constant([["a"]])))
