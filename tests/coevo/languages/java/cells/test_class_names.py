"""Which class is around a class, from class files of the real compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.java.cells.edited_files import find_outermost_class, is_in_family
from tests.coevo.languages.java.jvm import javac, write

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
def test_outermost_class_is_found_despite_dollar_signs_in_names(classes: Path) -> None:
    found = {
        file.stem: find_outermost_class(file.read_bytes()).removeprefix('p/')
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
def test_class_file_belongs_to_the_family_of_its_outermost_type(classes: Path) -> None:
    def of(*family: str) -> set[str]:
        files = (classes / 'p').glob('*.class')
        return {file.stem for file in files if is_in_family(file, classes, frozenset(family))}

    assert of('p/A$B') == {'A$B', 'A$B$C'}
    assert of('p/A') >= {'A', 'A$1', 'A$$In', 'A$$In$Deep'}
    assert not of('p/A') & {'A$B', 'A$B$C', '$'}
    assert of('p/$') == {'$', '$$$$'}


def test_bytes_that_are_no_class_file_raise_an_error(tmp_path: Path) -> None:
    for content in (b'', b'\xca\xfe\xba\xbe', b'\xca\xfe\xba\xbe' + bytes(40), b'x' * 400):
        with pytest.raises(ValueError, match='no class file'):
            find_outermost_class(content)
