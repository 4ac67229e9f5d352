"""A test process watched from outside, through the JVM debugger protocol."""
