"""The back ends of `coevo.sandbox`, one module each, and what they share."""
