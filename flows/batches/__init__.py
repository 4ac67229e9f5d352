"""Work on one repository at a time in a separate process, under a claim."""
