"""Formats of other projects: their messages, and the code that writes and reads them."""
