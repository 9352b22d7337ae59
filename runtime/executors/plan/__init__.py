"""The plan: a graph as generated Python source over NumPy kernels."""
