"""Records, labels, reasons, tables and errors of coevo. This package imports no other one."""
