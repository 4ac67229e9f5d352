"""Find when method bodies were first public, by searching a clone's history for all that a store
wants."""
