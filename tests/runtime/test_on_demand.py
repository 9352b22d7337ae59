"""What is imported on demand can be imported first: there are no circles."""

import subprocess
import sys


def test_all_operations_can_be_found_before_anything_else_is_used():
    program = "from agc.runtime.ops.declare import find; assert find('no such operation') is None"
    subprocess.run([sys.executable, "-c", program], check=True)
