"""The tools that build and run Java: JDKs, Maven, libraries and coevo's own programs."""
