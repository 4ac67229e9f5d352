"""What a POM says of the plugins of its build."""

from __future__ import annotations

from xml.etree import ElementTree


def has_plugin_dependencies(pom: bytes, artifact: str) -> bool:
    """Whether a POM adds libraries to a plugin, of which Maven then has them in each release of the plugin."""
    try:
        root = ElementTree.fromstring(pom)
    except (ElementTree.ParseError, ValueError, LookupError):  # the others of odd encodings
        return False
    return any(
        (plugin.findtext('{*}artifactId') or '').strip() == artifact
        and plugin.find('{*}dependencies/{*}dependency') is not None
        for plugin in root.iterfind('.//{*}plugin')
    )
