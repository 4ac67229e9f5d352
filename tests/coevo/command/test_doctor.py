from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coevo.command.doctor import examine_machine
from coevo.sandboxes import clock


def test_doctor_gives_advice_for_every_missing_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    found = {finding.name: finding for finding in examine_machine()}
    for name in ('git', 'Maven', 'bubblewrap'):
        assert not found[name].good
        assert 'install' in (found[name].advice or '')
        assert str(found[name]).startswith('MISSING ')
    assert str(found['Docker']).startswith('no ')
    assert 'still empty' in found['tool cache'].state


def test_installed_bubblewrap_that_cannot_start_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('git', 'bwrap'):
        (tmp_path / name).write_text('#!/bin/sh\n[ "$1" = --version ] && echo "tool 1.0"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path))
    found = {finding.name: finding for finding in examine_machine()}
    assert found['git'].good
    assert 'cannot start a sandbox' in found['bubblewrap'].state


def test_doctor_finding_has_advice_exactly_if_it_is_not_good() -> None:
    for finding in examine_machine():
        assert (finding.advice is None) == finding.good, finding


def test_missing_libfaketime_is_reported_as_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, 'PLACES', ())
    (found,) = (finding for finding in examine_machine() if finding.name == 'libfaketime')
    assert str(found).startswith('no ')
    assert 'apt install libfaketime' in (found.advice or '')


def test_doctor_names_what_refactoring_miner_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path))
    monkeypatch.setenv('COEVO_JDKS', 'none')
    (found,) = (each for each in examine_machine() if each.name.startswith('RefactoringMiner'))
    assert found.state == 'no jars in the tool cache and no JDK 17 or newer'
    assert not found.good
    assert not found.needed


def test_missing_language_support_is_reported_with_the_extra_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'coevo.languages.table', None)
    (found,) = (each for each in examine_machine() if each.name == 'languages')
    assert str(found).startswith('MISSING ')
    assert '[evaluate]' in found.advice
    assert 'pip install' in found.advice
