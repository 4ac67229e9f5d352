from __future__ import annotations

import re
from importlib import metadata

from coevo.languages.java.tools.toolchain import list_tool_versions


def test_every_tool_has_a_version() -> None:
    found = dict(tool.split(' ') for tool in list_tool_versions())
    assert found.keys() == {
        *('jacoco', 'junit-platform', 'junit-vintage', 'refactoring-miner', 'testng-engine'),
        'universalmutator',
    }
    assert all(re.match(r'\d+\.\d+', version) for version in found.values())
    assert found['universalmutator'] == metadata.version('universalmutator')
    assert list(list_tool_versions()) == sorted(list_tool_versions())
