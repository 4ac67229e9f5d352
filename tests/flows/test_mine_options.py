"""Which families and which walk are meant, in a command or in a deployment."""

from __future__ import annotations

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.words import Walk
from flows.options import families_of
from flows.options import walk_of

DEFAULT = load_profile('default')


def test_families_are_taken_in_their_order_and_mean_a_walk() -> None:
    families = families_of(['file', 'class'])
    assert families == ('class', 'file')
    assert walk_of(None, families, DEFAULT) is walk_of('standing', families, DEFAULT)
    assert walk_of(None, families, DEFAULT) is Walk.STANDING


def test_without_a_family_the_profile_says_the_walk() -> None:
    assert walk_of(None, families_of([]), DEFAULT) is Walk(DEFAULT.walk)
    assert walk_of('states', (), DEFAULT) is Walk.STATES


@pytest.mark.parametrize('name', ['coevolution', 'klass', ''])
def test_a_name_that_is_none_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        Fatal, match=f'a family is class or file or function or module, and not {name!r}'
    ):
        families_of(['class', name])
    assert main(['mine', 'x', '--store', 'y', '--family', f'class,{name}']) == 2
    assert f'not {name!r}' in capsys.readouterr().err


def test_no_other_walk_goes_with_a_family() -> None:
    with pytest.raises(Fatal, match='leave out the walk parents'):
        walk_of('parents', families_of(['class']), DEFAULT)
