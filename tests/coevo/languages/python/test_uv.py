"""Which indexes uv's configuration names, and that a job of uv's looks there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.python import uv
from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.package_index import get_machine_index
from coevo.languages.python.uv_jobs import compile_requirements
from coevo.model.errors import Fatal, Transient
from coevo.sandboxes.sandbox import Sandbox
from coevo.sandboxes.workspace import open_workspace
from tests.coevo.languages.python.index_server import Shelf, serving, wheel


@pytest.fixture
def links() -> Iterator[Path]:
    with open_workspace() as folder:
        place = folder / 'links'
        place.mkdir()
        yield place


TWO_THREADS = """
import sysconfig, time
from concurrent.futures import ThreadPoolExecutor
from coevo.languages.python.uv import find_program
fill = sysconfig._init_posix
def fill_slowly(known):
    time.sleep(0.3)
    fill(known)
sysconfig._init_posix, sysconfig._CONFIG_VARS = fill_slowly, None
with ThreadPoolExecutor(2) as threads:
    print(len(set(threads.map(lambda _: find_program(), range(2)))))
"""


def test_two_threads_find_uv_at_the_same_time() -> None:
    done = subprocess.run(
        [sys.executable, '-c', TWO_THREADS], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ('1\n', 0), done.stderr


def test_environment_variables_name_indexes_and_folders(
    monkeypatch: pytest.MonkeyPatch, links: Path
) -> None:
    monkeypatch.setenv('UV_DEFAULT_INDEX', 'https://me:secret@one.invalid/simple')
    monkeypatch.setenv('UV_EXTRA_INDEX_URL', 'https://two.invalid/simple')
    monkeypatch.setenv('UV_FIND_LINKS', str(links))
    found = uv.load_index_sources()
    assert found.indexes == ('https://me:secret@one.invalid/simple', 'https://two.invalid/simple')
    assert found.folders == (links,)


def test_a_configuration_file_names_indexes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = tmp_path / 'uv.toml'
    settings.write_text('[[index]]\nurl = "https://one.invalid/simple"\ndefault = true\n')
    monkeypatch.setenv('UV_CONFIG_FILE', str(settings))
    assert uv.load_index_sources().indexes == ('https://one.invalid/simple',)
    settings.write_text('[[index]\n')
    with pytest.raises(Transient, match='uv cannot use its configuration'):
        uv.load_index_sources()


def test_an_index_without_an_http_address_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, links: Path
) -> None:
    monkeypatch.setenv('UV_DEFAULT_INDEX', f'file://{links}')
    with pytest.raises(Fatal, match='set one in its configuration'):
        uv.load_index_sources()


def test_resolution_uses_a_second_index_and_a_folder_of_wheels(
    monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox, links: Path
) -> None:
    (links / 'shoe-1.0-py3-none-any.whl').write_bytes(wheel('shoe', '1.0', ('lace', 'sole')))
    more, first = Shelf(), Shelf()
    more.add_wheel('sole', '3.0')
    first.add_wheel('lace', '2.0')
    interpreter = next(one for one in find_interpreters() if one.feature == sys.version_info[:2])
    with serving(monkeypatch, more), serving(monkeypatch, first):
        monkeypatch.setenv('UV_EXTRA_INDEX_URL', more.url)
        monkeypatch.setenv('UV_FIND_LINKS', str(links))
        get_machine_index.cache_clear()
        day = datetime(2024, 3, 1, tzinfo=UTC)
        found = compile_requirements(sandbox, ['shoe'], interpreter, day)
    assert isinstance(found, str), found
    assert [line.split()[0] for line in found.splitlines()[::2]] == [
        'lace==2.0',
        'shoe==1.0',
        'sole==3.0',
    ]
