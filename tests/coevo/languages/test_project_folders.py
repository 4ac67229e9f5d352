"""Folders of a repository that are projects of their own, and how they are mined."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.table import suggest_project_folders, suggest_split
from tests.projects import write


@pytest.mark.parametrize(
    ('files', 'folders'),
    [
        (('app/build.gradle',), 'app'),
        (('app/settings.gradle.kts', 'app/core/build.gradle.kts'), 'app'),
        (('build.gradle', 'app/build.gradle', 'old/pom.xml'), 'old'),
        (('testdata/x/go.mod', 'tool/testdata/go.mod', 'tool/x/go.mod'), 'tool/x'),
        (('.github/action/setup.py', 'lib/setup.py'), 'lib'),
        (('a/pom.xml', 'b/pom.xml', 'b/c/pom.xml'), 'a, b'),
        (('testdata/go.mod', '.ci/pom.xml', 'README'), ''),
    ],
)
def test_folders_that_may_be_projects_are_named(
    files: tuple[str, ...], folders: str, tmp_path: Path
) -> None:
    root = write(tmp_path / 'repository', [dict.fromkeys(files, '')])
    told = suggest_project_folders(Repository(root / '.git'), 'HEAD')
    if folders:
        assert told.startswith(f'There are build files in {folders}; ')
    else:
        assert told == ''


@pytest.mark.parametrize(
    ('name', 'branch'),
    [
        ('till', 'only-till'),
        ('my app', 'only-my-app'),
        ('v1..2', 'only-v1-2'),
        ('a.lock', 'only-a-lock'),
        ('end.', 'only-end-'),
        ('what?~^:*[\\', 'only-what-'),
        ('at@{1}', 'only-at-1}'),
    ],
)
def test_the_suggested_branch_has_a_name_that_git_accepts(name: str, branch: str) -> None:
    command = suggest_split(f'services/{name}').split('`')[1]
    assert shlex.split(command)[-2:] == ['--branch', branch]
    assert shlex.split(command)[-3] == f'--prefix=services/{name}'
    subprocess.run(['git', 'check-ref-format', '--branch', branch], check=True)
