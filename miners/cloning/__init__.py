"""Make, update, repair and evict the bare clones of a store."""
