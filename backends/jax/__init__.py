"""AutoGraph for JAX: Python's control flow on traced arrays becomes `lax.cond`, `lax.while_loop` and `lax.scan`.

>>> import agc.jax
>>> @agc.jax.jit
... def collatz(n):
...     steps = 0
...     while n != 1:
...         n = n // 2 if n % 2 == 0 else 3 * n + 1
...         steps += 1
...     return steps
>>> int(collatz(27))
111
"""

try:
    from .functions import autograph, jit
except ModuleNotFoundError as error:
    if error.name != "jax":
        raise
    raise ImportError("agc.jax needs JAX. Install it: pip install 'agc-autograph[jax]'") from None

__all__ = ["autograph", "jit"]
