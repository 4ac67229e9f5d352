"""A module that no proxy has and that lies in `vendor` is used from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.golang.kits import add_commands
from coevo.languages.golang.reading.trees import open_tree
from coevo.languages.golang.toolchains import find_toolchains
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

PRIVATE = 'private.example.invalid/add'
GO_MOD = f'module example.com/shop\n\ngo 1.21\n\nrequire {PRIVATE} v1.0.0\n'
TEST = """\
package shop

import "testing"

func TestAdds(t *testing.T) {
	if Two() != 2 {
		t.Fatal(Two())
	}
}
"""
FILES = {
    'go.mod': GO_MOD,
    'shop.go': f'package shop\n\nimport "{PRIVATE}"\n\nfunc Two() int {{ return add.Add(1, 1) }}\n',
    'shop_test.go': TEST,
    'plain/plain.go': 'package plain\n',
    'plain/plain_test.go': 'package plain\n\nimport "testing"\n\nfunc TestPlain(t *testing.T) {}\n',
    f'vendor/{PRIVATE}/add.go': 'package add\n\nfunc Add(a, b int) int { return a + b }\n',
    'vendor/modules.txt': f'# {PRIVATE} v1.0.0\n## explicit; go 1.21\n{PRIVATE}\n',
}


def test_module_that_only_vendor_has_is_used_from_there(tmp_path: Path) -> None:
    with opened(tmp_path, [FILES]) as place:
        assert place.built.new.modules == {'.': None, 'plain': None}
        assert place.verdict('TestAdds').outcome is Outcome.PASS
        environment = place.built.describe_environment(place.built.new.rev, '.')
        assert environment is not None
        tree = open_tree(place.built.context.repository, place.built.new.rev)
        method = place.method('TestAdds')
        commands = add_commands(environment, '.', 'shop_test.go', [method], tree)
        assert commands.test_command.startswith('GOWORK=off go test -mod=vendor ')


@pytest.mark.parametrize('modules', ['', f'# {PRIVATE} v1.0.1\n## explicit\n{PRIVATE}\n'])
def test_vendor_folder_that_does_not_agree_with_go_mod_is_not_used(
    tmp_path: Path, modules: str
) -> None:
    with opened(tmp_path, [{**FILES, 'vendor/modules.txt': modules}]) as place:
        found = place.built.new.modules
        assert found['plain'] is None
        assert found['.']
        assert PRIVATE in found['.']
