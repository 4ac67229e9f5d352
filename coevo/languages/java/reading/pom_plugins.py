"""Read the plugin settings of a POM."""

from __future__ import annotations

from xml.etree import ElementTree


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
