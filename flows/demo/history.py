"""Write the demo's repository with fixed dates and one identity.

So its commit ids are constant.

To change a step, write the repository, check out the step's first parent, edit it, and let `git
diff` write the new patch.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from flows.demo.stories import DemoStep, Story

AUTHOR, EMAIL = 'Coevo Demo', 'demo@example.org'

# Files that builds and tests leave in the project's folder.
_LEFT_BEHIND = (':(exclude,glob)**/target/**', ':(exclude,glob)**/__pycache__/**')


def write_repository(folder: Path, story: Story) -> dict[str, str]:
    """Create a repository with a story's history in the new folder `folder`.

    Return the commit id of each step by its subject.
    """
    folder.mkdir(parents=True)
    _run_git(folder, 'init', '--quiet', '--initial-branch=main')
    commits: dict[str, str] = {}
    for number, step in enumerate(story.steps):
        _fill_index(folder, story, step, commits)
        date = f'{int((story.start + number * story.interval).timestamp())} +0000'
        commits[step.name] = _commit_index(folder, step, commits, date)
    _run_git(folder, 'reset', '--quiet', '--hard', commits[story.steps[-1].name])
    return {step.subject: commits[step.name] for step in story.steps}


def _fill_index(folder: Path, story: Story, step: DemoStep, commits: Mapping[str, str]) -> None:
    """Put the files of a step into the Git index.

    For the first step these are the project's files, else those of its first parent with its patch.
    """
    if step.patch is None:
        own = f'--git-dir={folder.absolute() / ".git"}'
        _run_git(story.source / 'project', own, '--work-tree=.', 'add', '--', '.', *_LEFT_BEHIND)
        return
    _run_git(folder, 'read-tree', commits[step.parents[0]])
    _run_git(folder, 'apply', '--cached', str(story.source / 'patches' / f'{step.patch}.patch'))


def _commit_index(folder: Path, step: DemoStep, commits: Mapping[str, str], date: str) -> str:
    tree = _run_git(folder, 'write-tree')
    parents = [word for parent in step.parents for word in ('-p', commits[parent])]
    identity = {
        f'GIT_{role}_{part}': value
        for role in ('AUTHOR', 'COMMITTER')
        for part, value in (('NAME', AUTHOR), ('EMAIL', EMAIL), ('DATE', date))
    }
    return _run_git(folder, 'commit-tree', *parents, '-m', step.subject, tree, identity=identity)


def _run_git(folder: Path, *arguments: str, identity: Mapping[str, str] | None = None) -> str:
    """Run Git independent of the machine's and the user's configuration; return its output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith('GIT_')}
    blind = {'GIT_CONFIG_GLOBAL': os.devnull, 'GIT_CONFIG_NOSYSTEM': '1'}
    command = ['git', '-c', 'core.autocrlf=false', '-c', 'core.fileMode=false', *arguments]
    environment = inherited | blind | dict(identity or {})
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()
