"""The array API's functions of algebra, and Fourier transforms: NumPy's results, in eager code and in graphs."""

from agc.runtime.executors import COMPLETE
from agc.runtime.interop import array_api
from support.array_calls import (
    ANY,
    COMPLEX,
    FLOATING,
    FLOATS,
    NUMERIC,
    SQUARES,
    TRACED,
    assert_as_numpy,
    assert_traced,
    rows,
)
from support.each_case import each_case


def of(xp):
    """NumPy's frequencies are float64; the standard lets one say so."""
    return {"dtype": xp.float64} if xp is array_api else {}


def rebuilt(xp, x):
    left, values, right = xp.linalg.svd(x, full_matrices=False)
    return xp.matmul(left * xp.astype(values, x.dtype), right)


CALLS = [
    (
        "products",
        NUMERIC,
        lambda xp, x: (
            xp.matmul(x, xp.matrix_transpose(x)),
            xp.matmul(x, x[0, :]),
            xp.matmul(x[:, 0], x),
            xp.matmul(x[0, :], x[1, :]),
            xp.tensordot(x, x, axes=2),
            xp.tensordot(x, x, axes=((0,), (0,))),
            xp.vecdot(x, x[0, :]),
            xp.vecdot(x, x, axis=-2),
            xp.linalg.outer(x[0, :], x[1, :]),
        ),
    ),
    ("cross", NUMERIC, lambda xp, x: xp.linalg.cross(x, xp.flip(x))),
    (
        "diagonals",
        ANY,
        lambda xp, x: (
            xp.linalg.diagonal(x),
            xp.linalg.diagonal(x, offset=1),
            xp.linalg.diagonal(x[None], offset=-1),
        ),
    ),
    (
        "trace",
        {name: NUMERIC[name] for name in ("int64", *FLOATING)},
        lambda xp, x: (
            xp.linalg.trace(x),
            xp.linalg.trace(x, offset=1),
            xp.linalg.trace(x, dtype=xp.complex128),
        ),
    ),
    (
        "factors",
        SQUARES,
        lambda xp, x: (
            xp.linalg.cholesky(x),
            xp.linalg.cholesky(x, upper=True),
            xp.linalg.det(x),
            xp.linalg.inv(x),
            *xp.linalg.slogdet(x),
        ),
    ),
    (
        "values",
        SQUARES,
        lambda xp, x: (
            xp.linalg.eigvalsh(x),
            xp.linalg.eigh(x)[0],
            xp.linalg.svdvals(x),
            xp.linalg.matrix_rank(x),
            xp.linalg.pinv(x),
        ),
    ),
    (
        "solve",
        SQUARES,
        lambda xp, x: (
            xp.linalg.solve(x, x + 1),
            xp.linalg.solve(x, x[0, :, 0]),
            xp.linalg.solve(x[0, :, :], x),
        ),
    ),
    ("powers of matrices", SQUARES, lambda xp, x: [xp.linalg.matrix_power(x, n) for n in (0, 1, 2, 5, -2)]),
    (
        "norms of vectors",
        FLOATING,
        lambda xp, x: (
            *(xp.linalg.vector_norm(x, axis=1, ord=n) for n in (0, 1, 2, 3, -1, float("inf"), -float("inf"))),
            xp.linalg.vector_norm(x),
            xp.linalg.vector_norm(x, axis=(0, 1), keepdims=True),
        ),
    ),
    (
        "norms of matrices",
        SQUARES,
        lambda xp, x: (
            *(
                xp.linalg.matrix_norm(x, ord=n)
                for n in ("fro", "nuc", 1, 2, -1, -2, float("inf"), -float("inf"))
            ),
            xp.linalg.matrix_norm(x, keepdims=True),
            xp.linalg.matrix_norm(x, ord=1, keepdims=True),
        ),
    ),
    (
        "rebuilt",
        FLOATING,
        lambda xp, x: (
            xp.matmul(*xp.linalg.qr(x)),
            xp.matmul(*xp.linalg.qr(x, mode="complete")),
            xp.linalg.qr(x, mode="complete")[0]
            @ xp.conj(xp.matrix_transpose(xp.linalg.qr(x, mode="complete")[0])),
            rebuilt(xp, x),
        ),
    ),
    (
        "transforms",
        COMPLEX,
        lambda xp, x: (
            xp.fft.fft(x),
            xp.fft.fft(x, n=5, axis=0),
            xp.fft.fft(x, n=2, norm="ortho"),
            xp.fft.ifft(x, norm="forward"),
            xp.fft.fftn(x),
            xp.fft.fftn(x, axes=(0,), norm="forward"),
            xp.fft.ifftn(x, norm="ortho"),
            xp.fft.fftn(x, s=(3, 2), axes=(0, 1)),
            xp.fft.irfft(x),
            xp.fft.irfft(x, n=5, axis=0, norm="ortho"),
            xp.fft.irfftn(x),
            xp.fft.irfftn(x, norm="forward"),
            xp.fft.hfft(x),
            xp.fft.hfft(x, n=7, norm="ortho"),
            xp.fft.hfft(x, norm="forward"),
        ),
    ),
    (
        "transforms of reals",
        FLOATS,
        lambda xp, x: (
            xp.fft.fft(x),
            xp.fft.rfft(x),
            xp.fft.rfft(x, n=4, axis=0, norm="forward"),
            xp.fft.rfftn(x),
            xp.fft.rfftn(x, norm="ortho"),
            xp.fft.ihfft(x),
            xp.fft.ihfft(x, n=4, norm="ortho"),
            xp.fft.ihfft(x, norm="forward"),
        ),
    ),
    (
        "shifts",
        FLOATING,
        lambda xp, x: (
            xp.fft.fftshift(x),
            xp.fft.ifftshift(x),
            xp.fft.fftshift(x, axes=1),
            xp.fft.ifftshift(x, axes=(0,)),
        ),
    ),
    (
        "frequencies",
        {"": None},
        lambda xp: (xp.fft.fftfreq(5, d=0.5, **of(xp)), xp.fft.rfftfreq(6, **of(xp))),
    ),
]


@each_case(("call", "x"), rows(CALLS))
def test_results_are_numpys(call, x):
    assert_as_numpy(call, x)


@each_case("executor", COMPLETE)
@each_case(("call", "x"), rows(CALLS, TRACED))
def test_traced_results_are_eager_results(call, x, executor):
    assert_traced(call, x, executor)
