"""Read licences and settings of plugins from a POM."""

from __future__ import annotations

from xml.etree import ElementTree

from coevo.languages.reading import DeclaredLicence


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


def has_plugin_dependencies(pom: bytes, artifact: str) -> bool:
    """Return whether a POM adds dependencies to the plugin with this artifactId.

    Maven then uses these dependencies with every version of the plugin. Returns False if the POM
    cannot be parsed.
    """
    try:
        root = ElementTree.fromstring(pom)
    # ValueError and LookupError: unusual encodings
    except (ElementTree.ParseError, ValueError, LookupError):
        return False
    return any(
        (plugin.findtext('{*}artifactId') or '').strip() == artifact
        and plugin.find('{*}dependencies/{*}dependency') is not None
        for plugin in root.iterfind('.//{*}plugin')
    )
