"""Revisions, each built once for a run by whoever builds them, and with which JDK."""
