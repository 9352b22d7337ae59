"""Random numbers, stateful and stateless."""
