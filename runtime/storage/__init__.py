"""Persistent files: written atomically, and verified when they are read.

Pickle is not used: tensors are safetensors, everything else is JSON.
"""
