"""The check that a snapshot is intact, before anything is done with its tasks."""

from __future__ import annotations

from pathlib import Path

from coevo.model.errors import Fatal
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.manifests import compute_release_sha256
from coevo.snapshots.verification import verify_snapshot


def require_verified(snapshot: Path | str) -> str:
    """Verify a snapshot and return the SHA-256 of its manifest; of an edition, that of its release.

    Raises: Fatal unless the snapshot passes verification.
    """
    findings = verify_snapshot(snapshot)
    if findings:
        raise Fatal(
            f'{snapshot} failed verification ({findings[0].rule} in {findings[0].table}); '
            '`coevo verify` prints all faults; get the snapshot again'
        )
    return compute_release_sha256(resolve_location(snapshot))
