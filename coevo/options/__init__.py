"""The command-line parser, and options that several verbs share."""
