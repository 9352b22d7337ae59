"""NumPy code of operations: random numbers, special functions, Fourier transforms, strings; threads for them."""
