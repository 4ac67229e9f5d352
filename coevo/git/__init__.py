"""Git repositories, read without a checkout: objects, differences and patches."""
