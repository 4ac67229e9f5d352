"""How an oracle is asked in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.oracles.driver import LIMITS, ask_driver, copy_programs, open_tree_folder
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Job, Mount, Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace

REQUEST = {'module': '', 'methods': []}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    found = open_sandbox('bubblewrap')
    yield found
    found.close()


def job(program: str, *mounts: Mount) -> Job:
    argv = ('/usr/bin/python3', '-I', '-B', '-c', f'import sys; {program}')
    return Job(argv=argv, mounts=mounts, limits=LIMITS)


def test_oracle_returns_the_answer_of_its_driver(sandbox: Sandbox) -> None:
    """It sees the tree, and can read its own programs."""
    with open_workspace() as root, open_tree_folder(root) as tree:
        tree.mkdir(mode=0o755)
        mounts = (
            Mount(source=tree, target='/in/tree'),
            Mount(source=copy_programs(root), target='/in/inside'),
        )
        program = (
            'import os; assert os.listdir("/in/tree") == []; '
            'open("/in/inside/java_cell.py").read(); sys.stdout.write(sys.stdin.read())'
        )
        assert ask_driver(sandbox, job(program, *mounts), REQUEST) == REQUEST
        assert copy_programs(root) == root / 'inside'


def test_folder_of_a_tree_is_removed_at_the_end(tmp_path: Path) -> None:
    with open_tree_folder(tmp_path) as tree:
        tree.mkdir()
    assert list(tmp_path.iterdir()) == []


def test_silent_driver_raises_a_transient_error(sandbox: Sandbox) -> None:
    with pytest.raises(Transient, match='the oracle said nothing'):
        ask_driver(sandbox, job('sys.exit("no luck")'), REQUEST)
