"""Libraries that are no more: each kind is a reason of its own, told by Maven's own exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.java.tools.jdks import LIMIT, choose_jdk_for_tools, find_jdks
from coevo.model.reasons import LIBRARY_REASONS
from tests.once import mined_once
from tests.projects import junit, pom, source, write

pytestmark = pytest.mark.jvm

PRICE = '    public static int price() {{ return {}; }}\n'
GONE = """<dependency><groupId>nowhere.to.be.found</groupId><artifactId>gone</artifactId>
    <version>{}</version>{}</dependency>"""
REPOSITORY = '<repository><id>own{}</id><url>{}</url>{}</repository>'
LATEST = """<dependency><groupId>junit</groupId><artifactId>junit-dep</artifactId>
    <version>LATEST</version></dependency>"""


def named(*urls: str, policy: str = '') -> str:
    """Repositories that a POM names."""
    texts = (REPOSITORY.format(number, url, policy) for number, url in enumerate(urls))
    return f'<repositories>{"".join(texts)}</repositories>'


PLAIN, OTHER = 'http://gone.invalid/maven', 'https://gone.invalid/maven'
NO_RELEASES = '<releases><enabled>false</enabled></releases>'
KINDS = {
    'snapshot_dependency': (GONE.format('1-SNAPSHOT', ''), ''),
    'unpinned_dependency': (LATEST, ''),
    'plain_http_repository': (GONE.format('1', ''), named(PLAIN)),
    'other_repository': (GONE.format('1', ''), named(PLAIN, OTHER)),
    'library_missing': (GONE.format('1', ''), named(OTHER, policy=NO_RELEASES)),
    'sibling_not_packaged': (
        (
            '<dependency><groupId>shop</groupId><artifactId>built</artifactId><version>1</version>'
            '<type>zip</type></dependency>'
        ),
        '',
    ),
    'behind': (
        (
            '<dependency><groupId>shop</groupId><artifactId>library_missing</artifactId>'
            '<version>1</version></dependency>'
        ),
        '',
    ),
    'built': ('', ''),
}


def module(name: str) -> str:
    """A module that lacks what its name says."""
    library, repositories = KINDS[name]
    found = pom().replace('<artifactId>shop<', f'<artifactId>{name}<', 1)
    return found.replace('<dependencies>', f'{repositories}<dependencies>{library}')


def tree(number: int) -> dict[str, str | bytes | None]:
    modules = ''.join(f'<module>{name}</module>' for name in KINDS)
    root = pom().replace('</version>', '</version><packaging>pom</packaging>', 1)
    found: dict[str, str | bytes | None] = {
        'pom.xml': root.replace('<licenses>', f'<modules>{modules}</modules><licenses>')
    }
    for name in KINDS:
        tests = junit('TillTest', f'sells: assertEquals({number}, Till.price());')
        files = {'pom.xml': module(name), **source('Till', PRICE.format(number)), **tests}
        found |= {f'{name}/{path}': text for path, text in files.items()}
    return found


@pytest.fixture(autouse=True)
def _one_jdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is absent is absent on all of them."""
    monkeypatch.setenv(LIMIT, str(choose_jdk_for_tools(find_jdks()).feature))


@pytest.mark.slow
def test_each_kind_of_missing_library_has_its_own_drop_reason(tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', [tree(1), tree(2)])
    found = mined_once(repository, tmp_path / 'store')
    (update,) = found.methods
    assert update.module == 'built'
    reasons = sorted(drop.reason for drop in found.drops)
    absent = set(KINDS) & LIBRARY_REASONS
    assert reasons == sorted([*absent, 'library_missing', 't_old_c_old_unbuildable'])
    details = {drop.detail for drop in found.drops}
    assert details == {'t_old_c_old_unbuildable', 'sibling_not_packaged'}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('above', 'reason'),
    [
        (
            (
                '<parent><groupId>nowhere.to.be.found</groupId><artifactId>above</artifactId>'
                '<version>1</version><relativePath/></parent>'
            ),
            'parent_missing',
        ),
        (
            (
                '<dependencyManagement><dependencies>'
                f'{GONE.format("1", "<type>pom</type><scope>import</scope>")}'
                '</dependencies></dependencyManagement>'
            ),
            'parent_missing',
        ),
        (
            (
                '<build><plugins><plugin><groupId>nowhere.to.be.found</groupId>'
                '<artifactId>gone-maven-plugin</artifactId><version>1</version><executions><execution>'
                '<goals><goal>go</goal></goals></execution></executions></plugin></plugins></build>'
            ),
            'library_missing',
        ),
    ],
)
def test_missing_parent_or_plugin_fails_the_whole_project(
    tmp_path: Path, above: str, reason: str
) -> None:
    steps = [
        {
            'pom.xml': pom().replace('<licenses>', f'{above}<licenses>', 1),
            **source('Till', PRICE.format(number)),
            **junit('TillTest', f'sells: assertEquals({number}, Till.price());'),
        }
        for number in (1, 2)
    ]
    found = mined_once(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == (reason, reason)
    assert [(drop.reason, drop.detail) for drop in found.drops] == [
        (reason, 't_old_c_old_unbuildable')
    ]
