"""What a pair changed, and which tests it concerns."""
