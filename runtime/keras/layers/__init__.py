"""The module `tf.keras.layers`."""

from __future__ import annotations

from ...core.missing_names import explain as _explain
from ..registry import Room
from .attention import AdditiveAttention, Attention, MultiHeadAttention
from .base import Layer
from .cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from .convolution import Conv1D, Conv2D, Conv3D
from .core import Dense, Embedding, Identity, Input, InputLayer, Lambda, Masking
from .depthwise_convolution import DepthwiseConv1D, DepthwiseConv2D, SeparableConv1D, SeparableConv2D
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
from .normalization import (
    BatchNormalization,
    GroupNormalization,
    LayerNormalization,
    RMSNormalization,
    UnitNormalization,
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
from .pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
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
from .transposed_convolution import Conv1DTranspose, Conv2DTranspose
from .wrappers import Bidirectional, TimeDistributed, Wrapper

_CLASSES = (
    Activation, ActivityRegularization, Add, Average, Bidirectional, Concatenate, Cropping1D, Cropping2D, Dense, Dot,
    Dropout, ELU, Embedding, Flatten, GRU, GRUCell, GaussianDropout, GaussianNoise, Identity, InputLayer, LSTM,
    LSTMCell, Lambda, LeakyReLU, Masking, Maximum, Minimum, Multiply, Normalization, PReLU, Permute, RNN, ReLU,
    RepeatVector, Rescaling, Reshape, SimpleRNN, SimpleRNNCell, Softmax, SpatialDropout1D, SpatialDropout2D,
    StackedRNNCells, Subtract, TimeDistributed, UpSampling1D, UpSampling2D, ZeroPadding1D, ZeroPadding2D,
    ZeroPadding3D, AdditiveAttention, Attention, MultiHeadAttention, Conv1D, Conv1DTranspose, Conv2D,
    Conv2DTranspose, Conv3D, DepthwiseConv1D, DepthwiseConv2D, SeparableConv1D, SeparableConv2D,
    AveragePooling1D, AveragePooling2D, AveragePooling3D, GlobalAveragePooling1D, GlobalAveragePooling2D,
    GlobalAveragePooling3D, GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D, MaxPooling1D,
    MaxPooling2D, MaxPooling3D, BatchNormalization, GroupNormalization, LayerNormalization, RMSNormalization,
    UnitNormalization,
)  # fmt: skip

_room = Room("layer", "keras.layers", _CLASSES)

Convolution1D = Conv1D
Convolution2D = Conv2D
Convolution3D = Conv3D
Convolution1DTranspose = Conv1DTranspose
Convolution2DTranspose = Conv2DTranspose
SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
MaxPool1D = MaxPooling1D
AvgPool1D = AveragePooling1D
GlobalMaxPool1D = GlobalMaxPooling1D
GlobalAvgPool1D = GlobalAveragePooling1D
MaxPool2D = MaxPooling2D
AvgPool2D = AveragePooling2D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalAvgPool2D = GlobalAveragePooling2D
MaxPool3D = MaxPooling3D
AvgPool3D = AveragePooling3D
GlobalMaxPool3D = GlobalMaxPooling3D
GlobalAvgPool3D = GlobalAveragePooling3D

serialize, deserialize = _room.serialize, _room.deserialize

__all__ = [
    *(cls.__name__ for cls in _CLASSES), "Input", "InputSpec", "Layer", "Wrapper", "Convolution1D",
    "Convolution2D", "Convolution3D", "Convolution1DTranspose", "Convolution2DTranspose",
    "SeparableConvolution1D", "SeparableConvolution2D", "MaxPool1D", "AvgPool1D", "GlobalMaxPool1D",
    "GlobalAvgPool1D", "MaxPool2D", "AvgPool2D", "GlobalMaxPool2D", "GlobalAvgPool2D", "MaxPool3D", "AvgPool3D",
    "GlobalMaxPool3D", "GlobalAvgPool3D", "add", "average", "concatenate",
    "deserialize", "dot", "maximum", "minimum", "multiply", "serialize", "subtract",
]  # fmt: skip

_explain(__name__)
