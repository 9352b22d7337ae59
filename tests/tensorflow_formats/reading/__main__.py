"""`python -m tensorflow_formats.reading PEER [FOLDER]`: write all files with TensorFlow, read them, and compare.

PEER is the Python of an environment with TensorFlow and Keras. Checkpoints of this runtime are restored by it, too.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import check

QUIET = {"CUDA_VISIBLE_DEVICES": "-1", "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}


def main(peer, folder=None):
    place = Path(folder or tempfile.mkdtemp())
    record = [peer, "-m", "tensorflow_formats.reading.record", str(place)]
    environment = os.environ | QUIET
    subprocess.run(record, check=True, env=environment)
    failed = check.main(place)
    subprocess.run([*record, "--restore"], check=True, env=environment)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
