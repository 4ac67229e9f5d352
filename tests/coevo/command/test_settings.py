"""Settings files whose values are beyond what Python or the machine can hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.errors import Fatal
from coevo.options.settings import Setting, load_settings
from coevo.snapshots.cutoffs import read_models

SETTINGS = (
    Setting(name='seconds', kind=float, default=1.0, help='seconds'),
    Setting(name='memory', kind=int, default=8, least=1, help='memory'),
)
BEYOND_LIMITS = [f'memory = 1{"1" * 5_000}\n', f'memory = {"[" * 20_000}\n']


@pytest.mark.parametrize(
    'text', [*BEYOND_LIMITS, f'seconds = 1{"0" * 400}\n', 'memory = 1000000000000\n']
)
def test_value_beyond_all_limits_is_refused_in_one_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / 'settings.toml').write_text(text)
    with pytest.raises(Fatal, match=r'settings\.toml'):
        load_settings(tmp_path / 'settings.toml', SETTINGS, 'coevo run')


@pytest.mark.parametrize('text', BEYOND_LIMITS)
def test_file_of_models_beyond_all_limits_is_refused_in_one_sentence(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / 'models.toml').write_text(text)
    with pytest.raises(Fatal, match='is no TOML'):
        read_models(tmp_path / 'models.toml')
