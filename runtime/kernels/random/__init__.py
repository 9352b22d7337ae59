"""Kernels of random operations: bits, seeds, samples, generators, initial values."""
