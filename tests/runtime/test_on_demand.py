"""What is imported on demand can be imported first: there are no circles."""

import subprocess
import sys


def test_all_operations_can_be_found_before_anything_else_is_used():
    program = "from agc.runtime.ops.declare import find; assert find('no such operation') is None"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_numpy_that_is_too_old_is_refused():
    program = "import numpy; numpy.__version__ = '1.26.4'; import agc.runtime"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: agc.runtime needs NumPy 2.0 or newer, but 1.26.4 is installed: pip install --upgrade numpy"
    )
