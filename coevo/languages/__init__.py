"""Languages that can be mined: one package or module for each build tool.

Each has the members of `base.Language`.
"""
