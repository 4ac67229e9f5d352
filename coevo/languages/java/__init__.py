"""Java: everything that knows its syntax, its tests, its JDKs and Maven."""
