"""Java: everything that depends on its syntax, test frameworks, JDKs and build tools."""
