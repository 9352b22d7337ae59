"""Alias analysis of the objects that a staged block mutates."""
