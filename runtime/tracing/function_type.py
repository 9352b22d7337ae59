"""`FunctionType`: the signature of a function or graph, with the types of its arguments and results.

>>> import agc.runtime as tf
>>> concrete = tf.function(lambda x, y=2: x).get_concrete_function(tf.TensorSpec([], tf.int32))
>>> str(concrete.function_type).partition(" ->")[0]
'(x: TensorSpec(shape=(), dtype=tf.int32, name=None), y: Literal[2])'
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, Self

from .. import nest
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec


class FunctionType(inspect.Signature):
    """A signature whose annotations are types: TensorSpecs, other TypeSpecs, `Literal[…]`, and nests of them."""

    @classmethod
    def of(cls, signature: inspect.Signature, arguments: Mapping[str, Any], output: Any) -> Self:
        """Return the type of a graph that was traced for `arguments`."""
        parameters = [
            parameter.replace(
                default=parameter.empty, annotation=nest.map_structure(_type_of, arguments[name])
            )
            for name, parameter in signature.parameters.items()
            if name in arguments
        ]
        return cls(parameters, return_annotation=nest.map_structure(_type_of, output))

    @property
    def output(self) -> Any:
        """The type of the result; None for a function without a graph."""
        return None if self.return_annotation is self.empty else self.return_annotation

    @property
    def flat_inputs(self) -> list[Any]:
        """The types of the tensors in the arguments, in order."""
        types = [parameter.annotation for parameter in self.parameters.values()]
        return [leaf for leaf in nest.flatten(types) if isinstance(leaf, TypeSpec)]

    @property
    def flat_outputs(self) -> list[Any]:
        """The types of the tensors in the result, in order."""
        return [leaf for leaf in nest.flatten(self.output) if isinstance(leaf, TypeSpec)]

    def __repr__(self) -> str:
        lines = [
            f"  {name} ({parameter.kind.name}): {_text(parameter.annotation)}"
            for name, parameter in self.parameters.items()
        ]
        output = ["Output Type:", f"  {_text(self.output)}", "Captures:", "  None"]
        return "\n".join(["Input Parameters:", *lines, *output])


def _type_of(leaf: Any) -> Any:
    """Return a TensorSpec without its name, another TypeSpec as it is, and a Python value as a `Literal`."""
    if type(leaf) is TensorSpec:
        return TensorSpec(leaf.shape, leaf.dtype)
    return leaf if isinstance(leaf, TypeSpec) or leaf is None else Literal[leaf]


def _text(annotation: Any) -> str:
    return "None" if annotation is inspect.Parameter.empty else inspect.formatannotation(annotation)
