"""Code-free editions of snapshots: which texts they leave out, and how public clones give them back."""
