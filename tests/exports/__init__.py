"""Tests of `coevo export`."""
