"""Looking for repositories on GitHub: what `flows.discovery` is made of."""
