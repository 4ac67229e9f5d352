"""One repository at a time in a process of its own, claimed before and let go after."""
