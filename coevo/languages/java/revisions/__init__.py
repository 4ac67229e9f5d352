"""Revisions, each built once for a run, with the choice of build tool and JDK."""
