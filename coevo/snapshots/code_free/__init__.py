"""Code-free editions of snapshots: which texts they omit, and how public clones restore them."""
