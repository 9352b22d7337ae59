"""What Keras sets for a whole program: the dtype of weights, the fuzz factor, the order of an image's dimensions.

>>> floatx(), epsilon(), image_data_format()
('float32', 1e-07, 'channels_last')
"""

from __future__ import annotations

from typing import Any

_settings: dict[str, Any] = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


def floatx() -> str:
    """The dtype of weights and inputs that say nothing else."""
    return str(_settings["floatx"])


def set_floatx(value: str) -> None:
    """Set the usual dtype: "float16", "float32" or "float64"; ValueError for others."""
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of float16, float32, float64")
    _settings["floatx"] = value


def epsilon() -> float:
    """The small number that keeps divisions and logarithms away from 0."""
    return float(_settings["epsilon"])


def set_epsilon(value: float) -> None:
    """Set the small number."""
    _settings["epsilon"] = float(value)


def image_data_format() -> str:
    """Where images have their channels: "channels_last" or "channels_first"."""
    return str(_settings["image_data_format"])


def set_image_data_format(data_format: str) -> None:
    """Set where images have their channels; ValueError for anything but the two."""
    _settings["image_data_format"] = checked_data_format(data_format)


def checked_data_format(data_format: str | None) -> str:
    """The order of an image's dimensions that an argument asks for, the usual one for None."""
    chosen = image_data_format() if data_format is None else str(data_format).lower()
    if chosen not in ("channels_last", "channels_first"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {data_format}"
        )
    return chosen
