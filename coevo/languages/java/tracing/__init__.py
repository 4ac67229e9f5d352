"""Trace which code the tests execute."""
