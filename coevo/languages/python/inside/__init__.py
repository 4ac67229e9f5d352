"""coevo's programs inside the sandbox.

They run on the interpreter of the code, 3.6 or newer, and cannot import coevo. They are copied into
the folder of a run and started by path.
"""
