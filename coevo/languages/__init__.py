"""Languages that can be mined: one package or module for each build tool, with the members of
`base.Language`.
"""
