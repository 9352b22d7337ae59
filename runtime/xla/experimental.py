"""The namespace `tf.xla.experimental`: compilation of functions and blocks, here to native code.

>>> from agc.runtime import constant
>>> compile(lambda x: (x + 1, x * 2), [constant(3)])[1].numpy()
np.int32(6)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.missing_names import explain as _explain
from ..ir.builder import current
from ..tracing.function import function


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """Return `computation(*inputs)`, computed by native code; a single result is in a list.

    Args:
        computation: a function of tensors.
        inputs: its arguments; None for a function without.

    Raises CompilationError for an operation that is not compiled.

    >>> compile(lambda x, y: x + y, [1.0, 2.0])[0].numpy()
    np.float32(3.0)
    """
    result = function(computation, jit_compile=True, autograph=False)(*(inputs or ()))
    return result if isinstance(result, (list, tuple)) else [result]


@contextlib.contextmanager
def jit_scope(
    compile_ops: bool | Callable[..., bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """Run a block of a traced function; native code compiles functions as a whole, so the block has no effect.

    Raises RuntimeError in eager code.

    >>> import agc.runtime as tf
    >>> @tf.function
    ... def double(x):
    ...     with jit_scope():
    ...         return 2 * x
    >>> double(tf.constant(3)).numpy()
    np.int32(6)
    """
    if current() is None:
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled: use it in tf.function."
        )
    yield


__all__ = ["compile", "jit_scope"]

_explain(__name__)
