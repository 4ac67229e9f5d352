"""The words of coevo: records, labels, reasons, tables and errors. It imports no other room."""
