"""The language Go."""
