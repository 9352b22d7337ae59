"""Register JAX's arrays with autograph."""

from __future__ import annotations

from agc.arrays import ArrayBackend
from agc.autograph import staging

import jax
import jax.numpy as jnp

from . import printing
from .builtins import BUILTINS
from .library import LIBRARY
from .set_item import with_item


class JaxBackend(ArrayBackend):
    """Stages on traced arrays of JAX."""

    mentions = staticmethod(printing.mentions)


BACKEND = JaxBackend(LIBRARY, BUILTINS, with_item)
staging.register(BACKEND, jax.core.Tracer, type(jnp.zeros(())), always=False)
