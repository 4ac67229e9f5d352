"""When the bodies of methods were first public: a clone's history, searched for all that a store wants."""
