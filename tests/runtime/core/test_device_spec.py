"""`tf.DeviceSpec` and `tf.variable_creator_scope`."""

import agc.runtime as tf
import pytest

Spec = tf.DeviceSpec


class TestDeviceSpec:
    def test_parts_and_names(self):
        spec = Spec(job="ps", replica=1, task=2, device_type="cpu", device_index=3)
        assert spec.to_string() == str(spec) == "/job:ps/replica:1/task:2/device:CPU:3"
        assert spec == Spec.from_string(str(spec))
        assert hash(spec) == hash(Spec.from_string(str(spec)))
        parsed = Spec.from_string("/job:w/task:1/gpu:0")
        assert (parsed.job, parsed.replica, parsed.task) == ("w", None, 1)
        assert (parsed.device_type, parsed.device_index) == ("GPU", 0)

    def test_specs_are_merged_and_replaced(self):
        spec = Spec.from_string("/job:w/task:1/gpu:0")
        merged = spec.make_merged_spec(Spec(device_index=4, replica=2))
        assert merged.to_string() == "/job:w/replica:2/task:1/device:GPU:4"
        assert spec.replace(device_type="CPU").to_string() == "/job:w/task:1/device:CPU:0"
        assert spec.parse_from_string("/cpu:*").to_string() == "/device:CPU:*"

    @pytest.mark.parametrize(
        ("name", "text"), [("/foo:1", "Unknown attribute 'foo'"), ("/cpu:1/gpu:1", "Multiple device types")]
    )
    def test_other_names_are_refused(self, name, text):
        with pytest.raises(ValueError, match=text):
            Spec.from_string(name)

    def test_a_spec_is_a_device(self):
        with tf.device(Spec(device_type="CPU", device_index=0)):
            assert int(tf.constant(1) + 1) == 2


class TestVariableCreators:
    def test_the_innermost_creator_is_called_first(self):
        calls = []

        def creator(label):
            def create(next_creator, **kwargs):
                calls.append((label, kwargs["name"]))
                return next_creator(**{**kwargs, "name": f"{label}_{kwargs['name']}"})

            return create

        with tf.variable_creator_scope(creator("outer")), tf.variable_creator_scope(creator("inner")):
            v = tf.Variable(1.0, name="v")
        assert calls == [("inner", "v"), ("outer", "inner_v")]
        assert v.name == "outer_inner_v:0"
        assert tf.Variable(1.0, name="v").name == "v:0"

    def test_a_creator_gets_all_arguments_and_may_return_another_variable(self):
        other = tf.Variable([5])
        seen = {}

        def reuse(next_creator, **kwargs):
            seen.update(kwargs)
            return other

        with tf.variable_creator_scope(reuse):
            assert tf.Variable(2.0, trainable=False) is other
        assert seen["initial_value"] == 2.0
        assert seen["trainable"] is False
        assert {"dtype", "shape", "constraint", "synchronization", "aggregation"} <= seen.keys()

    def test_variables_of_traced_functions_are_created_by_it(self):
        made = []

        def create(next_creator, **kwargs):
            made.append(next_creator(**kwargs))
            return made[-1]

        class Model(tf.Module):
            v = None

            @tf.function
            def __call__(self):
                if self.v is None:
                    self.v = tf.Variable(3.0)
                return self.v + 1

        with tf.variable_creator_scope(create):
            assert float(Model()()) == 4.0
        assert len(made) == 1
