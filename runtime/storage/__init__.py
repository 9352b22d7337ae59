"""Files that outlive the program: written whole or not at all, and checked when they are read.

There is no pickle here: tensors are safetensors, everything else is JSON.
"""
