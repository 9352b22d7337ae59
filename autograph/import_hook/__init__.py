"""Modules that are converted when they are imported, and kept on disk."""
