"""Tasks as folders that Harbor runs."""
