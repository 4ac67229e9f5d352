"""What people see: terminals, tables and progress, and what of a text nobody may see."""
