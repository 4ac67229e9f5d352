"""Running released labels again: what `flows.reverification` is made of."""
