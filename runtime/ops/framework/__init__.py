"""Declare operations: signatures, attributes, families and traits."""
