"""Random numbers: bits, seeds, samples, generators, initial values."""
