"""`FunctionType`: the signature of a function or graph, with the types of its arguments and results.

>>> import agc.runtime as tf
>>> concrete = tf.function(lambda x, y=2: [x]).get_concrete_function(tf.TensorSpec([], tf.int32))
>>> concrete.function_type
Input Parameters:
  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.int32, name=None)
  y (POSITIONAL_OR_KEYWORD): Literal[2]
Output Type:
  List[TensorSpec(shape=(), dtype=tf.int32, name=None)]
Captures:
  None
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter
from typing import Any, Literal, Self

from .. import dtypes, nest
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable


class FunctionType(inspect.Signature):
    """A signature whose annotations are types: TensorSpecs, other TypeSpecs, `Literal[…]`, and nests of them.

    Attributes: `output`, `flat_inputs`, `flat_outputs`, and `captures`: the types of the captured variables by their
    `id`. Captured tensors are constants of the graph.
    """

    captures: Mapping[int, TensorSpec] = {}

    @classmethod
    def of(
        cls,
        signature: inspect.Signature,
        arguments: Mapping[str, Any],
        output: Any,
        captured: Iterable[Variable],
    ) -> Self:
        """Return the type of a graph that was traced for `arguments` and reads or assigns `captured`."""
        types = {name: nest.map_structure(_type_of, value) for name, value in arguments.items()}
        result = nest.map_structure(_unnamed, nest.map_structure(_type_of, output))
        found = cls(list(_expanded(signature, types)), return_annotation=result)
        found.captures = {id(each): TensorSpec([], dtypes.resource) for each in captured}
        return found

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

    def __str__(self) -> str:
        shown = [each.replace(annotation=_shown(each.annotation)) for each in self.parameters.values()]
        return str(inspect.Signature(shown, return_annotation=_shown(self.return_annotation)))

    def __repr__(self) -> str:
        lines = ["Input Parameters:"]
        lines += [
            f"  {each.name} ({each.kind.name}): {_text(each.annotation)}" for each in self.parameters.values()
        ]
        lines += ["Output Type:", f"  {_text(self.return_annotation)}", "Captures:"]
        lines += [f"  {key}: {spec}" for key, spec in self.captures.items()] or ["  None"]
        return "\n".join(lines)


def _expanded(signature: inspect.Signature, types: Mapping[str, Any]) -> Iterator[Parameter]:
    """Yield the parameters without defaults, with one for each item of `*args` and `**kwargs`, as TensorFlow does.

    With `*args` in the signature, parameters before it are positional only.
    """
    has_varargs = any(each.kind is Parameter.VAR_POSITIONAL for each in signature.parameters.values())
    for name, value in types.items():
        kind = signature.parameters[name].kind
        if kind is Parameter.VAR_POSITIONAL:
            for number, item in enumerate(value):
                yield Parameter(f"{name}_{number}", Parameter.POSITIONAL_ONLY, annotation=item)
        elif kind is Parameter.VAR_KEYWORD:
            for key, item in value.items():
                yield Parameter(key, Parameter.KEYWORD_ONLY, annotation=item)
        else:
            is_positional = has_varargs and kind is Parameter.POSITIONAL_OR_KEYWORD
            yield Parameter(name, Parameter.POSITIONAL_ONLY if is_positional else kind, annotation=value)


def _type_of(leaf: Any) -> Any:
    """Return a spec as it is, and a Python value as a `Literal`."""
    return leaf if isinstance(leaf, TypeSpec) else Literal[leaf]


def _unnamed(leaf: Any) -> Any:
    """Return a TensorSpec of a result without its name."""
    return TensorSpec(leaf.shape, leaf.dtype) if type(leaf) is TensorSpec else leaf


class _Shown:
    """An annotation that prints as `text`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _shown(annotation: Any) -> Any:
    return annotation if annotation is Parameter.empty else _Shown(_text(annotation))


def _text(annotation: Any) -> str:
    """Return a type as text, with nests as in TensorFlow.

    >>> _text({"a": (Literal[2], [Literal[None]])})
    "Dict[['a', Tuple[Literal[2], List[Literal[None]]]]]"
    """
    if annotation is Parameter.empty:
        return "None"
    if not nest.is_nested(annotation):
        return inspect.formatannotation(annotation)
    name = type(annotation).__name__
    items = annotation._asdict().items() if hasattr(annotation, "_asdict") else nest.children(annotation)
    if type(annotation) in (list, tuple):
        return f"{name.capitalize()}[{', '.join(_text(item) for _, item in items)}]"
    name = "Dict" if type(annotation) is dict else name
    return f"{name}[{', '.join(f'[{key!r}, {_text(item)}]' for key, item in items)}]"
