"""Operators in `tf.function`, in branches and loops, as values with specs, under gradients, and as modules."""

import pickle

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS
from agc.runtime.linear_operator.spec import LinearOperatorSpec
from support.linear_operators import OPERATORS, Numbers, is_invertible
from support.selection import each_nth, pairs

linalg = tf.linalg


def members(name, operator):
    """name → (function of an operator and a tensor, tensor), for the members that an operator has."""
    rows, columns = operator.shape[-2:]
    of = Numbers(operator.dtype.as_numpy_dtype)
    found = {
        "matmul": (lambda op, x: op.matmul(x), of(2, columns, 3)),
        "adjoint matmul": (lambda op, x: op.matmul(x, adjoint=True), of(2, rows, 3)),
        "matvec": (lambda op, x: op.matvec(x), of(columns)),
        "add_to_tensor": (lambda op, x: op.add_to_tensor(x), of(2, rows, columns)),
        "to_dense": (lambda op, x: op.to_dense(), of()),
        "diag_part": (lambda op, x: op.diag_part(), of()),
        "trace": (lambda op, x: op.trace(), of()),
        "shape": (lambda op, x: op.shape_tensor(), of()),
        "batch shape": (lambda op, x: op.batch_shape_tensor(), of()),
        "rank": (lambda op, x: op.tensor_rank_tensor(), of()),
        "product": (lambda op, x: op.matmul(op, adjoint_arg=True).to_dense(), of()),
    }
    if is_invertible(name, operator):
        found |= {
            "solve": (lambda op, x: op.solve(x), of(2, rows, 3)),
            "adjoint solve": (lambda op, x: op.solve(x, adjoint=True), of(2, rows, 3)),
            "determinant": (lambda op, x: op.determinant(), of()),
            "log_abs_determinant": (lambda op, x: op.log_abs_determinant(), of()),
            "inverse": (lambda op, x: op.inverse().to_dense(), of()),
        }
    return found


def less_known(spec, known_rank):
    """Return a spec with unknown sizes, or unknown ranks."""
    if isinstance(spec, LinearOperatorSpec):
        operator_class, tensors, data = spec._serialize()
        return LinearOperatorSpec(
            operator_class, tf.nest.map_structure(lambda each: less_known(each, known_rank), tensors), data
        )
    return tf.TensorSpec([None] * spec.shape.rank if known_rank else None, spec.dtype)


@pytest.mark.parametrize(("name", "known_rank"), pairs(OPERATORS, [True, False]))
def test_shapes_may_be_unknown_while_tracing(name, known_rank):
    operator = OPERATORS[name](Numbers("float64"))
    calls = members(name, operator)

    @tf.function
    def everything(op, arguments):
        return {member: call(op, arguments[member]) for member, (call, _) in calls.items()}

    def spec_of(x):
        return tf.TensorSpec([None] * x.ndim if known_rank else None, x.dtype)

    arguments = {member: x for member, (_, x) in calls.items()}
    specs = {member: spec_of(x) for member, x in arguments.items()}
    concrete = everything.get_concrete_function(less_known(operator._type_spec, known_rank), specs)
    for member, value in concrete(operator, arguments).items():
        expected = calls[member][0](operator, arguments[member])
        np.testing.assert_allclose(value, expected, 1e-9, 1e-12, err_msg=member)


@pytest.mark.parametrize("name", each_nth(3, [
    "identity", "update", "block rows", "kronecker", "inversion", "permutations", "toeplitz", "tridiagonal",
    "circulant 2d",
]))  # fmt: skip
def test_executors_agree(name):
    operator = OPERATORS[name](Numbers("complex64"))
    calls = members(name, operator)

    def everything(op, arguments):
        return {member: call(op, arguments[member]) for member, (call, _) in calls.items()}

    arguments = {member: tf.constant(x) for member, (_, x) in calls.items()}
    expected = everything(operator, arguments)
    concrete = tf.function(everything).get_concrete_function(operator, arguments)
    inputs = [part.numpy() for part in tf.nest.flatten((operator, arguments), expand_composites=True)]
    for executor, make in EXECUTORS.items():
        if executor == "xla":  # its own tests compare operations
            continue
        results = tf.nest.pack_sequence_as(expected, make(concrete.graph)(inputs))
        for member, value in expected.items():
            np.testing.assert_allclose(results[member], value, 1e-3, 1e-3, err_msg=f"{executor} {member}")


@pytest.mark.parametrize("name", OPERATORS)
def test_gradients_agree_with_finite_differences(name):
    operator = OPERATORS[name](Numbers("float64"))
    of, step = Numbers("float64"), 1e-6
    parts = operator._differentiated
    calls = {
        member: call
        for member, call in members(name, operator).items()
        if call[0](operator, call[1]).dtype.is_floating
    }
    for member, (call, x) in calls.items() if parts else ():

        def total(op, call=call, x=x):
            return tf.reduce_sum(call(op, x) ** 2)

        with tf.GradientTape() as tape:
            tape.watch(operator)
            y = total(operator)
        gradient = tape.gradient(y, operator)
        directions = [
            of(*part.shape) if not part.dtype.is_complex else of(*part.shape) * (1 + 0.5j) for part in parts
        ]
        near = [
            total(
                operator._with_parts(
                    iter([p + sign * step * d for p, d in zip(parts, directions, strict=True)])
                )
            )
            for sign in (-1, 1)
        ]
        slopes = [] if gradient is None else zip(gradient._differentiated, directions, strict=True)
        slope = sum(np.real(np.sum(np.conj(g.numpy()) * d)) for g, d in slopes)
        expected = float(near[1] - near[0]) / (2 * step)
        assert slope == pytest.approx(expected, rel=1e-4, abs=1e-4), member


class TestGradients:
    def test_the_gradient_of_an_operator_is_an_operator_of_derivatives(self):
        diag = linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
        product = linalg.LinearOperatorComposition(
            [diag, linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 3.0]])]
        )
        with tf.GradientTape() as tape:
            tape.watch(product)
            y = product.matvec([3.0, 4.0])
        gradient = tape.gradient(y, product)
        left, right = gradient.operators
        assert isinstance(gradient, linalg.LinearOperatorComposition)
        assert left.diag.numpy().tolist() == [10.0, 15.0]
        assert right.matrix.numpy().tolist() == [[3.0, 4.0], [6.0, 8.0]]
        assert left.is_positive_definite is None

    def test_an_operator_that_the_target_does_not_depend_on(self):
        diag = linalg.LinearOperatorDiag([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(diag)
            y = tf.constant(1.0)
        assert tape.gradient(y, diag) is None

    def test_variables_get_gradients(self):
        variable = tf.Variable([1.0, 2.0])
        diag = linalg.LinearOperatorDiag(variable)
        call = tf.function(lambda op, x: op.matvec(x))
        for compute in (diag.matvec, lambda x: call(diag, x)):
            with tf.GradientTape() as tape:
                y = compute(tf.constant([3.0, 4.0]))
            assert tape.gradient(y, variable).numpy().tolist() == [3.0, 4.0]

    def test_inside_a_function(self):
        @tf.function
        def slope(op, x):
            with tf.GradientTape() as tape:
                tape.watch(op)
                y = op.determinant() * x
            return tape.gradient(y, op)

        assert slope(linalg.LinearOperatorDiag([2.0, 5.0]), 3.0).diag.numpy().tolist() == [15.0, 6.0]


class TestFunctions:
    def test_results_keep_their_class_and_hints(self):
        call = tf.function(lambda x: linalg.LinearOperatorDiag(x, is_positive_definite=True))
        made = call(tf.constant([1.0, 2.0]))
        assert isinstance(made, linalg.LinearOperatorDiag)
        assert made.is_positive_definite
        assert made.diag.numpy().tolist() == [1.0, 2.0]

    def test_operators_of_one_spec_share_a_trace(self):
        call = tf.function(lambda op: op.trace())
        call(linalg.LinearOperatorDiag([1.0, 2.0]))
        call(linalg.LinearOperatorDiag([3.0, 4.0]))
        assert call.experimental_get_tracing_count() == 1
        call(linalg.LinearOperatorDiag([3.0, 4.0], is_non_singular=True))
        assert call.experimental_get_tracing_count() == 2

    def test_loops_carry_operators(self):
        @tf.function
        def power(op, n):
            for _ in tf.range(n):
                op = op @ op
            return op

        assert power(linalg.LinearOperatorDiag([1.0, 2.0]), tf.constant(2)).diag.numpy().tolist() == [
            1.0,
            16.0,
        ]

    def test_branches_give_operators(self):
        @tf.function
        def chosen(op, inverted):
            if inverted:
                op = op.inverse()
            return op

        diag = linalg.LinearOperatorDiag([1.0, 2.0])
        for inverted, expected in ((True, [1.0, 0.5]), (False, [1.0, 2.0])):
            assert chosen(diag, tf.constant(inverted)).diag.numpy().tolist() == expected

    def test_another_class_after_an_iteration_is_refused(self):
        @tf.function
        def power(op, n):
            for _ in tf.range(n):
                op = op @ op
            return op

        with pytest.raises(TypeError, match="the loop changes the structure of `op`"):
            power(linalg.LinearOperatorFullMatrix([[1.0]]), tf.constant(2))

    def test_a_variable_is_read_at_each_call(self):
        variable = tf.Variable([1.0, 2.0])
        call = tf.function(lambda op: op.trace())
        operator = linalg.LinearOperatorDiag(variable)
        assert float(call(operator)) == 3
        variable.assign([5.0, 6.0])
        assert float(call(operator)) == float(operator.trace()) == 11

    def test_an_identity_of_unknown_size(self):
        call = tf.function(
            lambda n, batch: linalg.LinearOperatorIdentity(n, batch_shape=batch).to_dense(),
            input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)],
        )
        np.testing.assert_array_equal(call(2, [3]), np.broadcast_to(np.eye(2), (3, 2, 2)))

    def test_a_size_that_is_known_while_tracing(self):
        call = tf.function(lambda x: linalg.LinearOperatorIdentity(tf.shape(x)[-1]).shape)
        assert call(tf.ones((2, 3))) == [3, 3]

    def test_assertions_of_a_graph(self):
        @tf.function
        def checked(op):
            op.assert_non_singular()
            return op.trace()

        assert float(checked(linalg.LinearOperatorDiag([1.0, 2.0]))) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="Diagonal contained zero values"):
            checked(linalg.LinearOperatorDiag([1.0, 0.0]))


class TestOwnClasses:
    class Scaled(linalg.LinearOperator):
        def __init__(self, matrix, factor=2.0, **kwargs):
            self.matrix, self.factor = tf.convert_to_tensor(matrix), factor
            super().__init__(self.matrix.dtype, **kwargs)

        def _shape(self):
            return self.matrix.shape

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return self.factor * tf.matmul(self.matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def test_everything_follows_from_two_methods(self):
        operator = self.Scaled([[2.0, 1.0], [1.0, 3.0]], is_self_adjoint=True)
        dense = np.array([[4.0, 2.0], [2.0, 6.0]], np.float32)
        np.testing.assert_allclose(operator.to_dense(), dense)
        np.testing.assert_allclose(operator.solvevec([1.0, 2.0]), np.linalg.solve(dense, [1.0, 2.0]), 1e-6)
        np.testing.assert_allclose(operator.inverse().to_dense(), np.linalg.inv(dense), 1e-6)
        np.testing.assert_allclose((operator @ operator).to_dense(), dense @ dense)
        np.testing.assert_allclose(operator.eigvals(), np.linalg.eigvalsh(dense), 1e-6)
        np.testing.assert_allclose(operator.matmul(dense, adjoint_arg=True), dense @ dense.T)
        assert operator.H is operator

    def test_functions_make_them_of_their_arguments(self):
        call = tf.function(lambda op, x: op.matvec(x))
        operator = self.Scaled(tf.constant([[2.0, 1.0], [1.0, 3.0]]), factor=3.0)
        for _ in range(2):
            assert call(operator, [1.0, 0.0]).numpy().tolist() == [6.0, 3.0]
        assert operator._type_spec._serialize()[2] == {"factor": 3.0}

    def test_a_constructor_may_compute(self):
        class Uniform(linalg.LinearOperatorDiag):
            def __init__(self, scale, name=None):
                super().__init__(tf.ones(3) * scale, is_positive_definite=True, name=name)

        call = tf.function(lambda op: op.inverse().trace())
        assert float(call(Uniform(tf.constant(2.0)))) == 1.5
        assert float(call(Uniform(4.0))) == 0.75
        with pytest.raises(TypeError, match="Uniform does not support slices of its batch"):
            _ = Uniform(tf.constant([[2.0]]))[0]

    def test_arguments_need_names(self):
        class Stack(linalg.LinearOperatorDiag):
            def __init__(self, *rows):
                super().__init__(tf.stack(rows))

        operator = Stack([1.0, 2.0], [3.0, 4.0])
        assert operator.trace().numpy().tolist() == [3.0, 7.0]
        with pytest.raises(TypeError, match=r"Stack takes the arguments \*rows: name them"):
            tf.function(lambda op: op.trace())(operator)

    def test_both_methods_are_needed(self):
        class Half(linalg.LinearOperator):
            def _matmul(self, x, adjoint=False, adjoint_arg=False):
                return x

        with pytest.raises(TypeError, match=r"abstract method.*_shape"):
            Half("float32")

    def test_unknown_shapes_need_a_third(self):
        call = tf.function(lambda op: op.shape_tensor(), input_signature=[
            less_known(self.Scaled(tf.constant([[1.0]]))._type_spec, True)
        ])  # fmt: skip
        with pytest.raises(NotImplementedError, match="Scaled: define _shape_tensor"):
            call(self.Scaled(tf.constant([[1.0]])))


class TestValues:
    def test_specs(self):
        operator = linalg.LinearOperatorBlockDiag(
            [linalg.LinearOperatorDiag([1.0]), linalg.LinearOperatorFullMatrix([[2.0]])]
        )
        spec = tf.type_spec_from_value(operator)
        assert spec.value_type is linalg.LinearOperatorBlockDiag
        assert spec == pickle.loads(pickle.dumps(spec))
        assert [part.shape for part in tf.nest.flatten(operator, expand_composites=True)] == [[1], [1, 1]]
        assert tf.nest.flatten(operator) == [operator]
        assert not tf.is_tensor(operator)
        with pytest.raises(ValueError, match="unsupported type"):
            tf.convert_to_tensor(operator)

    def test_specs_with_other_shapes_have_a_common_one(self):
        one, other = (linalg.LinearOperatorDiag(np.ones(n))._type_spec for n in (2, 3))
        common = one.most_specific_common_supertype([other])
        assert common._component_specs == [tf.TensorSpec([None], tf.float64)]
        assert linalg.LinearOperatorDiag(np.ones(2), is_square=True)._type_spec == one
        assert one.most_specific_common_supertype([linalg.LinearOperatorIdentity(2)._type_spec]) is None

    def test_modules(self):
        variables = tf.Variable([1.0]), tf.Variable([[2.0]], trainable=False)
        diag, full = linalg.LinearOperatorDiag(variables[0]), linalg.LinearOperatorFullMatrix(variables[1])
        block = linalg.LinearOperatorBlockDiag([diag, full])
        assert [id(v) for v in block.trainable_variables] == [id(variables[0])]
        assert [id(v) for v in block.variables] == list(map(id, variables))
        assert block.submodules == (diag, full)
        assert diag.diag is variables[0]

    def test_checkpoints(self, tmp_path):
        variable = tf.Variable([1.0, 2.0])
        checkpoint = tf.train.Checkpoint(operator=linalg.LinearOperatorDiag(variable))
        path = checkpoint.save(tmp_path / "model")
        variable.assign([0.0, 0.0])
        checkpoint.restore(path)
        assert variable.numpy().tolist() == [1.0, 2.0]

    def test_saved_models(self, tmp_path):
        class Scaled(linalg.LinearOperatorDiag):
            pass

        class Model(tf.Module):
            def __init__(self):
                super().__init__()
                self.lower = linalg.LinearOperatorLowerTriangular(tf.Variable([[1.0, 0.0], [2.0, 3.0]]))

            @tf.function
            def __call__(self, operator):
                return self.lower.matvec(operator.diag_part()), operator @ operator

        model, block = Model(), linalg.LinearOperatorBlockDiag([linalg.LinearOperatorDiag([1.0])] * 2)
        model(block)
        tf.saved_model.save(model, tmp_path / "model")
        vector, square = tf.saved_model.load(tmp_path / "model")(block)
        assert vector.numpy().tolist() == [1.0, 5.0]
        assert isinstance(square, linalg.LinearOperatorBlockDiag)
        model(Scaled([1.0, 1.0]))
        with pytest.raises(ValueError, match="values of the kind Scaled cannot be saved"):
            tf.saved_model.save(model, tmp_path / "other")

    def test_functions_of_tensors_that_take_no_operators(self):
        operator = linalg.LinearOperatorDiag([1.0])
        assert tf.identity(operator) is operator
        for call in (tf.reduce_sum, tf.linalg.eigvalsh, tf.shape, tf.negative):
            with pytest.raises(ValueError, match="unsupported type"):
                call(operator)
        with pytest.raises(ValueError, match="Transposing not supported"):
            tf.matmul(operator, [[1.0]], transpose_a=True)
        with pytest.raises(ValueError, match="`matrix` as a Tensor and `rhs` as a LinearOperator"):
            tf.linalg.solve([[1.0]], operator)


class Exponential(tf.Module):
    """A module that converts to a tensor: the exponential of a variable."""

    def __init__(self, start):
        super().__init__()
        self.log = tf.Variable(start)

    dtype = property(lambda self: self.log.dtype)
    shape = property(lambda self: self.log.shape)

    def __getitem__(self, key):
        return tf.exp(self.log)[key]


tf.register_tensor_conversion_function(
    Exponential, lambda x, dtype=None, name=None, as_ref=False: tf.exp(x.log)
)


def test_modules_that_convert_to_tensors_are_converted_at_each_use():
    scale = Exponential([0.0, 0.0])
    operator = linalg.LinearOperatorDiag(scale)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(operator.matvec([1.0, 2.0])) + operator.log_abs_determinant()
    assert tape.gradient(loss, scale.log).numpy().tolist() == [2.0, 3.0]
    assert operator.trainable_variables == (scale.log,)
    traced = tf.function(lambda: operator.to_dense())
    traced()
    scale.log.assign([0.0, tf.math.log(3.0)])
    assert traced().numpy().tolist() == [[1.0, 0.0], [0.0, 3.0]]
