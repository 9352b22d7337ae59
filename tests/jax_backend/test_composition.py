"""`agc.jax` composes with the transformations of JAX, and with functions that JAX calls."""

import functools
from typing import NamedTuple

import agc.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax


def clipped(x, low=-1.0, high=1.0):
    if x < low:
        return low
    if x > high:
        return high
    return x


XS = jnp.array([-3.0, 0.5, 2.0])


def test_vmap_of_jit_and_jit_of_vmap():
    expected = [-1.0, 0.5, 1.0]
    assert jax.vmap(agc.jax.jit(clipped))(XS).tolist() == expected
    assert jax.jit(jax.vmap(agc.jax.autograph(clipped)))(XS).tolist() == expected
    assert agc.jax.jit(lambda xs: jax.vmap(clipped)(xs))(XS).tolist() == expected


def test_jvp_and_vjp():
    staged = agc.jax.autograph(clipped)
    assert jax.jvp(jax.jit(staged), (0.5,), (1.0,)) == (0.5, 1.0)
    value, pull = jax.vjp(staged, 2.0)
    assert (value, pull(1.0)) == (1.0, (0.0,))


def test_functions_that_converted_code_passes_to_jax_are_converted():
    def step(total, x):
        if x > 0:
            total = total + x
        return total, total

    @agc.jax.jit
    def summed(xs):
        return lax.scan(step, 0.0, xs)

    total, sums = summed(XS)
    assert total == 2.5
    assert sums.tolist() == [0.0, 0.5, 2.5]


def test_gradients_inside_of_a_staged_function():
    def loss(w, x):
        if x.sum() > 0:
            return (w * x).sum()
        return (w * w).sum()

    @agc.jax.jit
    def train(w, xs):
        for x in xs:
            w = w - 0.1 * jax.grad(loss)(w, x)
        return w

    @jax.jit
    def by_hand(w, xs):
        for x in xs:
            choose = lambda w, x=x: lax.cond(x.sum() > 0, lambda: (w * x).sum(), lambda: (w * w).sum())  # noqa: E731
            w = w - 0.1 * jax.grad(choose)(w)
        return w

    xs = jnp.array([[1.0, 2.0], [-1.0, -2.0], [3.0, -1.0]])
    np.testing.assert_allclose(train(jnp.ones(2), xs), by_hand(jnp.ones(2), xs), rtol=1e-6)


def test_options_of_jit_are_passed_on():
    @agc.jax.jit(static_argnames="most", donate_argnums=0)
    def doubled(x, most):
        k = 0
        while k < most:  # a Python number: this loop is unrolled
            x = x + x
            k += 1
        return x

    assert doubled(jnp.ones(2), most=3).tolist() == [8, 8]
    assert "while" not in doubled.lower(jnp.ones(2), most=3).as_text()


def test_random_keys_are_carried():
    @agc.jax.jit
    def walk(key, n):
        position = 0
        while n > 0:
            key, sub = jax.random.split(key)
            position += jax.random.choice(sub, jnp.array([-1, 1]))
            n -= 1
        return position, key

    def by_hand(key, n):
        position = 0
        for _ in range(n):
            key, sub = jax.random.split(key)
            position += jax.random.choice(sub, jnp.array([-1, 1]))
        return position, key

    (position, key), (expected, last) = walk(jax.random.key(0), 5), by_hand(jax.random.key(0), 5)
    assert position == expected
    assert key == last


class Point(NamedTuple):
    x: jax.Array
    y: jax.Array


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["position", "history"], meta_fields=["name"]
)
class State:
    def __init__(self, position, history, name):
        self.position, self.history, self.name = position, history, name


def test_registered_classes_and_named_tuples_are_state():
    @agc.jax.jit
    def moved(state, n):
        while n > 0:
            x, y = state.position
            state = State(Point(x + 1, y * 2), state.history + x, state.name)
            n -= 1
        return state

    state = moved(State(Point(jnp.int32(0), jnp.float32(1)), jnp.int32(0), "walk"), 4)
    assert state.position == (4, 16)
    assert (int(state.history), state.name) == (6, "walk")


def test_shapes_are_known_in_staged_code():
    @agc.jax.jit
    def halves(x, n):
        while n > 0:
            assert x.shape == (4,)  # a Python value, which is not staged
            x = jnp.concatenate([x[2:], x[:2]])
            n -= 1
        return x

    assert halves(jnp.arange(4), 3).tolist() == [2, 3, 0, 1]


def test_concrete_arrays_run_as_in_python():
    seen = []

    @agc.jax.autograph
    def visited(x):
        while x > 0:
            seen.append(int(x))
            x = x - 1
        return x

    assert visited(jnp.int32(3)) == 0
    assert seen == [3, 2, 1]


def test_items_are_assigned_outside_of_jit_too():
    @agc.jax.autograph
    def filled(x):
        x[1] = 5
        return x

    x = jnp.zeros(3)
    assert filled(x).tolist() == [0, 5, 0]
    assert x.tolist() == [0, 0, 0]  # an array of JAX does not change


def test_print_shows_values_of_the_run(capfd):
    @agc.jax.jit
    def shown(x):
        if x > 0:
            print("positive:", x)
        return x

    shown(3), shown(-3)
    jax.effects_barrier()
    assert capfd.readouterr().out == "positive: 3\n"


def test_print_shows_values_that_are_formatted_in_strings(capfd):
    @agc.jax.jit
    def shown(x):
        while x < 4:
            x *= 2
            print(f"x = {x:.2f}, {{x}}", "{:>4}".format(x + 1), end="!\n")  # noqa: UP032
        return x

    shown(1.0)
    jax.effects_barrier()
    assert capfd.readouterr().out == "x = 2.00, {x}  3.0!\nx = 4.00, {x}  5.0!\n"
    texts = []
    jax.jit(lambda x: texts.append(f"{x}"))(1.0)
    assert "Tracer" in texts[0]  # elsewhere JAX formats as before


def test_sorted_orders_items_stably_by_their_keys():
    @agc.jax.jit
    def ordered(v, n):
        key = lambda x: x // 2  # noqa: E731
        return sorted(v), sorted([v[0], v[1], v[2], n], key=key), sorted(v, key=key, reverse=True)

    v = [3.0, 1.0, 2.0]
    first, second, third = ordered(jnp.array(v), 0.0)
    assert (first, second) == (sorted(v), sorted([*v, 0.0], key=lambda x: x // 2))
    assert third == sorted(v, key=lambda x: x // 2, reverse=True)


def test_weak_types_adapt_as_in_jax():
    @agc.jax.jit
    def scaled(x):
        factor = 1
        if x[0] > 0:
            factor = 2.5
        return x * factor

    assert scaled(jnp.ones(2, jnp.float16)).dtype == jnp.float16


@pytest.mark.parametrize("size", [0, 1, 5])
def test_loops_over_no_or_few_rows(size):
    @agc.jax.jit
    def collected(xs):
        total, squares = 0, []
        for x in xs:
            total += x
            squares.append(x * x)
        return total, squares

    total, squares = collected(jnp.arange(size))
    assert total == sum(range(size))
    assert squares == [x * x for x in range(size)]


def test_membership():
    @agc.jax.jit
    def found(x):
        return x in (1, 2), x not in [2, 3]

    assert found(2) == (True, False)


def test_rules_of_custom_derivatives_are_staged_also_when_jax_runs_them_later():
    @jax.custom_vjp
    def backward(x):
        return x * x if x > 0 else -x

    backward.defvjp(lambda x: (backward(x), x), lambda x, g: (2 * g * x if x > 0 else 100 * g,))

    @jax.custom_jvp
    def forward(x):
        return x * x if x > 0 else -x

    @forward.defjvp
    def _(primals, tangents):
        (x,), (dx,) = primals, tangents
        return forward(x), 2 * x * dx if x > 0 else 100 * dx

    for rule in (backward, forward):
        staged = agc.jax.jit(lambda x, rule=rule: 2 * rule(x))
        assert (staged(3.0), staged(-3.0)) == (18, 6)
        assert (jax.grad(staged)(3.0), jax.grad(staged)(-3.0)) == (12, 200)


def test_references_are_changed_in_place():
    @agc.jax.jit
    def filled(n):
        found = jax.new_ref(jnp.zeros(3))
        if n > 0:
            found[0] += 1
        for i in range(n):
            found[i] += 2
        return found[...]

    assert filled(2).tolist() == [3, 2, 0]
    assert filled(0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("is_checked", [False, True])
def test_shard_map_with_values_that_differ_along_its_axis(is_checked):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P(), check_vma=is_checked)
    @agc.jax.autograph
    def summed(xs):
        total = 0.0
        for x in xs:
            if x > 0:
                total += x
            assert x < 100
        while total < 10:
            total *= 2
        return lax.psum(total, "i")

    assert jax.jit(summed)(XS) == 10


def test_weak_numbers_adapt_to_smaller_types_as_in_jax():
    @agc.jax.jit
    def accumulated(xs, n):
        total, product = 0.0, 1
        for k in range(n):
            total += xs[k]
            product *= xs[k]
        return total, product

    for dtype in (jnp.float16, jnp.int8):
        total, product = accumulated(jnp.ones(3, dtype), 3)
        assert (total, total.dtype) == (3, jnp.result_type(dtype, 0.0))
        assert (product, product.dtype) == (1, dtype)
