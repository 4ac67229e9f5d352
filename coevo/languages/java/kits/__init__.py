"""Provide agents with the tools and prompts for Java."""
