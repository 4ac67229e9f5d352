"""The folder of a run may have been damaged since: a sentence before anything more is spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.agents.keeping import RunFolder
from coevo.model.errors import Fatal

ASKED = {'model': 'stand-in'}
ROUND = '{"cost_usd": 0.5}\n'


def opened(folder: Path) -> float:
    keeping = RunFolder(folder)
    with keeping.lock_folder(ASKED):
        keeping.load_attempts()
        return keeping.sum_billed_usd()


def test_billed_cost_sums_all_rounds_and_skips_a_truncated_line(tmp_path: Path) -> None:
    assert opened(tmp_path) == 0
    (tmp_path / 'rounds' / 'a.jsonl').write_text(ROUND + '{"cost_usd": null}\n' + ROUND[:8])
    (tmp_path / 'rounds' / 'b.jsonl').write_text(ROUND)
    assert opened(tmp_path) == 1


@pytest.mark.parametrize(
    ('name', 'content'),
    [
        ('run.json', b'{'),
        ('run.json', b'[1]'),
        ('run.json', b'\xff'),
        ('run.json', b'[' * 100_000),
        ('rounds/a.jsonl', b'x}\n'),
        ('rounds/a.jsonl', b'[{}\n{}\n'),
        ('rounds/a.jsonl', b'{"cost_usd": "x"}\n'),
        ('rounds/a.jsonl', b'\xff}\n'),
        ('attempts/a.json', b'{}'),
        ('attempts/a.json', b'[' * 100_000),
    ],
)
def test_damaged_file_of_a_run_folder_is_named_in_the_error(
    tmp_path: Path, name: str, content: bytes
) -> None:
    opened(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Fatal, match=f'{name} cannot be read'):
        opened(tmp_path)


@pytest.mark.parametrize(
    ('before', 'now', 'same'),
    [
        ('http://127.0.0.1:8000 (openai)', 'http://127.0.0.1:8001 (openai)', True),
        ('http://localhost:8000/a (openai)', 'http://localhost:8001/b (openai)', False),
        ('http://127.0.0.1:8000 (openai)', 'http://127.0.0.1:8000 (gemini)', False),
        ('https://example.org:8000 (openai)', 'https://example.org:8001 (openai)', False),
    ],
)
def test_server_of_this_machine_may_come_back_at_another_port(
    tmp_path: Path, before: str, now: str, same: bool
) -> None:
    with RunFolder(tmp_path).lock_folder({'network': before}):
        pass
    if same:
        with RunFolder(tmp_path).lock_folder({'network': now}):
            return
    sentence = r'holds a run with network \(--endpoint\) '
    with pytest.raises(Fatal, match=sentence), RunFolder(tmp_path).lock_folder({'network': now}):
        pass
