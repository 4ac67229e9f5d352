"""What runs in the sandbox, by the system's own Python."""
