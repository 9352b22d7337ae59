"""Analyses of one function: scopes, control flow, liveness, definite assignment, binding time."""
