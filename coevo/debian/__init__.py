"""Debian packages, also of another release, unpacked into a folder where they run by themselves."""
