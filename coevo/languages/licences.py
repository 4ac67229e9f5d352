"""The licences that a build file says its project has, as it says them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredLicence:
    """By a name, an address, or both; '' for what it does not say."""

    name: str
    address: str = ''


def list_no_licences(build_file: bytes) -> tuple[DeclaredLicence, ...]:
    """Of a language whose build files are not asked."""
    return ()
