"""Clones: brought, mended, kept within bounds."""
