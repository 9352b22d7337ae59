"""Interoperation with NumPy, the array API standard and Python functions."""
