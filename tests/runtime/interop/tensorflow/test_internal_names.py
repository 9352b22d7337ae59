"""TensorFlow's internal names: each entry of the table is there, and does what TensorFlow's does."""

import subprocess
import sys

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.variable_spec import VariableSpec
from agc.runtime.interop.tensorflow import decorators, facade, internals, specs, type_spec_registry
from agc.runtime.interop.tensorflow.internal_names import INTERNAL_NAMES

ALL = [f"{path}.{name}" for path, names in INTERNAL_NAMES.items() for name in names]


@pytest.mark.parametrize("name", ALL)
def test_each_name_is_defined(name):
    module, _, last = f"tensorflow.{name}".rpartition(".")
    assert getattr(facade.import_part(module), last, None) is not None


class TestSpecs:
    def test_the_spec_of_a_variable_describes_it(self):
        v = tf.Variable([1.0, 2.0], trainable=False)
        spec = specs.type_spec_from_value(v)
        assert (spec.shape, spec.dtype, spec.trainable) == ([2], tf.float32, False)
        assert spec.value_type is tf.Variable
        assert spec == VariableSpec([2], trainable=False)
        assert hash(spec) == hash(VariableSpec.from_value(v))
        assert spec.flatten() == [spec]
        assert spec._from_components(spec._to_components(v)) is v

    def test_a_variable_with_another_shape_or_dtype_is_incompatible(self):
        spec = VariableSpec([None, 2])
        assert spec.is_compatible_with(tf.Variable([[1.0, 2.0]]))
        assert not spec.is_compatible_with(tf.Variable([1.0]))
        assert not spec.is_compatible_with(tf.Variable([[1, 2]]))
        assert not spec.is_compatible_with(tf.constant([[1.0, 2.0]]))

    def test_other_values_have_the_specs_of_tensors(self):
        assert specs.type_spec_from_value([1]) == tf.TensorSpec([1], tf.int32)
        spec = specs.DenseSpec([2], "int32", "n")
        assert (spec.shape, spec.dtype, spec.name) == ([2], tf.int32, "n")


def test_a_registered_class_of_specs_is_found_by_its_name():
    class PairSpec(specs.BatchableTypeSpec):
        pass

    assert type_spec_registry.register("mine.PairSpec")(PairSpec) is PairSpec
    assert type_spec_registry.lookup("mine.PairSpec") is PairSpec
    assert type_spec_registry.get_name(PairSpec) == "mine.PairSpec"
    with pytest.raises(ValueError, match="registered already"):
        type_spec_registry.register("mine.PairSpec")(specs.DenseSpec)


class TestDecorators:
    def test_warnings_of_libraries_are_left_out(self):
        @decorators.deprecated("2020-01-01", "use the other one", warn_once=True)
        def f(x):
            return x + 1

        with decorators.silence():
            assert f(1) == decorators.deprecated_alias("old", "new", f)(1) == 2

    def test_the_parameters_are_those_below_the_decorators(self):
        found = decorators.getfullargspec(tf.rank)
        assert (found.args, found.defaults, found.annotations) == (["input", "name"], (None,), {})


class TestOperations:
    def test_a_shape_with_unknown_dimensions(self):
        as_shape = internals.constant_value_as_shape
        found = []

        @tf.function
        def f(n, sizes, anything):
            found.append([as_shape(tf.stack([n, 3])), as_shape(sizes), as_shape(anything)])

        f.get_concrete_function(*(tf.TensorSpec(shape, tf.int32) for shape in ([], [2], [None])))
        assert [shape.as_list() for shape in found[0][:2]] == [[None, 3], [None, None]]
        assert found[0][2].rank is None
        assert as_shape(tf.constant([2, -1])).as_list() == [2, None]

    def test_variables_become_their_values(self):
        v = tf.Variable(2.0)
        converted = internals.convert_variables_to_tensors([v, {"k": 3}, tf.constant(1.0)])
        assert [type(each) for each in converted] == [type(tf.constant(0.0)), dict, type(tf.constant(0.0))]
        assert converted[1] == {"k": 3}

    def test_pfor_stacks_the_results(self):
        squares = internals.pfor(lambda i: i * i, tf.constant(4))
        assert squares.numpy().tolist() == [0, 1, 4, 9]

    def test_prevent_gradient_names_its_message(self):
        x = tf.constant(1.0)
        with pytest.raises(LookupError, match="not this way"), tf.GradientTape() as tape:
            tape.watch(x)
            tape.gradient(internals.prevent_gradient(x, "not this way"), x)

    def test_case_takes_known_predicates(self):
        pairs = [(False, lambda: 1), (True, lambda: 2)]
        assert internals.case_by(tf.cond, pairs, lambda: 3, False, "case", allow_python_preds=True) == 2

    @pytest.mark.parametrize(("jit", "expected"), [(True, True), (False, False)])
    def test_jit_compile_is_the_context_of_xla_also_in_called_functions(self, jit, expected):
        found = []

        @tf.function
        def inner(x):
            found.append(internals.is_in_xla_context(None))
            return x

        tf.function(inner, jit_compile=jit)(tf.constant(1.0))
        assert found == [expected]
        assert not internals.is_in_xla_context(None)

    def test_truncated_normal_numbers_are_within_their_bounds(self):
        numbers = internals.parameterized_truncated_normal([500], 1.0, 2.0, 0.0, 2.0, "float64")
        assert numbers.dtype == tf.float64
        assert 0 <= np.min(numbers) < 0.2 < 1.8 < np.max(numbers) <= 2


OPERATORS = """
import agc.runtime as tf
tf.install_as_tensorflow()
import tensorflow as tf

class Doubled:
    __bool__ = tf.Tensor.__bool__

    def __init__(self, x):
        self.x = x

tf.register_tensor_conversion_function(Doubled, lambda d, dtype=None, name=None, as_ref=False: 2 * d.x)
for name in tf.Tensor.OVERLOADABLE_OPERATORS:
    def forward(self, *args, name=name):
        return getattr(tf.convert_to_tensor(self), name)(*args)
    setattr(Doubled, name, forward)

d = Doubled(tf.constant([1, 2]))
print((d + 1).numpy(), (3 - d).numpy(), d[0].numpy(), (-d).numpy(), bool(Doubled(tf.constant(0))))
"""


def test_classes_can_take_the_operators_of_tensors():
    printed = subprocess.check_output([sys.executable, "-c", OPERATORS], text=True)
    assert printed == "[3 5] [ 1 -1] 2 [-2 -4] False\n"
