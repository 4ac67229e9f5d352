"""The kinds of places that a store can lie in (`coevo.place`)."""
