"""`tf.version`: the TensorFlow version that this runtime is compatible with.

Programs compare it to find supported features. The version of agc is in `GIT_VERSION`.

>>> VERSION.split(".")[0]
'2'
"""

from __future__ import annotations

from .core.missing_names import explain as _explain

VERSION = "2.21.0"
GIT_VERSION = "agc-0.1.0"
COMPILER_VERSION = ""
GRAPH_DEF_VERSION = 1
GRAPH_DEF_VERSION_MIN_CONSUMER = 1
GRAPH_DEF_VERSION_MIN_PRODUCER = 1

_explain(__name__)
