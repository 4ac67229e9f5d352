"""Find what a pair changed, and which tests the change concerns."""
