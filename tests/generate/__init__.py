"""Files of the runtime that are generated: `make generate` writes them, and `tests/test_generated.py` compares.

* `runtime/math.py` and the like: the public namespaces (`namespaces.py`).
* `runtime/core/missing_names.txt`: names of TensorFlow that are not there, with the reasons (`names.py`).
* `runtime/**/*.pyi`: the types of modules that offer operations (`stubs.py`).
"""
