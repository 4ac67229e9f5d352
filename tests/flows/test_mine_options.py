"""Which families and which walk are meant, in a command or in a deployment."""

from __future__ import annotations

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.words import Walk
from flows.options import choose_walk, parse_families

DEFAULT = load_profile('default')


def test_families_are_sorted_and_imply_the_single_revision_walk() -> None:
    families = parse_families(['file', 'class'])
    assert families == ('class', 'file')
    assert choose_walk(None, families, DEFAULT) is choose_walk('single_revision', families, DEFAULT)
    assert choose_walk(None, families, DEFAULT) is Walk.SINGLE_REVISION


def test_the_profile_decides_the_walk_if_no_family_is_given() -> None:
    assert choose_walk(None, parse_families([]), DEFAULT) is Walk(DEFAULT.walk)
    assert choose_walk('states', (), DEFAULT) is Walk.STATES


@pytest.mark.parametrize('name', ['coevolution', 'klass', ''])
def test_an_unknown_family_name_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        Fatal, match=f'a family is class or file or function or module, and not {name!r}'
    ):
        parse_families(['class', name])
    assert main(['mine', 'x', '--store', 'y', '--family', f'class,{name}']) == 2
    assert f'not {name!r}' in capsys.readouterr().err


def test_a_family_is_refused_together_with_another_walk() -> None:
    with pytest.raises(Fatal, match='leave out the walk parents'):
        choose_walk('parents', parse_families(['class']), DEFAULT)
