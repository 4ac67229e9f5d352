"""The back ends of `coevo.sandboxes.sandbox`, one module each, and what they share."""
