"""Introspection of frames, source lines and code objects, with the frames that conversion adds left out."""
