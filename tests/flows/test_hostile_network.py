"""A network that fails says nothing about a revision: its pair waits for the next run."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from coevo.languages.java.tools.upstreams import ArtifactDownloads
from flows.pipeline import mine
from tests.projects import junit, mined, options, pom, source, write

pytestmark = pytest.mark.jvm

NOWHERE = """<dependencies><dependency><groupId>org.example.coevo</groupId>
    <artifactId>nowhere</artifactId><version>1</version></dependency>"""


def test_a_pair_stays_undecided_while_its_libraries_cannot_be_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '    public static int last() {{ return {}; }}\n'
    steps = [
        {'pom.xml': pom(), **source('Till', text.format(1))},
        {
            'pom.xml': pom().replace('<dependencies>', NOWHERE),
            **source('Till', text.format(2)),
            **junit('TillTest', 'rings: assertEquals(2, Till.last());'),
        },
    ]
    assert ArtifactDownloads.__init__.__kwdefaults__ is not None
    monkeypatch.setitem(ArtifactDownloads.__init__.__kwdefaults__, 'pause', 0.01)
    repository = write(tmp_path / 'repository', steps)
    with socket.socket() as refusing:
        refusing.bind(('127.0.0.1', 0))  # nobody listens there
        url = f'http://127.0.0.1:{refusing.getsockname()[1]}'
        monkeypatch.setenv('COEVO_MAVEN_REPOSITORIES', url)
        report = mine(options(repository, tmp_path / 'store'))
    assert (report.pairs, report.executed) == (1, 0)
    assert list(report.failures.values()) == ['libraries could not be fetched; check the network']
    monkeypatch.delenv('COEVO_MAVEN_REPOSITORIES')
    found = mined(repository, tmp_path / 'store')
    assert (found.report.executed, found.report.failures) == (1, {})
    assert [drop.reason for drop in found.drops] == ['library_missing']
