"""Files that are whole or not there, and the store that is made of them."""
