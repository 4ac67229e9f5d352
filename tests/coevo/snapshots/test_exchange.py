"""A folder of texts that is exchanged for its next state."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.snapshots.code_free.folders import exchange_folder


def test_interrupt_between_the_two_renames_leaves_the_folder_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / 'whole'
    out.mkdir()
    (out / 'text').write_text('before')
    rename = Path.rename

    def interrupt(self: Path, target: Path) -> Path:
        """Rename, and be interrupted right after that."""
        monkeypatch.undo()
        rename(self, target)
        raise KeyboardInterrupt

    def fill() -> None:
        with exchange_folder(out) as exchange:
            exchange.new.mkdir(parents=True)
            (exchange.new / 'text').write_text('after')
            exchange.accept()
            monkeypatch.setattr(Path, 'rename', interrupt)

    with pytest.raises(KeyboardInterrupt):
        fill()
    assert (out / 'text').read_text() == 'before'
    fill_again = exchange_folder(out)
    with fill_again as exchange:
        exchange.new.mkdir(parents=True)
        (exchange.new / 'text').write_text('after')
        exchange.accept()
    assert (out / 'text').read_text() == 'after'
