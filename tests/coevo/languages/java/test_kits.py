"""The libraries of kits for Java: who shares them, and that equal ones have equal bytes."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from coevo.evaluation.assignments import load_assignments
from coevo.languages.java.kits import compute_library_key, explain_end, remove_dates
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.model.families import Family
from coevo.sandboxes.job import Job, Limits
from coevo.sandboxes.sandbox import open_sandbox
from tests import snapshots

OWN = 'shop/till/1.0-SNAPSHOT'


def make_archive(year: int, *texts: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, 'w') as archive:
        archive.mkdir('shop')
        for number, text in enumerate(texts):
            entry = zipfile.ZipInfo(f'shop/{number}', (year, 1, 1, 0, 0, 0))
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def write_repository(folder: Path, year: int) -> None:
    """Write a repository as Maven fills it in some year, with one module that it built."""
    archive = make_archive(year, b'class file', b'other')
    names = ('till-1.0.jar', 'till-1.0.pom', 'till-1.0-sources.jar', 'till-1.0-javadoc.jar')
    origins = [f'{name}>=' for name in names]
    files = {
        f'{OWN}/_remote.repositories': '\n'.join((f'#in {year}', *reversed(origins))).encode(),
        **{f'{OWN}/{name}': archive for name in names},
        f'{OWN}/till-1.0.pom': b'<project/>',
        f'{OWN}/maven-metadata-local.xml': f'<a><lastUpdated>{year}0101</lastUpdated></a>'.encode(),
        'org/lib/1/_remote.repositories': f'#in {year}\nlib-1.jar>coevo=\n'.encode(),
        'org/lib/1/lib-1.jar': make_archive(2001, b'as it was published'),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def load_all(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob('*')
        if path.is_file()
    }


def test_repositories_that_maven_filled_at_two_times_have_equal_bytes(tmp_path: Path) -> None:
    found = []
    for year in (2001, 2026):
        folder = tmp_path / str(year)
        write_repository(folder, year)
        library = (folder / 'org/lib/1/lib-1.jar').read_bytes()
        remove_dates(folder)
        found.append(load_all(folder))
        assert found[-1]['org/lib/1/lib-1.jar'] == library
    assert found[0] == found[1]
    assert f'{OWN}/till-1.0-sources.jar' not in found[0]
    with zipfile.ZipFile(io.BytesIO(found[0][f'{OWN}/till-1.0.jar'])) as archive:
        assert archive.read('shop/0') == b'class file'
        assert archive.infolist()[0].is_dir()
    assert found[0]['org/lib/1/_remote.repositories'] == b'lib-1.jar>coevo=\n'


WHOLE = make_archive(2001, b'x' * 99)
START = WHOLE.index(b'shop/0') + len(b'shop/0')  # of the deflated bytes of its file


@pytest.mark.parametrize(
    'content',
    [b'', b'PK no archive', WHOLE[:-30], WHOLE[:START] + b'\xff' + WHOLE[START + 1 :]],
)
def test_archive_that_cannot_be_read_stays(tmp_path: Path, content: bytes) -> None:
    write_repository(tmp_path, 2026)
    file = tmp_path / OWN / 'till-1.0.jar'
    file.write_bytes(content)
    remove_dates(tmp_path)
    assert file.read_bytes() == content


def test_folder_with_the_name_of_a_file_is_left_alone(tmp_path: Path) -> None:
    write_repository(tmp_path, 2026)
    about = tmp_path / OWN / '_remote.repositories'
    about.write_bytes(about.read_bytes() + b'own-sources.jar>=\n')
    folders = [OWN + '/own-sources.jar', 'org/_remote.repositories', 'maven-metadata-local.xml']
    for name in folders:
        (tmp_path / name / 'inner').mkdir(parents=True)
    remove_dates(tmp_path)
    assert all((tmp_path / name / 'inner').is_dir() for name in folders)


def test_name_of_an_artifact_leads_nowhere_else(tmp_path: Path) -> None:
    write_repository(tmp_path / 'repository', 2026)
    other = tmp_path / 'other-sources.jar'
    other.write_bytes(b'')
    about = tmp_path / 'repository' / OWN / '_remote.repositories'
    about.write_text('../../../../other-sources.jar>=\n..>=\n>=\n')
    remove_dates(tmp_path / 'repository')
    assert other.is_file()


def test_task_that_asks_for_code_shares_no_libraries_with_gold(tmp_path: Path) -> None:
    task = load_assignments(snapshots.make(tmp_path, 1))[0].task
    tools = Toolchain(
        java_home=tmp_path,
        jdk='17',
        tools_home=tmp_path,
        maven_home=tmp_path,
        tools=tmp_path,
        libraries=tmp_path,
    )
    code = dataclasses.replace(task, family=Family.IMPLEMENT, source_patch='first')
    other = dataclasses.replace(code, source_patch='second')
    assert len({compute_library_key(each, tools) for each in (task, code, other)}) == 3
    assert compute_library_key(
        dataclasses.replace(task, task_id='0' * 16), tools
    ) == compute_library_key(task, tools)


@pytest.mark.parametrize(
    ('command', 'seconds', 'said'),
    [
        ('sleep 60', 1.0, 'was killed after'),
        ('echo no such artifact >&2', 60.0, 'no such artifact'),
    ],
)
def test_maven_that_ran_out_of_time_is_told_from_one_that_failed(
    command: str, seconds: float, said: str
) -> None:
    limits = Limits(
        cpu_seconds=60,
        wall_seconds=seconds,
        memory_bytes=1 << 30,
        processes=16,
        file_bytes=1 << 20,
        disk_bytes=1 << 20,
    )
    with (
        closing(open_sandbox('bubblewrap')) as sandbox,
        sandbox.start(Job(argv=('/bin/sh', '-c', command), limits=limits)) as process,
    ):
        assert process.stdout.read() == b''
        process.wait()
        assert said in explain_end(process)
