"""`python -m agc` is the command `agc`. The package `agc` is a namespace: this folder has no other file."""

import sys

from agc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
