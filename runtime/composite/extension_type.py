"""`ExtensionType`: user-defined classes of tensors and data, carried by `function`, `cond` and `while_loop`.

class Masked(ExtensionType):
    values: Tensor
    mask: Tensor

Masked([1, 2], [True, False])       its fields are converted, checked, and immutable
Masked.Spec                         the class of its type specs
"""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Mapping
from typing import Any

from ..core.export import export
from ..core.tensor import Tensor
from ..core.type_spec import CompositeTensor, TypeSpec
from ..ops.math.comparison import equal, logical_and
from ..ops.reduce.reductions import reduce_all
from . import components
from .extension_fields import check_annotation, converted, filled, parts_of, spec_of, specs_in

_RESERVED = frozenset({"self", "Spec"})


class _Construction(type):
    """A metaclass that makes values mutable during `__init__`; then their fields are converted and checked."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made: Any = cls.__new__(cls)  # type: ignore[call-overload]
        object.__setattr__(made, "_open", True)
        made.__init__(*args, **kwargs)
        fields = cls._annotations()  # type: ignore[attr-defined]
        for name, annotation in fields.items():
            if name not in made.__dict__:
                raise AttributeError(
                    f"attribute {name!r} was not initialized by the constructor of {cls.__name__}"
                )
            made.__dict__[name] = converted(name, made.__dict__[name], annotation)
        del made.__dict__["_open"]
        made.__validate__()
        return made


@export("experimental.ExtensionType")
class ExtensionType(CompositeTensor, metaclass=_Construction):
    """Base class for values with fields, some of which are tensors; subclasses declare fields by annotations.

    Annotations: `tf.Tensor`, other extension types, `tf.RaggedTensor`, `tf.SparseTensor`, int, float, bool, str, bytes,
    None, `tf.DType`, `tf.TensorShape`, `Tuple[...]`, `Mapping[str, ...]`, `Union[...]` and `Optional[...]` of these.
    A field may have a default value. `__validate__` is called for every new value. The members of a nested class
    `Spec`, such as a constructor that takes a shape, become members of the class of the type's specs.

    Raises TypeError for annotations and values of other types, AttributeError when a field is set later.

    >>> from agc.runtime import Tensor
    >>> class Weighted(ExtensionType):
    ...     values: Tensor
    ...     weight: float = 1.0
    >>> Weighted([1, 2])
    Weighted(values=<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>, weight=1.0)
    """

    Spec: typing.ClassVar[type[ExtensionTypeSpec]]
    _scope: typing.ClassVar[Mapping[str, Any]] = {}
    _fields: typing.ClassVar[Mapping[str, Any] | None] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        bound = self._signature().bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        fields = inspect.get_annotations(cls)
        said = f"The field annotations for {cls.__name__} are invalid. Field"
        for name in fields:
            if name in _RESERVED or (name.startswith("_") and hasattr(ExtensionType, name)):
                raise ValueError(f"{said} {name!r} is reserved.")
        for name, value in vars(cls).items():
            if name not in fields and not (name.startswith("__") or _is_member(value)):
                raise ValueError(f"{said} {name} is missing a type annotation.")
        cls._scope = {**sys._getframe(1).f_locals, cls.__name__: cls}
        cls._fields = None
        try:
            cls._annotations()
        except NameError:
            cls._fields = None  # a forward reference: resolved when the first value is made
        cls.Spec = _spec_class(cls, cls.__dict__.get("Spec"))

    @classmethod
    def _annotations(cls) -> Mapping[str, Any]:
        """Return the fields, those of base classes first, and their annotations."""
        if cls._fields is None:
            found: dict[str, Any] = {}
            for base in reversed(cls.__mro__):
                if base is not ExtensionType and issubclass(base, ExtensionType):
                    module = vars(sys.modules.get(base.__module__, sys))
                    hints = typing.get_type_hints(_Only(base), module, dict(base._scope))
                    found.update({name: hints[name] for name in inspect.get_annotations(base)})
            for name, annotation in found.items():
                check_annotation(name, annotation)
            cls._fields = found
            cls._scope = {}
        return cls._fields

    @classmethod
    def _signature(cls) -> inspect.Signature:
        return inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=getattr(cls, name, inspect.Parameter.empty),
                )
                for name in cls._annotations()
            ]
        )

    @classmethod
    def _made(cls, fields: Mapping[str, Any]) -> Any:
        """Return a value with already converted fields."""
        made = cls.__new__(cls)
        made.__dict__.update(fields)
        return made

    def __validate__(self) -> None:
        """Raise an error for inconsistent fields; for subclasses."""

    def __setattr__(self, name: str, value: Any) -> None:
        if "_open" not in self.__dict__ or name not in self._annotations():
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
            )
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
        )

    def __eq__(self, other: object) -> Any:
        """Return whether all fields are equal: a scalar bool tensor; False if types or Python values differ."""
        if type(other) is not type(self):
            return False
        mine, theirs = self._type_spec, other._type_spec
        if not mine.is_compatible_with(theirs):
            return False
        result: Any = None
        for a, b in zip(components.flatten(self), components.flatten(other), strict=True):
            same = reduce_all(equal(a, b))
            result = same if result is None else logical_and(result, same)
        return True if result is None else result

    def __ne__(self, other: object) -> Any:
        same = self == other
        return ~same if isinstance(same, Tensor) else not same

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: {type(self).__name__!r}")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._annotations())
        return f"{type(self).__name__}({fields})"

    @property
    def _type_spec(self) -> ExtensionTypeSpec:
        return self.Spec._of({name: spec_of(self.__dict__[name]) for name in self._annotations()})


def _is_member(value: Any) -> bool:
    """Return whether an attribute of a class is a method, a property or a class, not the default of a field."""
    return callable(value) or hasattr(type(value), "__get__")


class _Only:
    """The annotations of one class, without those of its bases."""

    def __init__(self, owner: type) -> None:
        self.__annotations__ = inspect.get_annotations(owner)
        self.__module__ = owner.__module__


@export("experimental.ExtensionTypeSpec")
class ExtensionTypeSpec(TypeSpec):
    """The specs of an extension type's tensors, and its other fields; each type has its own class `Spec`.

    >>> import agc.runtime as tf
    >>> class Mask(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    >>> isinstance(tf.type_spec_from_value(Mask([1.0, 2.0])), ExtensionTypeSpec)
    True
    """

    __slots__ = ("__dict__",)
    _type: typing.ClassVar[type[ExtensionType]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        parameters = [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name in self._type._annotations()
        ]
        bound = inspect.Signature(parameters).bind(*args, **kwargs)
        self.__dict__.update({name: spec_of(value) for name, value in bound.arguments.items()})

    @classmethod
    def _of(cls, fields: Mapping[str, Any]) -> ExtensionTypeSpec:
        """Return the spec with these fields, whatever the parameters of its constructor."""
        made = cls.__new__(cls)
        made.__dict__.update(fields)
        return made

    @classmethod
    def from_value(cls, value: Any) -> ExtensionTypeSpec:
        """Return the spec of a value of the type."""
        spec: ExtensionTypeSpec = value._type_spec
        return spec

    @property
    def value_type(self) -> type:
        return self._type

    def _items(self) -> list[tuple[str, Any]]:
        return [(name, self.__dict__[name]) for name in self._type._annotations()]

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(self._items())

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls._of(dict(serialization))

    @property
    def _component_specs(self) -> list[Any]:
        return [spec for name, field in self._items() for _, spec in specs_in(field, name)]

    @property
    def _component_names(self) -> tuple[str, ...]:
        return tuple(path for name, field in self._items() for path, _ in specs_in(field, name))

    def _to_components(self, value: Any) -> list[Any]:
        return [part for name, field in self._items() for part in parts_of(field, value.__dict__[name])]

    def _from_components(self, components: Any) -> Any:
        parts = iter(components)
        return self._type._made({name: filled(field, parts) for name, field in self._items()})

    def _with_components(self, specs: Any) -> Any:
        """Return the spec with other component specs."""
        parts = iter(specs)
        return self._of({name: filled(field, parts) for name, field in self._items()})

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={field!r}" for name, field in self._items())
        return f"{type(self).__name__}({fields})"


@export("experimental.extension_type.as_dict")
def as_dict(value: ExtensionType) -> dict[str, Any]:
    """Return the fields of an extension type by name.

    >>> import agc.runtime as tf
    >>> class Point(ExtensionType):
    ...     x: tf.Tensor
    ...     unit: str = "m"
    >>> as_dict(Point(1))["unit"]
    'm'
    """
    return {name: value.__dict__[name] for name in type(value)._annotations()}


def _spec_class(owner: type[ExtensionType], custom: type | None) -> type[ExtensionTypeSpec]:
    """Return the class of the specs of `owner`, with the members of its nested class `Spec`, if it has one."""
    members = {} if custom is None else dict(vars(custom))
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    for name in members:
        if not name.startswith("__") and hasattr(ExtensionTypeSpec, name):
            raise ValueError(f"TypeSpec {owner.__name__}.Spec uses reserved name {name!r}.")
    if "__init__" in members:
        members["__init__"] = _checked(members["__init__"], owner)
    names = {"__module__": owner.__module__, "__qualname__": f"{owner.__qualname__}.Spec", "_type": owner}
    base = getattr(owner, "_spec_base", ExtensionTypeSpec)
    return type(f"{owner.__name__}.Spec", (base,), {**members, **names})


def _checked(constructor: Any, owner: type[ExtensionType]) -> Any:
    """Return a constructor of specs that checks that `constructor` gave each field a value, and nothing else."""

    @functools.wraps(constructor)
    def initialize(self: ExtensionTypeSpec, *args: Any, **kwargs: Any) -> None:
        constructor(self, *args, **kwargs)
        fields, given = owner._annotations().keys(), self.__dict__.keys()
        if missing := sorted(fields - given):
            raise ValueError(f"{owner.__name__}.Spec: missing required fields: {', '.join(missing)}")
        if extra := sorted(given - fields):
            raise ValueError(f"{owner.__name__}.Spec: attributes that are no fields: {', '.join(extra)}")

    return initialize
