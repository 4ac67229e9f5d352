"""The JVM that builds revisions and compiles test trees: its requests and its reports."""
