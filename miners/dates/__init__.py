"""Find when method bodies were first public.

A clone's history is searched for all bodies that a store wants.
"""
