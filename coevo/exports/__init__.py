"""Exports of a snapshot's tasks into formats that other tools read."""
