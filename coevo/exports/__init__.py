"""Tasks and graded attempts in the formats of programs that train or score models."""
