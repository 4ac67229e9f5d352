"""The commands of a task's environment, run as they stand by the go command alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.golang.kits import add_commands
from coevo.languages.golang.reading.trees import open_tree
from coevo.languages.golang.toolchains import find_toolchains
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from tests.projects import write
from tests.repos import git

pytestmark = [
    pytest.mark.skipif(not find_toolchains(), reason='there is no Go here'),
    pytest.mark.slow,
]

SHOP = {
    'go.mod': 'module example.com/shop\n\ngo 1.21\n',
    'shop.go': 'package shop\n\nconst Price = 2\n',
}
BESIDE = {
    'beside/go.mod': 'module example.com/beside\n\ngo 1.21\n',
    'beside/deep/deep_test.go': (
        'package deep\n\nimport (\n\t"testing"\n\n\t"example.com/shop"\n)\n\n'
        'func TestPrice(t *testing.T) {\n\tif shop.Price != 2 {\n\t\tt.Fatal(shop.Price)\n\t}\n}\n\n'
        'func TestOther(t *testing.T) { t.Fatal() }\n'
    ),
}
REPLACED = 'module example.com/beside\n\ngo 1.21\n\nreplace example.com/shop => ../\n'


@pytest.mark.parametrize(
    'more',
    [
        {'go.work': 'go 1.21\n\nuse (\n\t.\n\t./beside\n)\n'},
        {'go.work': 'go 1.21\n\nuse .\n', 'beside/go.mod': REPLACED},
        {'beside/go.mod': REPLACED},
    ],
    ids=['of a workspace', 'beside a workspace', 'without one'],
)
def test_compile_and_test_commands_run_in_a_plain_checkout(
    tmp_path: Path, more: Mapping[str, str]
) -> None:
    repository = write(tmp_path / 'repository', [{**SHOP, **BESIDE, **more}])
    rev = git(repository, 'rev-parse', 'HEAD')
    method = TestMethod(
        module='beside/deep',
        test_file='beside/deep/deep_test.go',
        test_class='deep',
        test_method='TestPrice',
    )
    environment = Environment(runtime='', build_tool='', libraries=())
    seen = open_tree(Repository(repository / '.git'), rev)
    found = add_commands(environment, method.module, method.test_file, [method], seen)
    for command in (found.compile_command, found.test_command):
        assert run(repository, command) == 0, command
    assert run(repository, found.test_command.replace('TestPrice', 'TestOther')) == 1


def run(folder: Path, command: str) -> int:
    toolchain = find_toolchains()[-1]
    ours = {
        'PATH': f'{toolchain.home}/bin:{os.environ["PATH"]}',
        'GOPROXY': 'off',
        'GOTOOLCHAIN': 'local',
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith('GO')}
    done = subprocess.run(
        ['sh', '-c', command], cwd=folder, env={**kept, **ours}, capture_output=True, check=False
    )
    return done.returncode
