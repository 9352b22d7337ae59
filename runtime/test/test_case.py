"""`tf.test.TestCase`: unittest's test case with assertions on tensors.

class SquareTest(tf.test.TestCase):
    def test_square(self):
        self.assertAllClose(tf.square([2.0, 3.0]), [4.0, 9.0])
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import errors, nest
from ..compat import v1
from ..core.devices import parsed
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from ..ir.builder import current
from ..kernels.random.seeds import set_seed
from .array_assertions import ArrayAssertions
from .general_assertions import GeneralAssertions

GRAPH_SEED = 87654321
"""The global seed of each test."""


class TestCase(ArrayAssertions, GeneralAssertions):
    """A test case whose tests begin with the same random seeds.

    >>> TestCase().assertAllClose([1.0, 2.0], [1.0, 2.0 + 1e-7])
    """

    __test__ = True

    def __init__(self, methodName: str = "runTest") -> None:  # noqa: N803
        super().__init__(methodName)
        self._folder: str | None = None
        self._session: Any = None

    def setUp(self) -> None:
        random.seed(GRAPH_SEED)
        np.random.seed(GRAPH_SEED)
        set_seed(GRAPH_SEED)
        super().setUp()

    def tearDown(self) -> None:
        super().tearDown()
        self._session = None

    def get_temp_dir(self) -> str:
        """Return a folder for the files of this test, which is removed after it."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp()
            self.addCleanup(shutil.rmtree, self._folder, ignore_errors=True)
            self.addCleanup(setattr, self, "_folder", None)
        return self._folder

    def create_tempfile(
        self, file_path: str | None = None, content: str | bytes | None = None, mode: str = "w",
        encoding: str = "utf8", errors: str = "strict", cleanup: Any = None,
    ) -> Path:  # fmt: skip
        """Return the path of a new file in a folder of this test, with some content."""
        path = Path(
            self.get_temp_dir(), file_path or f"file_{len(list(Path(self.get_temp_dir()).iterdir()))}"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else (content or "").encode(encoding, errors))
        return path

    def create_tempdir(self, name: str | None = None, cleanup: Any = None) -> Path:
        """Return the path of a new folder of this test."""
        path = Path(
            tempfile.mkdtemp(dir=self.get_temp_dir()) if name is None else f"{self.get_temp_dir()}/{name}"
        )
        path.mkdir(parents=True, exist_ok=True)
        return path

    def evaluate(self, tensors: Any) -> Any:
        """Return the values of a nest of tensors as NumPy arrays: in eager code at once, in a graph in its session."""
        if current() is not None:
            return self._current_session().run(tensors)
        return nest.map_structure(self._value, tensors)

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return the values of two traced tensors; other values as they are."""
        are_traced = all(isinstance(x, Tensor) and not isinstance(x, EagerTensor) for x in (a, b))
        return self.evaluate((a, b)) if are_traced else (a, b)

    def _value(self, value: Any) -> Any:
        if callable(value) and not isinstance(value, (Tensor, Variable)):
            return self.evaluate(value())
        return value.numpy() if isinstance(value, (EagerTensor, Variable)) else value

    def _current_session(self) -> Any:
        session = v1.get_default_session() or self._session
        if session is None:
            raise ValueError(
                "a graph is evaluated in a session: write `with self.session():` around this call"
            )
        return session

    @contextlib.contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Run the block with a session of `graph`, or of the default graph; in eager code there is none."""
        if current() is None and graph is None:
            yield _NoSession()
            return
        with v1.Session(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Run the block with the session of this test, which keeps its variables for the whole test.

        In eager code `run` of the session returns the values of tensors.
        """
        if current() is None and graph is None:
            yield _EagerSession(self)
            return
        if self._session is None:
            self._session = v1.Session(graph=graph, config=config)
        with self._session.as_default() as session:
            yield session

    def test_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Any:
        """Return `session(...)`. Runners that take this method for a test, by its name, skip it."""
        if self._testMethodName == "test_session":
            self.skipTest("Not a test.")
        return self.session(graph, config, use_gpu, force_gpu)

    def checkedThread(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> CheckedThread:
        """Return a thread whose exception is raised by `join`."""
        return CheckedThread(target, args or (), kwargs or {})

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[Any]:
        """Assert that the block raises an exception that a predicate accepts, or whose text a pattern matches."""
        expected = expected_err_re_or_predicate
        holds = expected if callable(expected) else lambda error: re.search(expected, str(error)) is not None
        try:
            yield
        except BaseException as error:
            if not isinstance(error, exception_type) or not holds(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Assert that the block raises an OpError; see `assertRaisesWithPredicateMatch`."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Assert that two names, or specs, stand for one device."""
        one, other = (parsed("" if device is None else str(device)) for device in (device1, device2))
        self.assertEqual(one, other, msg)

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[Any]:
        """Yield an object whose `contents()` is what the block wrote to a standard stream, in this process."""
        capture = _Captured()
        name = "stderr" if stream is sys.stderr else "stdout"
        before = getattr(sys, name)
        setattr(sys, name, capture)
        try:
            yield capture
        finally:
            setattr(sys, name, before)


class _NoSession:
    """The session of eager code: there is none."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"Trying to access attribute {name!r} of a session in eager code: call self.evaluate(…)"
        )


class _EagerSession:
    """The session of a whole test in eager code: all tensors have their values."""

    def __init__(self, test: TestCase) -> None:
        self._test = test

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """Return the values of a nest of tensors."""
        if feed_dict:
            raise RuntimeError("eager code has no placeholders: `feed_dict` is for graphs")
        return self._test.evaluate(fetches)


class _Captured:
    def __init__(self) -> None:
        self._parts: list[str] = []

    def write(self, text: str) -> int:
        self._parts.append(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing: the parts are kept in memory."""

    def contents(self) -> str:
        return "".join(self._parts)


class CheckedThread:
    """A thread whose exception is raised by `join`, and that has ended when the test ends."""

    def __init__(self, target: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._error: BaseException | None = None
        self._call = target, args, kwargs
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def join(self) -> None:
        """Wait for the thread. Raises AssertionError if it raised an exception."""
        self._thread.join()
        if self._error is not None:
            raise AssertionError(f"Error in checkedThread: {self._error}") from self._error
