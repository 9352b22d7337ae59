"""Mutated files for every loader: `mutations` damages them, `loaders` lists who reads them, `child` runs them."""
