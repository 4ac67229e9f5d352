"""Atomic file storage, and the store built on it."""
