"""The licences that a build file declares, as written there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredLicence:
    """A licence given by a name, an address or both; the one that is not given is ''."""

    name: str
    address: str = ''


def list_no_licences(build_file: bytes) -> tuple[DeclaredLicence, ...]:
    """Return no licences, for a language whose build files are not searched for them."""
    return ()
