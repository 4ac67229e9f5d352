"""Reading of snapshots: locating, opening, checking, querying and showing them."""
