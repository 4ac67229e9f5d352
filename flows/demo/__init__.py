"""Small projects with histories, one for each language, and what mining them has to give."""
