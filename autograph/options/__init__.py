"""Options of a conversion: features, loop options, verbosity."""
