"""Composites that hold variables are arguments of functions: a graph belongs to the variables of its trace."""

import agc.runtime as tf
import pytest
from agc.runtime.core.type_spec import CompositeTensor
from agc.runtime.interop.tensorflow import specs


class Line(CompositeTensor):
    """slope * x + offset, each a tensor, a variable or another line at 0."""

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    @property
    def _type_spec(self):
        return LineSpec(*map(specs.type_spec_from_value, (self.slope, self.offset)))

    def __call__(self, x):
        offset = self.offset(0.0) if isinstance(self.offset, Line) else self.offset
        return self.slope * x + offset


class LineSpec(specs.BatchableTypeSpec):
    value_type = Line

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    @property
    def _component_specs(self):
        return {"slope": self.slope, "offset": self.offset}

    def _to_components(self, value):
        return {"slope": value.slope, "offset": value.offset}

    def _from_components(self, components):
        return Line(**components)

    def _serialize(self):
        return self.slope, self.offset


def line_at():
    traces = []

    @tf.function
    def at(line, x):
        traces.append(line)
        return line(x)

    return at, traces


def test_a_graph_reads_the_newest_value_of_its_variable():
    at, traces = line_at()
    v = tf.Variable(2.0)
    assert at(Line(v, tf.constant(1.0)), tf.constant(3.0)) == 7.0
    v.assign(5.0)
    assert at(Line(v, tf.constant(2.0)), tf.constant(3.0)) == 17.0
    assert len(traces) == 1
    assert traces[0].slope is v


def test_another_variable_has_another_graph():
    at, traces = line_at()
    v, w = tf.Variable(2.0), tf.Variable(4.0)
    offset = tf.constant(1.0)
    assert [float(at(Line(each, offset), tf.constant(3.0))) for each in (v, w, v)] == [7.0, 13.0, 7.0]
    assert len(traces) == 2
    assert at(Line(tf.constant(8.0), offset), tf.constant(3.0)) == 25.0


def test_variables_of_a_composite_in_a_composite_count_too():
    at, traces = line_at()
    inner = [Line(tf.constant(1.0), tf.Variable(value)) for value in (10.0, 20.0)]
    slope = tf.constant(2.0)
    assert [float(at(Line(slope, each), tf.constant(3.0))) for each in (*inner, *inner)] == [16.0, 26.0] * 2
    assert len(traces) == 2


def test_gradients_reach_the_variable_and_the_tensors():
    at, _ = line_at()
    v, offset, x = tf.Variable(2.0), tf.constant(1.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([offset, x])
        y = at(Line(v, offset), x)
    assert [float(each) for each in tape.gradient(y, [v, offset, x])] == [3.0, 1.0, 2.0]


def test_the_function_can_assign_to_the_variable():
    @tf.function
    def step(line):
        line.slope.assign_add(line.offset)
        return line.slope + 0.0

    v = tf.Variable(2.0)
    assert [float(step(Line(v, tf.constant(0.5)))) for _ in range(2)] == [2.5, 3.0]


def test_a_concrete_function_refuses_other_variables():
    at, _ = line_at()
    v, offset, x = tf.Variable(2.0), tf.constant(1.0), tf.constant(3.0)
    concrete = at.get_concrete_function(Line(v, offset), x)
    assert concrete(Line(v, tf.constant(5.0)), x) == 11.0
    for other in (Line(tf.Variable(2.0), offset), Line(offset, offset), offset):
        with pytest.raises(TypeError, match="line"):
            concrete(other, x)


def test_other_shapes_are_traced_again():
    at, traces = line_at()
    v = tf.Variable(2.0)
    for size in (1, 2, 3):
        result = at(Line(v, tf.ones([size])), tf.constant(3.0))
        assert result.numpy().tolist() == [7.0] * size
    assert all(line.slope is v for line in traces)


def test_branches_and_loops_carry_lines_with_variables():
    v, w = tf.Variable(2.0), tf.Variable(4.0)

    @tf.function
    def f(positive, steps):
        line = Line(v, tf.constant(1.0)) if positive else Line(w, tf.constant(0.0))
        for _ in tf.range(steps):
            line = Line(line.slope, line.offset + 1.0)
        return line(tf.constant(3.0))

    assert [float(f(tf.constant(positive), tf.constant(2))) for positive in (True, False)] == [9.0, 14.0]


def test_a_composite_is_a_tensor_if_it_says_so():
    line = Line(tf.constant(2.0), tf.constant(1.0))
    assert not tf.is_tensor(line)
    line.is_tensor_like = True
    assert tf.is_tensor(line)


def test_a_spec_alone_does_not_name_the_variable():
    at, _ = line_at()
    spec = Line(tf.Variable(2.0), tf.constant(1.0))._type_spec
    with pytest.raises(TypeError, match=r"line\.slope is a variable, which a spec cannot name"):
        at.get_concrete_function(spec, tf.constant(3.0))


def test_a_function_of_composites_without_a_name_in_files_is_not_saved(tmp_path):
    module = tf.Module()
    module.at, _ = line_at()
    module.v = tf.Variable(2.0)
    module.at(Line(module.v, tf.constant(1.0)), tf.constant(3.0))
    with pytest.raises(ValueError, match="'at' cannot be saved: values of the kind Line cannot be saved"):
        tf.saved_model.save(module, tmp_path)
