"""Which main sources a test process finds in its tree: its code's, none, or those of a revision."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.verdicts import MainSources, RunConditions
from coevo.model.records import TestMethod
from tests.coevo.languages.place import Place, opened
from tests.projects import junit, pom, source

pytestmark = pytest.mark.jvm

PATH = 'src/main/java/shop/Till.java'
TILL = '    public static int last() { return 1; }\n'
COPIED = '<build><resources><resource><directory>src/main/java</directory></resource></resources></build>'
# Each finds the text of a main source, or that there is one.
CHEATS = {
    'line': 'assertTrue(new String(java.nio.file.Files.readAllBytes('
    f'java.nio.file.Paths.get("{PATH}"))).contains("return 1"));',
    'digest': 'byte[] all = java.security.MessageDigest.getInstance("SHA-1").digest('
    f'java.nio.file.Files.readAllBytes(java.nio.file.Paths.get("/w/{PATH}")));'
    ' assertEquals(20, all.length);',
    'listing': 'String[] tops = {"/w", "/in", "/tmp", "/repo", "/tools"}; int found = 0;'
    ' for (String top : tops) { java.nio.file.Path place = java.nio.file.Paths.get(top);'
    ' if (java.nio.file.Files.exists(place)) { found += java.nio.file.Files.walk(place)'
    '.filter(one -> one.endsWith("Till.java")).count(); } } assertTrue(found > 0);',
    'folder': 'assertTrue(new java.io.File("src/main/java/shop").isDirectory());',
    'copied': 'assertNotNull(TillTest.class.getResource("/shop/Till.java"));',
    'command': 'String said = new String(java.nio.file.Files.readAllBytes('
    'java.nio.file.Paths.get("/proc/1/cmdline"))); assertTrue(said.contains("Till.java"));',
}
STEP = {
    'pom.xml': pom(COPIED),
    **source('Till', TILL),
    **source('Spare', ''),
    **junit(
        'TillTest',
        'rings: assertTrue(Till.last() > 0);',
        *(f'{name}: {body}' for name, body in CHEATS.items()),
    ),
}
SPARE = 'src/main/java/shop/Spare.java'


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp('sources'), [STEP]) as found:
        yield found


def passing(place: Place, compiled: CompiledTests, sources: MainSources | None) -> set[str]:
    names = ('rings', *CHEATS)
    methods = [
        TestMethod(
            module='.',
            test_file='src/test/java/shop/TillTest.java',
            test_class='shop.TillTest',
            test_method=name,
        )
        for name in names
    ]
    verdicts = place.built.run(compiled, methods, RunConditions(sources=sources)).verdicts
    return {
        name
        for name, one in zip(names, verdicts, strict=True)
        if one is not None and one.outcome == 'pass'
    }


def edited(place: Place, *files: tuple[str, bytes | None]) -> CompiledTests:
    edits = CellEdits(code=tuple(sorted(files)))
    return place.built.compile(place.rev, place.rev, '.', edits=edits)


def test_mined_test_finds_the_main_sources_with_all_edits(place: Place) -> None:
    plain = place.built.compile(place.rev, place.rev, '.')
    found = {'rings', 'line', 'digest', 'listing', 'folder', 'copied'}
    assert passing(place, plain, None) == found
    other = STEP[PATH].replace('return 1', 'return 2').encode()
    assert 'line' not in passing(place, edited(place, (PATH, other)), None)


def test_test_process_without_main_sources_finds_no_text_of_them(place: Place) -> None:
    plain = place.built.compile(place.rev, place.rev, '.')
    assert passing(place, plain, MainSources()) == {'rings'}
    other = STEP[PATH].replace('return 1', 'return 2').encode()
    assert passing(place, edited(place, (PATH, other)), MainSources()) == {'rings'}
    assert passing(place, edited(place, (SPARE, None)), MainSources()) == {'rings'}


def test_test_process_with_sources_of_a_revision_never_sees_edits(place: Place) -> None:
    found = {'rings', 'line', 'digest', 'listing', 'folder', 'copied'}
    same = MainSources(rev=place.rev)
    other = STEP[PATH].replace('return 1', 'return 2').encode()
    assert passing(place, edited(place, (PATH, other)), same) == found
    assert passing(place, edited(place, (SPARE, None)), same) == found
