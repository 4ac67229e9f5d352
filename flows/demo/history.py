"""Write the demo's repository: fixed dates and one identity, so that its commit ids are constants."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from flows.demo.steps import DemoStep
from flows.demo.stories import Story

# What builds and tests leave behind.
_MADE = {'target', '__pycache__'}

IDENTITY = 'Coevo Demo <demo@example.org>'

Files = Mapping[str, str]


def write_repository(folder: Path, story: Story) -> dict[str, str]:
    """Make `folder` a repository with the demo's history; give the commit id of every subject."""
    folder.mkdir(parents=True)
    _run_git(folder, 'init', '--quiet', '--initial-branch=main')
    marks = folder.absolute() / '.git' / 'demo-marks'
    _run_git(
        folder, 'fast-import', '--quiet', f'--export-marks={marks}', stdin=_encode_history(story)
    )
    _run_git(folder, 'reset', '--quiet', '--hard', 'main')
    numbered = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    return {step.subject: numbered[f':{mark}'] for mark, step in enumerate(story.steps, 1)}


def build_trees(story: Story) -> dict[str, Files]:
    """The files of every step, by its subject."""
    files_by_step: dict[str, Files] = {}
    for step in story.steps:
        files_by_step[step.subject] = _build_tree(story, step, files_by_step)
    return files_by_step


def _build_tree(story: Story, step: DemoStep, made: Mapping[str, Files]) -> Files:
    files = _merge_parents(story, step, made) if step.parents else _load_project(story.project)
    for edit in step.edits:
        if files[edit.path].count(edit.old) != 1:
            raise ValueError(f'{step.subject}: not exactly once in {edit.path}: {edit.old}')
        files[edit.path] = files[edit.path].replace(edit.old, edit.new)
    files.update(step.files)
    return {path: text for path, text in files.items() if path not in step.removed}


def _merge_parents(story: Story, step: DemoStep, made: Mapping[str, Files]) -> dict[str, str]:
    """The first parent's files with what the other parent, one commit long, changed or added."""
    files = dict(made[step.parents[0]])
    for side in step.parents[1:]:
        fork = made[next(commit for commit in story.steps if commit.subject == side).parents[0]]
        files.update({path: text for path, text in made[side].items() if fork.get(path) != text})
    return files


def _load_project(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob('*') if path.is_file() and not _MADE & {*path.parts})
    return {path.relative_to(folder).as_posix(): path.read_text('utf-8') for path in paths}


def _encode_history(story: Story) -> bytes:
    return b''.join(_encode_commits(story))


def _encode_commits(story: Story) -> Iterator[bytes]:
    """The history in the language of `git fast-import`."""
    marks = {step.subject: mark for mark, step in enumerate(story.steps, 1)}
    for number, (step, files) in enumerate(
        zip(story.steps, build_trees(story).values(), strict=True)
    ):
        stamp = f'{IDENTITY} {int((story.start + number * story.interval).timestamp())} +0000'
        yield f'commit refs/heads/main\nmark :{marks[step.subject]}\n'.encode()
        yield f'author {stamp}\ncommitter {stamp}\n'.encode()
        yield _encode_data(step.subject + '\n')
        for word, parent in zip(('from', 'merge'), step.parents, strict=False):
            yield f'{word} :{marks[parent]}\n'.encode()
        yield b'deleteall\n'
        for path in sorted(files):
            yield f'M 100644 inline {path}\n'.encode() + _encode_data(files[path])


def _encode_data(text: str) -> bytes:
    raw = text.encode()
    return f'data {len(raw)}\n'.encode() + raw + b'\n'


def _run_git(folder: Path, *arguments: str, stdin: bytes = b'') -> None:
    """Run Git blind to the configuration of the machine and of its user."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith('GIT_')}
    environment = inherited | {'GIT_CONFIG_GLOBAL': os.devnull, 'GIT_CONFIG_NOSYSTEM': '1'}
    command = ['git', '-c', 'core.autocrlf=false', *arguments]
    subprocess.run(command, cwd=folder, env=environment, input=stdin, check=True)
