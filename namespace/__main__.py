"""`python -m agc` is the command `agc`."""

import sys

from agc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
