"""Search for repositories on GitHub: the parts of `flows.discovery`."""
