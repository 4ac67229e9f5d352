"""Debian packages, also of other releases, unpacked into self-contained folders."""
