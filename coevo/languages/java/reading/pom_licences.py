"""The licences that a POM lists."""

from __future__ import annotations

from xml.etree import ElementTree

from coevo.languages.licences import DeclaredLicence


def parse_licences(build_file: bytes) -> tuple[DeclaredLicence, ...]:
    """None of a POM that cannot be read."""
    try:
        root = ElementTree.fromstring(build_file)
    except (ElementTree.ParseError, ValueError, LookupError):  # the others of odd encodings
        return ()
    return tuple(
        DeclaredLicence(
            name=element.findtext('{*}name') or '', address=element.findtext('{*}url') or ''
        )
        for element in root.findall('{*}licenses/{*}license')
    )
