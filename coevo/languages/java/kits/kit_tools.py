"""A JDK and Maven as the sandbox of an agent has them."""

from __future__ import annotations

from coevo.languages.java.tools.toolchain import Toolchain
from coevo.sandboxes.sandbox import Mount

KIT = '/kit'
_MAVEN = f'{KIT}/maven'


def list_tool_mounts(tools: Toolchain) -> tuple[Mount, ...]:
    """Those that lie outside of what every sandbox sees of the machine."""
    maven = Mount(source=tools.maven_home, target=_MAVEN)
    home = tools.java_home
    if home.is_relative_to('/usr') and not home.is_relative_to('/usr/local'):
        return (maven,)
    return (maven, Mount(source=home.resolve(), target=str(home)))


def make_tool_environment(tools: Toolchain) -> dict[str, str]:
    return {
        'JAVA_HOME': str(tools.java_home),
        'PATH': f'{_MAVEN}/bin:{tools.java_home}/bin:/usr/bin:/bin',
    }
