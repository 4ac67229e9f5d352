"""What tests execute of the code."""
