"""The functions of `agc.torch`: convert a function for PyTorch's tracers, and trace it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from agc.arrays import converted, raise_of, staged

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from . import backend as _registered  # noqa: F401  (registers tensors)
from .gradients import loops_with_wrong_gradient, refuse_gradient
from .library import LIBRARY
from .programs import graph_of

F = TypeVar("F", bound=Callable[..., Any])


def autograph(function: F) -> F:
    """Return the function with its control flow on traced tensors staged, for PyTorch's tracers.

    `torch.export.export(…, strict=False)` and `make_fx` take modules whose `forward` is the result. With tensors that
    hold numbers it does what `function` does. Functions that it calls are converted, too.

    A failed `assert` or a staged `raise` becomes an assertion in the graph, with the text of the exception.

    Raises:
        agc.autograph.errors.StagingError: control flow that PyTorch cannot stage with these values, with its line.

    >>> import torch
    >>> import agc.torch
    >>> class Halving(torch.nn.Module):
    ...     @agc.torch.autograph
    ...     def forward(self, x):
    ...         while x.sum() > 1:
    ...             x = x / 2
    ...         return x
    >>> program = torch.export.export(Halving(), (torch.ones(4),), strict=False)
    >>> program.module()(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([0.0625, 0.1250, 0.1875, 0.2500])
    """
    return staged(function, LIBRARY)


def compile(function: F | None = None, /, *, backend: str | Callable[..., Any] | None = None) -> Any:
    """Convert a function, and trace it once for each structure, shape, dtype and device of its tensors.

    A call runs the traced graph, a `torch.fx.GraphModule`. Autograd differentiates it as far as PyTorch
    differentiates its operators: a `while` whose body has a branch or a loop is refused. `backend` names a compiler for
    `torch.compile` that gets the graph, such as "inductor". Without a function, return a decorator. Arguments without
    tensors must be hashable; another value means another trace.

    Raises:
        The exceptions of the function's own `raise` and `assert`, after the program has run.
        agc.autograph.errors.StagingError: control flow that PyTorch cannot stage with these values, with its line.

    >>> import torch
    >>> import agc.torch
    >>> @agc.torch.compile
    ... def root(x):
    ...     assert x >= 0, "a negative number has no real root"
    ...     guess = x
    ...     while abs(guess * guess - x) > 1e-6 * x:
    ...         guess = 0.5 * (guess + x / guess)
    ...     return guess
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = root(x)
    >>> y.backward()
    >>> print(f"{float(y):.4f} {float(x.grad):.4f}")
    1.4142 0.3536
    >>> root(torch.tensor(-1.0))
    Traceback (most recent call last):
    AssertionError: a negative number has no real root
    """
    if function is None:
        return functools.partial(compile, backend=backend)
    programs: dict[Any, _Traced] = {}
    run = converted(function, LIBRARY)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = pytree.tree_flatten((args, kwargs))
        key = (tree, tuple(map(_key, leaves)))
        if key not in programs:
            programs[key] = _Traced(run, leaves, tree, backend)
        return programs[key](leaves)

    return call


def _key(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return torch.Tensor, tuple(leaf.shape), leaf.dtype, leaf.device
    return type(leaf), leaf, repr(leaf) if isinstance(leaf, (float, complex)) else None  # 0.0 == -0.0


class _Traced:
    """The traced program of one signature."""

    def __init__(self, run: Any, leaves: Sequence[Any], tree: Any, backend: Any) -> None:
        self._errors: tuple[BaseException, ...] = ()
        self._has_code = False
        self._results: Any = None

        def flat(*tensors: Any) -> list[Any]:
            given = iter(tensors)
            filled = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            result, checks = run(*pytree.tree_unflatten(filled, tree))
            found, self._results = pytree.tree_flatten(result)
            self._errors, self._has_code = tuple(checks.errors), checks.code is not None
            self._places = [isinstance(leaf, torch.Tensor) for leaf in found]
            self._constants = [leaf for leaf in found if not isinstance(leaf, torch.Tensor)]
            code = [checks.code] if self._has_code else []
            return [*(leaf for leaf in found if isinstance(leaf, torch.Tensor)), *code]

        with (
            loops_with_wrong_gradient() as self._loops,
            FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv()) as mode,
        ):
            fakes = [mode.from_tensor(leaf.detach()) for leaf in leaves if isinstance(leaf, torch.Tensor)]
            self.graph: Any = graph_of(flat, fakes)
        self._held = [
            tensor for tensor in vars(self.graph).values() if isinstance(tensor, torch.Tensor)
        ] + list(self.graph.parameters())
        self._program = self.graph if backend is None else torch.compile(self.graph, backend=backend)

    def __call__(self, leaves: Sequence[Any]) -> Any:
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        refuse_gradient(self._loops, [*tensors, *self._held])
        found = list(self._program(*tensors))
        if self._has_code:
            raise_of(self._errors, int(found.pop()))
        results, constants = iter(found), iter(self._constants)
        return pytree.tree_unflatten(
            [next(results) if is_tensor else next(constants) for is_tensor in self._places], self._results
        )
