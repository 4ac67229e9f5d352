"""Repositories of Git, read as they lie: objects, differences, patches."""
