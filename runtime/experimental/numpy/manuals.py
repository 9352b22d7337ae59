"""Docstrings of the functions of tf.experimental.numpy that lifting.py makes: a sentence and an example.

"add": (…, "[1, 2], 0.5", "[1.5, 2.5]")     ==>     >>> add([1, 2], 0.5).numpy().tolist()
                                                    [1.5, 2.5]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ARRAYS = {
    "absolute": ("Return the absolute value of each element.", "[-1, 2]", "[1, 2]"),
    "add": ("Return the sum of each two elements.", "[1, 2], 0.5", "[1.5, 2.5]"),
    "allclose": (
        "Return whether all elements differ by at most `atol + rtol * abs(b)`.",
        "[1.0, 2.0], [1.0, 2.001], rtol=0.01",
        "True",
    ),
    "angle": (
        "Return the angles of complex numbers in radians, or in degrees.",
        "[1j, 1.0 + 1j], deg=True",
        "[90.0, 45.0]",
    ),
    "append": (
        "Return an array with `values` at its end, as a vector unless `axis` is given.",
        "[1, 2], [3]",
        "[1, 2, 3]",
    ),
    "arccos": ("Return the inverse cosine in radians.", "[1.0]", "[0.0]"),
    "arccosh": ("Return the inverse hyperbolic cosine.", "[1.0]", "[0.0]"),
    "arcsin": ("Return the inverse sine in radians.", "[0.0]", "[0.0]"),
    "arcsinh": ("Return the inverse hyperbolic sine.", "[0.0]", "[0.0]"),
    "arctan": ("Return the inverse tangent in radians.", "[0.0]", "[0.0]"),
    "arctan2": ("Return the angle of the points `(x2, x1)` in radians.", "0.0, [1.0, 2.0]", "[0.0, 0.0]"),
    "arctanh": ("Return the inverse hyperbolic tangent.", "[0.0]", "[0.0]"),
    "argmax": (
        "Return the index of the largest element along an axis, or of all elements.",
        "[[1, 5], [3, 2]], axis=0",
        "[1, 0]",
    ),
    "argmin": (
        "Return the index of the smallest element along an axis, or of all elements.",
        "[[1, 5], [3, 2]], axis=0",
        "[0, 1]",
    ),
    "around": (
        "Return the numbers rounded to `decimals` digits, halves to even digits.",
        "[0.5, 1.5, 2.25], 1",
        "[0.5, 1.5, 2.2]",
    ),
    "array_equal": ("Return whether two arrays have the same shape and elements.", "[1, 2], [1, 2]", "True"),
    "atleast_1d": ("Return arrays of rank 1 or more: one array, or a list of several.", "3", "[3]"),
    "atleast_2d": ("Return arrays of rank 2 or more: one array, or a list of several.", "[1, 2]", "[[1, 2]]"),
    "atleast_3d": (
        "Return arrays of rank 3 or more: one array, or a list of several.",
        "[1, 2]",
        "[[[1], [2]]]",
    ),
    "average": (
        "Return the mean along an axis, weighted by `weights`; with `returned` the sum of weights, too.",
        "[1.0, 4.0], weights=[3, 1]",
        "1.75",
    ),
    "bitwise_and": ("Return the bits that are set in both integers.", "[6], [3]", "[2]"),
    "bitwise_not": ("Return the integers with all bits inverted.", "[0, 5]", "[-1, -6]"),
    "bitwise_or": ("Return the bits that are set in one of the integers.", "[6], [3]", "[7]"),
    "bitwise_xor": ("Return the bits that differ in the integers.", "[6], [3]", "[5]"),
    "broadcast_to": ("Return the array broadcast to a shape.", "[1, 2], (2, 2)", "[[1, 2], [1, 2]]"),
    "cbrt": ("Return the cube root.", "[8.0]", "[2.0]"),
    "ceil": ("Return the smallest whole number that is not less.", "[1.2, -1.2]", "[2.0, -1.0]"),
    "conjugate": ("Return the complex conjugate.", "[1 + 2j]", "[(1-2j)]"),
    "cos": ("Return the cosine of radians.", "[0.0]", "[1.0]"),
    "cosh": ("Return the hyperbolic cosine.", "[0.0]", "[1.0]"),
    "cross": (
        "Return the cross product of vectors with 2 or 3 components.",
        "[1, 0, 0], [0, 1, 0]",
        "[0, 0, 1]",
    ),
    "cumprod": ("Return the products of the first elements along an axis.", "[1, 2, 3]", "[1, 2, 6]"),
    "cumsum": ("Return the sums of the first elements along an axis.", "[1, 2, 3]", "[1, 3, 6]"),
    "deg2rad": ("Return degrees as radians.", "[0.0, 180.0]", "[0.0, 3.141592653589793]"),
    "diag": (
        "Return a matrix with this diagonal, or the diagonal of a matrix.",
        "[1, 2]",
        "[[1, 0], [0, 2]]",
    ),
    "diagflat": (
        "Return a matrix whose diagonal `k` has the elements of the array.",
        "[1, 2], 1",
        "[[0, 1, 0], [0, 0, 2], [0, 0, 0]]",
    ),
    "diagonal": ("Return the diagonals of the matrices in two axes.", "[[1, 2], [3, 4]]", "[1, 4]"),
    "diff": ("Return the differences of neighbors along an axis, taken `n` times.", "[1, 4, 9]", "[3, 5]"),
    "divide": (
        "Return the quotient of each two elements; of integers as a float.",
        "[1, 3], 2",
        "[0.5, 1.5]",
    ),
    "dot": (
        "Return the sum of products over the last axis of `a` and the last but one of `b`.",
        "[[1, 2], [3, 4]], [1, 1]",
        "[3, 7]",
    ),
    "dstack": ("Return the arrays joined along the third axis.", "([1, 2], [3, 4])", "[[[1, 3], [2, 4]]]"),
    "equal": ("Return whether the elements are equal.", "[1, 2], [1, 3]", "[True, False]"),
    "exp": ("Return e to the power of each element.", "[0, 1]", "[1.0, 2.718281828459045]"),
    "exp2": ("Return 2 to the power of each element.", "[0, 3]", "[1.0, 8.0]"),
    "expand_dims": ("Return the array with axes of size 1 inserted.", "[1, 2], 0", "[[1, 2]]"),
    "expm1": ("Return `exp(x) - 1`, which is accurate near 0.", "[0.0]", "[0.0]"),
    "fabs": (
        "Return the absolute value of each element; integers remain integers.",
        "[-1.5, 2.0]",
        "[1.5, 2.0]",
    ),
    "fix": ("Return each number rounded towards zero.", "[1.7, -1.7]", "[1.0, -1.0]"),
    "flip": ("Return the array with the elements along the axes in reverse order.", "[1, 2, 3]", "[3, 2, 1]"),
    "fliplr": ("Return the array with its second axis reversed.", "[[1, 2], [3, 4]]", "[[2, 1], [4, 3]]"),
    "flipud": ("Return the array with its first axis reversed.", "[[1, 2], [3, 4]]", "[[3, 4], [1, 2]]"),
    "float_power": (
        "Return `x1` to the power `x2`; integers remain integers, as in TensorFlow.",
        "[2, 3], 2",
        "[4, 9]",
    ),
    "floor": ("Return the largest whole number that is not greater.", "[1.7, -1.7]", "[1.0, -2.0]"),
    "floor_divide": ("Return the quotient rounded down.", "[7, -7], 2", "[3, -4]"),
    "gcd": ("Return the greatest common divisor of each two integers.", "[12, 18], 8", "[4, 2]"),
    "greater": ("Return whether the first element is greater.", "[1, 3], 2", "[False, True]"),
    "greater_equal": ("Return whether the first element is greater or equal.", "[1, 2], 2", "[False, True]"),
    "heaviside": (
        "Return 0 for negative numbers, 1 for positive numbers, and `x2` for zero.",
        "[-1.0, 0.0, 2.0], 0.5",
        "[0.0, 0.5, 1.0]",
    ),
    "hstack": (
        "Return the arrays joined along the second axis; vectors along the first.",
        "([1, 2], [3])",
        "[1, 2, 3]",
    ),
    "hypot": ("Return `sqrt(x1**2 + x2**2)`.", "[3.0], [4.0]", "[5.0]"),
    "imag": ("Return the imaginary part.", "[1 + 2j]", "[2.0]"),
    "inner": ("Return the sum of products over the last axes.", "[1, 2], [3, 4]", "11"),
    "isclose": (
        "Return whether the elements differ by at most `atol + rtol * abs(b)`.",
        "[1.0, 2.0], [1.0, 2.1]",
        "[True, False]",
    ),
    "iscomplex": ("Return whether the imaginary part is not zero.", "[1 + 2j, 3]", "[True, False]"),
    "isfinite": ("Return whether the numbers are neither infinite nor NaN.", "[1.0, inf]", "[True, False]"),
    "isinf": ("Return whether the numbers are infinite.", "[1.0, -inf]", "[False, True]"),
    "isnan": ("Return whether the numbers are NaN.", "[1.0, inf - inf]", "[False, True]"),
    "isneginf": ("Return whether the numbers are negative infinity.", "[inf, -inf]", "[False, True]"),
    "isposinf": ("Return whether the numbers are positive infinity.", "[inf, -inf]", "[True, False]"),
    "isreal": ("Return whether the imaginary part is zero.", "[1 + 2j, 3]", "[False, True]"),
    "kron": (
        "Return the Kronecker product: `b`, scaled by each element of `a`.",
        "[1, 10], [1, 2]",
        "[1, 2, 10, 20]",
    ),
    "lcm": ("Return the least common multiple of each two integers.", "[4, 6], 10", "[20, 30]"),
    "less": ("Return whether the first element is less.", "[1, 3], 2", "[True, False]"),
    "less_equal": ("Return whether the first element is less or equal.", "[2, 3], 2", "[True, False]"),
    "log": ("Return the natural logarithm.", "[1.0]", "[0.0]"),
    "log10": ("Return the logarithm to base 10.", "[1.0]", "[0.0]"),
    "log1p": ("Return `log(1 + x)`, which is accurate near 0.", "[0.0]", "[0.0]"),
    "log2": ("Return the logarithm to base 2.", "[8.0]", "[3.0]"),
    "logaddexp": ("Return `log(exp(x1) + exp(x2))` without overflow.", "[1000.0], -inf", "[1000.0]"),
    "logaddexp2": ("Return `log2(2**x1 + 2**x2)` without overflow.", "[3.0], [3.0]", "[4.0]"),
    "logical_and": ("Return whether both elements are true.", "[True, False], True", "[True, False]"),
    "logical_not": ("Return whether the elements are false.", "[True, False]", "[False, True]"),
    "logical_or": ("Return whether one of the elements is true.", "[True, False], False", "[True, False]"),
    "logical_xor": (
        "Return whether exactly one of the elements is true.",
        "[True, False], True",
        "[False, True]",
    ),
    "maximum": ("Return the larger of each two elements; NaN if one is NaN.", "[1, 5], 3", "[3, 5]"),
    "mean": (
        "Return the mean along the axes; of integers as float64.",
        "[[1, 2], [3, 4]], axis=0",
        "[2.0, 3.0]",
    ),
    "minimum": ("Return the smaller of each two elements; NaN if one is NaN.", "[1, 5], 3", "[1, 3]"),
    "mod": ("Return the remainder, which has the sign of the divisor.", "[7, -7], 3", "[1, 2]"),
    "moveaxis": (
        "Return the array with axes moved to other places.",
        "[[1, 2], [3, 4]], 0, 1",
        "[[1, 3], [2, 4]]",
    ),
    "multiply": ("Return the product of each two elements.", "[1, 2], 3", "[3, 6]"),
    "nanmean": (
        "Return the mean along the axes of the elements that are not NaN.",
        "[1.0, inf - inf, 3.0]",
        "2.0",
    ),
    "nanprod": (
        "Return the product along the axes, in which NaN counts as 1.",
        "[2.0, inf - inf, 3.0]",
        "6.0",
    ),
    "nansum": ("Return the sum along the axes, in which NaN counts as 0.", "[1.0, inf - inf, 3.0]", "4.0"),
    "negative": ("Return the negative of each element.", "[1, -2]", "[-1, 2]"),
    "not_equal": ("Return whether the elements differ.", "[1, 2], [1, 3]", "[False, True]"),
    "outer": (
        "Return the product of each element of `a` with each element of `b`.",
        "[1, 2], [3, 4]",
        "[[3, 4], [6, 8]]",
    ),
    "polyval": (
        "Return the values of the polynomial with coefficients `p`, the highest power first, at `x`.",
        "[1, 0, 2], [3]",
        "[11]",
    ),
    "positive": ("Return the elements themselves.", "[1, -2]", "[1, -2]"),
    "power": ("Return `x1` to the power `x2`.", "[2, 3], 2", "[4, 9]"),
    "ptp": (
        "Return the difference of the largest and the smallest element along the axes.",
        "[[1, 5], [3, 2]], axis=0",
        "[2, 3]",
    ),
    "rad2deg": ("Return radians as degrees.", "[0.0, pi]", "[0.0, 180.0]"),
    "ravel": ("Return the elements as a vector.", "[[1, 2], [3, 4]]", "[1, 2, 3, 4]"),
    "real": ("Return the real part.", "[1 + 2j]", "[1.0]"),
    "reciprocal": ("Return 1 divided by each element.", "[4.0]", "[0.25]"),
    "repeat": (
        "Return each element several times, along an axis or as a vector.",
        "[1, 2], 2",
        "[1, 1, 2, 2]",
    ),
    "roll": (
        "Return the array with the elements moved along the axes; those that leave return at the front.",
        "[1, 2, 3], 1",
        "[3, 1, 2]",
    ),
    "rot90": (
        "Return the array rotated by 90 degrees in the plane of two axes, `k` times.",
        "[[1, 2], [3, 4]]",
        "[[2, 4], [1, 3]]",
    ),
    "sign": ("Return -1, 0 or 1, the sign of each number.", "[-5, 0, 3]", "[-1, 0, 1]"),
    "signbit": ("Return whether the sign bit is set.", "[-1.0, 0.0]", "[True, False]"),
    "sin": ("Return the sine of radians.", "[0.0]", "[0.0]"),
    "sinc": ("Return `sin(pi * x) / (pi * x)`, and 1 at 0.", "[0.0]", "[1.0]"),
    "sinh": ("Return the hyperbolic sine.", "[0.0]", "[0.0]"),
    "sqrt": ("Return the square root.", "[4.0, 9.0]", "[2.0, 3.0]"),
    "square": ("Return the square of each element.", "[2, -3]", "[4, 9]"),
    "squeeze": (
        "Return the array without its axes of size 1, or without those of `axis`.",
        "[[1], [2]]",
        "[1, 2]",
    ),
    "stack": ("Return the arrays joined along a new axis.", "([1, 2], [3, 4])", "[[1, 2], [3, 4]]"),
    "subtract": ("Return the difference of each two elements.", "[5, 3], 1", "[4, 2]"),
    "swapaxes": ("Return the array with two axes exchanged.", "[[1, 2], [3, 4]], 0, 1", "[[1, 3], [2, 4]]"),
    "take_along_axis": (
        "Return the elements at indices along one axis, separate indices for each row.",
        "[[3, 1], [2, 4]], [[1], [0]], 1",
        "[[1], [2]]",
    ),
    "tan": ("Return the tangent of radians.", "[0.0]", "[0.0]"),
    "tanh": ("Return the hyperbolic tangent.", "[0.0]", "[0.0]"),
    "tensordot": (
        "Return the sum of products over several axes of both arrays.",
        "[[1, 2], [3, 4]], [[1, 0], [0, 1]], 1",
        "[[1, 2], [3, 4]]",
    ),
    "tile": ("Return the array repeated along each axis.", "[1, 2], 2", "[1, 2, 1, 2]"),
    "trace": ("Return the sum of the diagonal of two axes.", "[[1, 2], [3, 4]]", "5"),
    "transpose": (
        "Return the array with its axes reversed, or in the order of `axes`.",
        "[[1, 2], [3, 4]]",
        "[[1, 3], [2, 4]]",
    ),
    "tril": ("Return the array with zeros above the diagonal `k`.", "[[1, 2], [3, 4]]", "[[1, 0], [3, 4]]"),
    "triu": ("Return the array with zeros below the diagonal `k`.", "[[1, 2], [3, 4]]", "[[1, 2], [0, 4]]"),
    "vander": (
        "Return the Vandermonde matrix: powers of the elements in columns, the highest first.",
        "[2, 3], 3",
        "[[4, 2, 1], [9, 3, 1]]",
    ),
    "var": (
        "Return the variance along the axes; `ddof` is subtracted from the number of elements.",
        "[1.0, 3.0]",
        "1.0",
    ),
    "vdot": (
        "Return the sum of products of all elements; the first factors are conjugated.",
        "[1j, 2], [1j, 3]",
        "(7+0j)",
    ),
    "vstack": (
        "Return the arrays joined along the first axis; vectors are rows.",
        "([1, 2], [3, 4])",
        "[[1, 2], [3, 4]]",
    ),
}
"""Functions that return one array: a sentence, the arguments of the example, and its result."""

OTHERS = {
    "broadcast_arrays": (
        "Return the arrays, all with the shape that they broadcast to.",
        "[each.numpy().tolist() for each in broadcast_arrays([1, 2], 3)]",
        "[[1, 2], [3, 3]]",
    ),
    "divmod": (
        "Return the quotients rounded down, and the remainders.",
        "[each.numpy().tolist() for each in divmod([7, -7], 2)]",
        "[[3, -4], [1, 1]]",
    ),
    "dsplit": (
        "Return parts of the array along the third axis.",
        "[each.shape.as_list() for each in dsplit(zeros((2, 2, 4)), 2)]",
        "[[2, 2, 2], [2, 2, 2]]",
    ),
    "hsplit": (
        "Return parts of the array along the second axis; of a vector along the first.",
        "[each.numpy().tolist() for each in hsplit([1, 2, 3, 4], 2)]",
        "[[1, 2], [3, 4]]",
    ),
    "iscomplexobj": (
        "Return whether the dtype of the array is complex.",
        "iscomplexobj([1j, 2]), iscomplexobj([1.0])",
        "(True, False)",
    ),
    "isrealobj": (
        "Return whether the dtype of the array is not complex.",
        "isrealobj([1j, 2]), isrealobj([1.0])",
        "(False, True)",
    ),
    "ix_": (
        "Return vectors of indices, each along its own axis, which select a grid.",
        "[each.shape.as_list() for each in ix_([0, 1], [2, 3, 4])]",
        "[[2, 1], [1, 3]]",
    ),
    "nonzero": (
        "Return the indices of elements that are not zero, a vector for each axis.",
        "[each.numpy().tolist() for each in nonzero([[0, 5], [7, 0]])]",
        "[[0, 1], [1, 0]]",
    ),
    "split": (
        "Return parts of the array along an axis: so many of equal size, or those between indices.",
        "[each.numpy().tolist() for each in split([1, 2, 3, 4], [1, 3])]",
        "[[1], [2, 3], [4]]",
    ),
    "vsplit": (
        "Return parts of the array along the first axis.",
        "[each.numpy().tolist() for each in vsplit([[1, 2], [3, 4]], 2)]",
        "[[[1, 2]], [[3, 4]]]",
    ),
}
"""Functions that return several arrays, or none: a sentence, the example, and its result."""


def describe(name: str, function: Callable[..., Any]) -> None:
    """Give a function its name and docstring; its former docstring says how it converts its arguments."""
    sentence, example, result = ARRAYS.get(name) or OTHERS[name]
    call = f"{name}({example}).numpy().tolist()" if name in ARRAYS else example
    text = f"{sentence} {function.__doc__ or ''}".strip()
    function.__doc__ = f"{text}\n\n>>> {call}\n{result}\n"
    function.__name__ = function.__qualname__ = name
