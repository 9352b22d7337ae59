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

from .functions import autograph, jit

__all__ = ["autograph", "jit"]
