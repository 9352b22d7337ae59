"""Signatures: functions with named input and output tensors, for serving a model."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from .. import nest
from ..core.conversion import is_tensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..tracing.cache_key import Identity
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import function as tf_function
from ..tracing.trace_type import TraceType
from .function_serialization import graphs_of

DEFAULT = "serving_default"


def chosen(signatures: Any, saved: Any, functions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the functions to export by name.

    Args:
        signatures: the user's argument: nothing, a function, or functions by name.
        saved: the saved object. A model of Keras has a default signature.
        functions: its functions. If exactly one has an input_signature and exportable results, it is the default.
    """
    default = _signature_of_model(saved)
    if signatures is None and default is not None and graphs_of(default):
        signatures = default
    if signatures is None:
        fixed = [value for value in functions.values() if getattr(value, "input_signature", None) is not None]
        graphs = [
            graph for graph in (value.get_concrete_function() for value in fixed) if _is_exportable(graph)
        ]
        return {DEFAULT: graphs[0]} if len(graphs) == 1 else {}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT: signatures}
    return {name: _only_graph(name, value) for name, value in signatures.items()}


def _signature_of_model(saved: Any) -> Any:
    """Return the default signature of a model of Keras; None if its inputs have not the form of one argument."""
    try:
        return getattr(saved, "_default_save_signature", None)
    except TypeError:
        return None


def _is_exportable(concrete: ConcreteFunction) -> bool:
    """Return whether the graph can be a signature; one without results cannot."""
    try:
        exported(DEFAULT, concrete)
    except ValueError:
        return False
    return True


def _only_graph(name: str, value: Any) -> ConcreteFunction:
    if isinstance(value, ConcreteFunction):
        return value
    if not hasattr(value, "get_concrete_function"):
        raise ValueError(
            f"Expected the signature {name!r} to be a `tf.function` or a concrete function, but got {value!r}"
        )
    graphs = graphs_of(value)
    if len(graphs) != 1:
        raise ValueError(
            f"the signature {name!r} has {len(graphs)} graphs: choose one with get_concrete_function(), or give the "
            "function an input_signature"
        )
    return graphs[0]


def _named_specs(name: str, concrete: ConcreteFunction) -> dict[str, TensorSpec]:
    """Return the tensor arguments by name; Python values are constants of the traced graph.

    Tensors without a name of their own have that of their argument: `x`, `x_1` for an argument `x` with two.
    """
    specs: dict[str, TensorSpec] = {}
    for argument, value in concrete.arguments.items():
        for path, leaf in nest.flatten_with_path(value, argument):
            if isinstance(leaf, TensorSpec):
                wanted = "".join(c if c.isalnum() or c == "_" else "_" for c in leaf.name or argument)
                candidates = (f"{wanted}_{number}" for number in itertools.count(1))
                specs[next(filter(lambda each: each not in specs, itertools.chain([wanted], candidates)))] = (
                    leaf
                )
            elif isinstance(leaf, (TypeSpec, TraceType)) or _is_variable(leaf):
                raise ValueError(
                    f"the signature {name!r} cannot take `{path}`, since only tensors can be given by name: "
                    f"{concrete.call_text()}"
                )
    return specs


def _is_variable(leaf: Any) -> bool:
    return isinstance(leaf, Identity) and isinstance(leaf.target, Variable)


def exported(name: str, concrete: ConcreteFunction) -> ConcreteFunction:
    """Return the graph as a signature: keyword inputs, a dict of output tensors.

    Raises ValueError for arguments without names, such as variables, and for unnamed results.
    """
    specs = _named_specs(name, concrete)

    def signature(**inputs: Any) -> dict[str, Any]:
        return named_outputs(name, concrete.call_flat([inputs[key] for key in specs]))

    signature.__name__ = f"signature_{concrete.name}"
    named = {key: TensorSpec(spec.shape, spec.dtype, key) for key, spec in specs.items()}
    graph: ConcreteFunction = tf_function(signature, autograph=False).get_concrete_function(**named)
    return graph


def named_outputs(name: str, result: Any) -> dict[str, Any]:
    """Return the results of a signature by name: a dict unchanged, others as `output_0`, `output_1` …"""
    items = result
    if not isinstance(items, Mapping):
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
        items = {f"output_{number}": part for number, part in enumerate(parts)}
    for key, value in items.items():
        if not isinstance(key, str) or not is_tensor(value):
            raise ValueError(
                f"the signature {name!r} gives {key!r}: {value!r}; a signature gives a tensor, a list of tensors, or a "
                "dict of tensors by name"
            )
    return dict(items)


class LoadedSignatures(dict[str, Any]):
    """The signatures of a loaded model by name."""

    def __missing__(self, name: str) -> Any:
        raise KeyError(
            f"there is no signature {name!r} among those of the model: {', '.join(map(repr, self))}"
        )


class LoadedSignature:
    """A loaded signature: a function from named tensors to named tensors.

    Args:
        graph: its graph, or a function that makes it when it is first needed.
    """

    def __init__(self, graph: ConcreteFunction | Callable[[], ConcreteFunction]) -> None:
        self._given = graph

    @functools.cached_property
    def _concrete(self) -> ConcreteFunction:
        return self._given if isinstance(self._given, ConcreteFunction) else self._given()

    def __call__(self, /, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Run the graph. Raises TypeError for positional arguments, and for names that are missing or unknown."""
        known = self.structured_input_signature[1]
        if len(args) == len(known) == 1 and not kwargs:
            kwargs = {next(iter(known)): args[0]}
        elif args:
            raise TypeError(f"a signature takes its tensors by name: {', '.join(known)}")
        wrong = sorted(known.keys() ^ kwargs.keys())
        if wrong:
            texts = [f"`{name}` is {'missing' if name in known else 'unknown'}" for name in wrong]
            raise TypeError(f"a signature takes exactly {', '.join(known)}: {', '.join(texts)}")
        result: dict[str, Any] = self._concrete(**kwargs)
        return result

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, TensorSpec]]:
        args, kwargs = self._concrete.structured_input_signature
        return args, kwargs

    @property
    def structured_outputs(self) -> dict[str, TensorSpec]:
        outputs = self._concrete.result_specs
        return {name: TensorSpec(spec.shape, spec.dtype, name) for name, spec in outputs.items()}

    @property
    def name(self) -> str:
        return self._concrete.name

    @property
    def graph(self) -> Any:
        return self._concrete.graph

    @property
    def inputs(self) -> list[Any]:
        """The graph's inputs, as tensors of that graph."""
        return self._concrete.inputs

    @property
    def outputs(self) -> list[Any]:
        """The graph's outputs, as tensors of that graph."""
        return self._concrete.outputs

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self._concrete.variables

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return self._concrete.trainable_variables

    def __repr__(self) -> str:
        return f"<Signature {self._concrete.call_text()}>"
