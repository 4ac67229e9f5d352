"""Builds that plant links, hooks and poisoned libraries: nobody trips over them, nothing stays."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.model.words import MethodChange, Outcome
from coevo.storage.disk import find_cache_folder
from coevo.storage.store import Store
from flows.pipeline import mine
from tests.folders import open_folder
from tests.projects import junit, options, pom, running, source, write

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

JAR = 'junit/junit/4.13.2/junit-4.13.2.jar'

# A build that succeeds; each line must harm neither this build's successors nor the host.
PLANTS = """
mkdir -p target/classes/.git/hooks target/test-classes; cd target/classes;
printf '[core]\\n fsmonitor = touch {mark}; false\\n hooksPath = hooks\\n' > .git/config;
printf '#!/bin/sh\\ntouch {mark}' > .git/hooks/post-checkout; chmod 4755 .git/hooks/post-checkout;
ln -s {mark} absolute; ln -s ../../../../../../../../../etc/passwd up; ln -s loop loop;
mknod null c 1 3; cp absolute copied; cp /bin/true setuid;
chmod 6755 setuid; ln -s /repo ../test-classes/repository; mkfifo ../fifo; cd /w;
head=/w/m2/{folder}; mkdir -p $head; printf evil > /w/m2/{jar}; printf 0 > /w/m2/{jar}.sha1;
printf 'junit-4.13.2.jar>coevo=' > $head/_remote.repositories;
printf evil > /repo/{jar}; rm -rf /repo/junit; printf x > /repo/new; printf x > /in/new;
printf x > {mark}; exit 0
"""


@pytest.fixture(scope='module')
def work() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def test_files_planted_by_a_build_harm_neither_later_builds_nor_the_host(
    back_end: str, tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_WORK', str(work))
    mark = work.with_name(f'{work.name}-mark')
    command = PLANTS.format(mark=mark, jar=JAR, folder=Path(JAR).parent).replace('\n', ' ')
    command = command.replace('&', '&amp;').replace('"', '&quot;')
    steps = [
        {
            'pom.xml': pom(running(command) if number == 1 else ''),
            **source('Till', f'    public static int last() {{ return {number}; }}\n'),
            **junit(f'Till{number}Test', f'rings{number}: assertEquals({number}, Till.last());'),
        }
        for number in range(4)
    ]
    repository = write(tmp_path / 'repository', steps)
    before = digest(find_cache_folder() / 'maven' / JAR)
    wanted = dataclasses.replace(options(repository, tmp_path / 'store'), sandbox=back_end)
    report = mine(wanted)
    segments = list(Store(tmp_path / 'store').load_current_segments(report.partitions[0]))
    assert [segment.pair.build_new for segment in segments] == ['built'] * 3
    rows = [row for segment in segments for row in segment.methods]
    assert {
        row.test_method: row.t_new_c_new for row in rows if row.change is MethodChange.INSERTED
    } == {f'rings{number}': Outcome.PASS for number in (1, 2, 3)}
    assert before in (None, digest(find_cache_folder() / 'maven' / JAR))
    assert not mark.exists()
    assert not list(work.iterdir())


def digest(file: Path) -> str | None:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
