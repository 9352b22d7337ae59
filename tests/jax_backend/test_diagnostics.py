"""Control flow that JAX cannot stage is an error that names the line, the variable and the fix."""

# ruff: noqa: SIM108, RET503  (programs in the style of users)

import bisect
import math

import agc.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agc.autograph.errors import StagingError


def different_types(x):
    if x > 0:
        y = jnp.int32(1)
    else:
        y = x * 2.0
    return y


def different_shapes(x):
    if x > 0:
        y = jnp.ones(2)
    else:
        y = jnp.ones(3)
    return y


def different_structures(x):
    if x > 0:
        y = (x, x)
    else:
        y = [x, x]
    return y


def nothing_returned(x):
    if x > 0:
        return x


def different_objects(x):
    if x > 0:
        y = "text"
    else:
        y = "other"
    return x, y


def type_changes_in_loop(n):
    total = jnp.int32(0)
    while n > 0:
        total = total + 0.5
        n -= 1
    return total


def shape_changes_in_loop(n):
    v = jnp.zeros(2)
    while n > 0:
        v = jnp.concatenate([v, v])
        n -= 1
    return v


def structure_changes_in_loop(n):
    best = None
    while n > 0:
        best = n
        n -= 1
    return best


def list_of_unknown_length(n):
    out = []
    while n > 0:
        out.append(n)
        n -= 1
    return out


def list_that_an_if_extends(n):
    out = []
    for x in jnp.arange(3):
        if x > n:
            out.append(x)
    return out


def list_that_is_read(n):
    out = [n]
    for x in jnp.arange(3):
        out.append(out[-1] + x)
    return out


def condition_with_elements(n):
    if jnp.arange(3) > n:
        return 1
    return 0


def filtered(n):
    return [x for x in jnp.arange(3) if x > n]


def numpy_function(n):
    return np.sqrt(n)


def function_of_math(n):
    return math.sqrt(n)


def value_of_array(n):
    return n.item()


def traced_slice(n):
    return jnp.arange(3)[:n]


def traced_shape(n):
    return jnp.zeros(n)


def traced_bound(n):
    return jnp.arange(n)


def selected_items(n):
    return jnp.nonzero(jnp.arange(3) + n)


def masked(n):
    v = jnp.arange(3)
    return v[v > n]


def item_of_list(n):
    return [1.0, 2.0][n]


def key_of_dict(n):
    return {1: 2.0}[n]


def _generated(n):
    if n > 0:
        yield n


def generator(n):
    return sum(_generated(n))


def library_that_decides(n):
    return bisect.bisect([1, 2, 3], n)


def condition_of_while(n):
    while jnp.arange(3) > n:
        n += 1
    return n


def caught(n):
    try:
        if n > 0:
            raise ValueError("positive")
    except ValueError:
        return 1
    return 0


def recursive(n):
    return 1 if n < 1 else n * recursive(n - 1)


def item_of_another_shape(n):
    state = {"a": jnp.ones(2)}
    if n > 0:
        state["a"] = jnp.ones(3)
    return state


CASES = [
    (different_types, "AGC201", "`y`", "if x > 0:"),
    (different_shapes, "AGC201", "`y`", "float32[3]"),
    (different_structures, "AGC202", "`y`", "y = [x, x]"),
    (nothing_returned, "AGC202", "return", "return an array in place of None"),
    (different_objects, "AGC203", "`y`", "'other'"),
    (type_changes_in_loop, "AGC204", "`total`", "total = jnp.int32(0)"),
    (shape_changes_in_loop, "AGC204", "`v`", "float32[4]"),
    (structure_changes_in_loop, "AGC205", "`best`", "best = None"),
    (list_of_unknown_length, "AGC231", "`out`", "while n > 0:"),
    (list_that_an_if_extends, "AGC231", "`out`", "if x > n:"),
    (list_that_is_read, "AGC231", "list", "out.append(out[-1] + x)"),
    (condition_with_elements, "AGC207", "(3,)", "jnp.any"),
    (condition_of_while, "AGC207", "(3,)", "while jnp.arange(3) > n"),
    (filtered, "AGC231", "comprehension", "[x if test else 0 for x in xs]"),
    (numpy_function, "AGC233", "NumPy", "np.sqrt(n)"),
    (function_of_math, "AGC233", "number", "math.sqrt(n)"),
    (value_of_array, "AGC233", "value", "n.item()"),
    (traced_slice, "AGC233", "slice", "dynamic_slice_in_dim"),
    (traced_shape, "AGC233", "shape", "static_argnums"),
    (traced_bound, "AGC233", "size", "for i in range(n)"),
    (selected_items, "AGC233", "number of items", "size="),
    (masked, "AGC233", "selected items", "jnp.where"),
    (item_of_list, "AGC233", "integer", "jnp.array(items)[i]"),
    (key_of_dict, "AGC233", "key", "{1: 2.0}[n]"),
    (generator, "AGC282", "`_generated`", "if n > 0:"),
    (library_that_decides, "AGC233", "truth value", "bisect.bisect"),
    (caught, "AGC260", "ValueError", "except ValueError:"),
    (recursive, "AGC280", "`recursive`", "an array decides"),
    (item_of_another_shape, "AGC201", "`state['a']`", 'state["a"] = jnp.ones(3)'),
]


@pytest.mark.parametrize(
    ("function", "code", "variable", "shown"), CASES, ids=lambda each: getattr(each, "__name__", None)
)
def test_the_error_names_the_line_and_the_variable(function, code, variable, shown):
    with pytest.raises(StagingError) as raised:
        agc.jax.jit(function)(jnp.float32(1) if "different" in function.__name__ else 1)
    assert raised.value.diagnostic.code == code
    assert raised.value.diagnostic.where.file == __file__
    for text in (variable, shown):
        assert text in str(raised.value)


def test_a_range_with_a_traced_bound_takes_integers():
    @agc.jax.jit
    def counted(n):
        for _ in range(n):
            pass

    with pytest.raises(TypeError, match=r"integers.*float32.*int\(...\)"):
        counted(2.5)


def test_a_range_has_no_step_of_zero():
    with pytest.raises(ValueError, match="must not be zero"):
        agc.jax.jit(lambda n: [i for i in range(0, n, 0)])(3)  # noqa: C416


def test_the_error_of_jax_is_the_cause():
    with pytest.raises(StagingError) as raised:
        agc.jax.jit(numpy_function)(1.0)
    assert isinstance(raised.value.__cause__, jax.errors.TracerArrayConversionError)


def unmarked(x):
    assert x > 0, "not positive"
    if x > 1:
        y = x
    return y


@pytest.mark.parametrize(("x", "line"), [(-1.0, "in unmarked"), (0.5, "in unmarked")])
def test_exceptions_without_a_raise_have_their_line(x, line):
    with pytest.raises((AssertionError, UnboundLocalError)) as raised:
        agc.jax.jit(unmarked)(x)
    assert line in raised.value.__notes__[0]


def labelled(x):
    try:
        return 1 if x > 0 else "none"
    except ValueError:
        return 0


def test_an_except_that_catches_an_error_of_the_tracing_is_reported():
    with pytest.warns(UserWarning, match=r"warning\[AGC262\].*AGC203.*\n.*in labelled"):
        assert agc.jax.jit(labelled)(2) == 0
