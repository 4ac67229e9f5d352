"""Images of tasks, written as OCI image layouts by coevo itself, without a daemon."""
