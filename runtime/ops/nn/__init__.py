"""Neural networks: convolutions, pooling, activations, losses."""
