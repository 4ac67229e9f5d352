"""Which commits make a pair."""
