"""Functions of rows: `map_fn`, `scan`, `vectorized_map` and what they have in common."""
