"""Our programs inside the sandbox: they run on the interpreter of the code, 3.6 or newer, and know
nothing of coevo. They are copied into the folder of a run and started by path."""
