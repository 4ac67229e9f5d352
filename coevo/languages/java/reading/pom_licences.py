"""Read the licences that a POM lists."""

from __future__ import annotations

from xml.etree import ElementTree

from coevo.languages.licences import DeclaredLicence


def parse_licences(build_file: bytes) -> tuple[DeclaredLicence, ...]:
    """Return the licences that a POM lists; none if the POM cannot be parsed."""
    try:
        root = ElementTree.fromstring(build_file)
    # ValueError and LookupError: unusual encodings
    except (ElementTree.ParseError, ValueError, LookupError):
        return ()
    return tuple(
        DeclaredLicence(
            name=element.findtext('{*}name') or '', address=element.findtext('{*}url') or ''
        )
        for element in root.findall('{*}licenses/{*}license')
    )
