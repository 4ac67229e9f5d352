"""One package or module for each build tool, each fulfilling the Protocol of `base`."""
