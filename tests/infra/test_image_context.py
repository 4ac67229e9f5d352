"""What an image of coevo is built of, and what builds it each week."""

from __future__ import annotations

import fnmatch
import subprocess
from pathlib import Path

import pytest
import yaml
from prefect.settings.models.server.services import ServerServicesDBVacuumSettings

ROOT = Path(__file__).parents[2]


def ignored() -> list[str]:
    lines = (ROOT / '.dockerignore').read_text().splitlines()
    return [line for line in lines if line and not line.startswith('#')]


def is_ignored(path: str) -> bool:
    """Whether Docker leaves out a file, or a folder around it; a `*` is within one name."""
    parts = path.split('/')
    return any(
        matches(parts[start:end], pattern.removeprefix('**/').split('/'))
        for pattern in ignored()
        for start in range(len(parts) if pattern.startswith('**/') else 1)
        for end in range(start + 1, len(parts) + 1)
    )


def matches(names: list[str], patterns: list[str]) -> bool:
    return len(names) == len(patterns) and all(map(fnmatch.fnmatchcase, names, patterns))


def test_image_holds_every_file_of_a_checkout() -> None:
    tracked = subprocess.run(
        ('git', '-C', ROOT, 'ls-files', '-z'), capture_output=True, text=True, check=True
    ).stdout.split('\0')
    assert [path for path in tracked if path and is_ignored(path)] == []


def test_image_holds_nothing_that_a_checkout_makes() -> None:
    made = ('.git/HEAD', '.venv/bin/coevo', 'store/store.json', 'coevo/__pycache__/a.pyc')
    assert all(map(is_ignored, made))


def test_weekly_workflow_builds_image_manual_and_wheel_and_runs_all_tests() -> None:
    workflow = yaml.safe_load((ROOT / '.github/workflows/weekly.yml').read_text())
    commands = [
        step['run'] for job in workflow['jobs'].values() for step in job['steps'] if 'run' in step
    ]
    for words in ('docker build', 'make docs', 'uv build --wheel', 'make test-all'):
        assert any(words in command for command in commands), words
    targets = {line.partition(':')[0] for line in (ROOT / 'Makefile').read_text().splitlines()}
    assert {'docs', 'test-all'} <= targets


def test_server_of_the_containers_removes_old_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    compose = yaml.safe_load((ROOT / 'infra/compose.yaml').read_text())
    name = 'PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED'
    value = compose['services']['server']['environment'][name]
    assert f'export {name}={value}' in (ROOT / 'infra/README.md').read_text()
    monkeypatch.setenv(name, value)
    assert ServerServicesDBVacuumSettings().enabled_vacuum_types >= {'events', 'flow_runs'}
