"""What Java is built and run with: JDKs, Maven, libraries, our own programs."""
