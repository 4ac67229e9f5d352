"""Observe a test process from outside, through the JVM's debugger protocol."""
