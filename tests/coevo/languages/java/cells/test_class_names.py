"""Which class is around a class, from class files of the real compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.java.cells.class_names import outermost
from coevo.languages.java.cells.edited_files import is_of
from tests.coevo.languages.java.jvm import javac
from tests.coevo.languages.java.jvm import write

SOURCE = """\
package p;
public class A {
    static class $In { class Deep { long wide = 1L << 40; double more = 2.5; } }
    Runnable anonymous = new Runnable() { public void run() { class Local {} new Local(); } };
    Runnable lambda = () -> System.out.println("u");
}
class A$B { class C {} }
class $ { class $$ {} }
"""


@pytest.fixture(scope='module')
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('classes')
    return javac(write(folder / 'src', {'p/A.java': SOURCE}), folder / 'out', [])


@pytest.mark.jvm
def test_a_binary_name_alone_does_not_tell_what_is_nested(classes: Path) -> None:
    found = {
        file.stem: outermost(file.read_bytes()).removeprefix('p/')
        for file in (classes / 'p').glob('*.class')
    }
    assert found == {
        'A': 'A',
        'A$$In': 'A',
        'A$$In$Deep': 'A',
        'A$1': 'A',
        'A$1$1Local': 'A',
        'A$B': 'A$B',
        'A$B$C': 'A$B',
        '$': '$',
        '$$$$': '$',
    }


@pytest.mark.jvm
def test_class_files_are_of_the_types_that_hold_them(classes: Path) -> None:
    def of(*family: str) -> set[str]:
        files = (classes / 'p').glob('*.class')
        return {file.stem for file in files if is_of(file, classes, frozenset(family))}

    assert of('p/A$B') == {'A$B', 'A$B$C'}
    assert of('p/A') >= {'A', 'A$1', 'A$$In', 'A$$In$Deep'}
    assert not of('p/A') & {'A$B', 'A$B$C', '$'}
    assert of('p/$') == {'$', '$$$$'}


def test_what_no_compiler_made_is_none(tmp_path: Path) -> None:
    for content in (b'', b'\xca\xfe\xba\xbe', b'\xca\xfe\xba\xbe' + bytes(40), b'x' * 400):
        with pytest.raises(ValueError, match='no class file'):
            outermost(content)
