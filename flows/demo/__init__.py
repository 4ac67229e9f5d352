"""Small projects with histories, one for each language, and the expected results of mining them."""
