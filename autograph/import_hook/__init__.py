"""The import hook, which converts modules when they are imported and caches them on disk."""
