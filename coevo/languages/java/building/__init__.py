"""The JVM that builds revisions and compiles test trees: how it is asked, and what it says of them."""
