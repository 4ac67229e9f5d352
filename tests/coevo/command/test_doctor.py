from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coevo.command.doctor import examine
from coevo.sandboxes import libfaketime


def test_says_what_to_do_about_everything_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    found = {finding.name: finding for finding in examine()}
    for name in ('git', 'Maven', 'bubblewrap'):
        assert not found[name].good
        assert 'install' in (found[name].advice or '')
        assert str(found[name]).startswith('MISSING ')
    assert str(found['Docker']).startswith('no ')
    assert 'still empty' in found['tool cache'].state


def test_a_tool_that_fails_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('git', 'bwrap'):
        (tmp_path / name).write_text('#!/bin/sh\n[ "$1" = --version ] && echo "tool 1.0"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path))
    found = {finding.name: finding for finding in examine()}
    assert found['git'].good
    assert 'cannot start a sandbox' in found['bubblewrap'].state


def test_every_finding_has_advice_exactly_where_something_is_wrong() -> None:
    for finding in examine():
        assert (finding.advice is None) == finding.good, finding


def test_libfaketime_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libfaketime, 'PLACES', ())
    (found,) = (finding for finding in examine() if finding.name == 'libfaketime')
    assert str(found).startswith('no ')
    assert 'apt install libfaketime' in (found.advice or '')


def test_what_refactoring_miner_lacks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path))
    monkeypatch.setenv('COEVO_JDKS', 'none')
    (found,) = (each for each in examine() if each.name.startswith('RefactoringMiner'))
    assert found.state == 'no jars in the tool cache and no JDK 17 or newer'
    assert not found.good
    assert not found.needed


def test_who_only_reads_snapshots_is_told_what_the_rest_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'coevo.languages.table', None)
    (found,) = (each for each in examine() if each.name == 'languages')
    assert str(found).startswith('MISSING ')
    assert found.advice == 'install coevo[evaluate]'
