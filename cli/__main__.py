"""`python -m agc.cli` is the command `agc`."""

import sys

from .main import main

if __name__ == "__main__":
    sys.exit(main())
