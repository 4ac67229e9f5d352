"""Which repositories there are, and what is known of them."""
