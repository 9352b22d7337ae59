"""Backends for values of tests, which end with them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from agc.autograph import staging
from agc.autograph.staging import registry


@contextlib.contextmanager
def registered_backend(backend: staging.Backend, kind: type) -> Iterator[staging.Backend]:
    """Make a backend the owner of values of a class, and take it out afterwards.

    Otherwise code of later tests would run its converted version for good, as while this backend owns values.
    """
    staging.register(backend, kind)
    try:
        yield backend
    finally:
        del staging.backends.registered[kind]
        staging.backends.clear()
        registry._liveness.change(live=-1, building=-1)
