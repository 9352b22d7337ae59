"""NumPy code of operations: random numbers, special functions and strings; threads for them."""
