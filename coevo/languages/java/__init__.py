"""Java: everything that depends on its syntax, its test frameworks, its JDKs and its build tools."""
