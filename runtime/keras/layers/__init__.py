"""The module `tf.keras.layers`."""

from __future__ import annotations

from ..registry import Room
from .base import Layer
from .cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from .core import Dense, Embedding, Identity, Input, InputLayer, Lambda, Masking
from .merging import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from .pointwise import (
    ELU,
    Activation,
    ActivityRegularization,
    Dropout,
    GaussianDropout,
    GaussianNoise,
    LeakyReLU,
    Normalization,
    PReLU,
    ReLU,
    Rescaling,
    Softmax,
    SpatialDropout1D,
    SpatialDropout2D,
)
from .recurrent import GRU, LSTM, RNN, SimpleRNN
from .shaping import (
    Cropping1D,
    Cropping2D,
    Flatten,
    Permute,
    RepeatVector,
    Reshape,
    UpSampling1D,
    UpSampling2D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from .specs import InputSpec
from .wrappers import Bidirectional, TimeDistributed, Wrapper

_CLASSES = (
    Activation, ActivityRegularization, Add, Average, Bidirectional, Concatenate, Cropping1D, Cropping2D, Dense, Dot,
    Dropout, ELU, Embedding, Flatten, GRU, GRUCell, GaussianDropout, GaussianNoise, Identity, InputLayer, LSTM,
    LSTMCell, Lambda, LeakyReLU, Masking, Maximum, Minimum, Multiply, Normalization, PReLU, Permute, RNN, ReLU,
    RepeatVector, Rescaling, Reshape, SimpleRNN, SimpleRNNCell, Softmax, SpatialDropout1D, SpatialDropout2D,
    StackedRNNCells, Subtract, TimeDistributed, UpSampling1D, UpSampling2D, ZeroPadding1D, ZeroPadding2D,
    ZeroPadding3D,
)  # fmt: skip

_room = Room("layer", "keras.layers", _CLASSES)

serialize, deserialize = _room.serialize, _room.deserialize

__all__ = [
    *(cls.__name__ for cls in _CLASSES), "Input", "InputSpec", "Layer", "Wrapper", "add", "average", "concatenate",
    "deserialize", "dot", "maximum", "minimum", "multiply", "serialize", "subtract",
]  # fmt: skip
