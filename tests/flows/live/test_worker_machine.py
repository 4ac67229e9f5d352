"""What a worker's machine may lack, and the clock that it is given."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.model.errors import Fatal
from flows.live import heartbeat
from flows.live.worker_settings import check_tools, prepare_runner_storage


def test_worker_without_git_or_a_known_sandbox_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_tools('bubblewrap')
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(Fatal, match='this worker cannot mine: git was not found; install git'):
        check_tools('bubblewrap')
    monkeypatch.undo()
    with pytest.raises(Fatal, match="there is no sandbox 'jail'; choose one of bubblewrap"):
        check_tools('jail')


def test_runner_storage_of_another_user_is_refused_unless_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    folder = tmp_path / 'runner_storage'
    prepare_runner_storage()
    prepare_runner_storage()
    assert folder.stat().st_mode & 0o7777 == 0o1777
    folder.rmdir()
    folder.touch(mode=0o400)  # root may write into whatever is a folder
    with pytest.raises(Fatal, match=r"runner_storage is another user's: have it removed, or let"):
        prepare_runner_storage()


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('2026-06-03\n', datetime(2026, 6, 3, tzinfo=UTC)),
        ('2026-06-03T12:30+02:00', datetime(2026, 6, 3, 10, 30, tzinfo=UTC)),
    ],
)
def test_clock_file_sets_the_present(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: datetime
) -> None:
    (tmp_path / 'clock').write_text(text)
    monkeypatch.setenv(heartbeat.VARIABLE, str(tmp_path / 'clock'))
    assert heartbeat.now() == heartbeat.get_scheduled_present() == said


def test_unreadable_clock_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(heartbeat.VARIABLE, str(tmp_path / 'clock'))
    with pytest.raises(
        Fatal, match=r'\$COEVO_CLOCK names a clock that cannot be read: .*No such file'
    ):
        heartbeat.now()
    (tmp_path / 'clock').write_text('noon')
    with pytest.raises(Fatal, match="'noon' is not a date; write it as 2026-01-31"):
        heartbeat.now()
