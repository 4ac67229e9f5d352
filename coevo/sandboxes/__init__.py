"""Sandboxes: the back ends of `coevo.sandboxes.sandbox`, one module each, and shared parts."""
