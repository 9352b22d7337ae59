"""Kernels of string operations: characters, patterns, hashes, parts."""
