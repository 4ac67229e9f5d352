"""What agents work on Java with."""
