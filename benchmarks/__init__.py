"""What the figures in the documentation are made with."""
