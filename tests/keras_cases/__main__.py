"""Record TensorFlow's answers: `python -m keras_cases [module …]`."""

from __future__ import annotations

import sys

import tensorflow

import keras_cases

for module in sys.argv[1:] or keras_cases.MODULES:
    keras_cases.record(module, tensorflow)
