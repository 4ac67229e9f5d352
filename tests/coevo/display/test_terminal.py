"""What is printed of strangers' data steers no terminal, and a stream that fails ends in a sentence."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.display.console import open_console
from coevo.display.terminal import GuardedStream, escape_controls
from tests.coevo.snapshots.test_forms import edit

HOSTILE = "'a' || chr(27) || '[2J' || chr(8238) || chr(155) || 'b'"
STEERING = '\x1b\u202e\x9b'


@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        ('\x1b[31mred', r'\x1b[31mred'),
        ('\u202eevil\u2066', r'\u202eevil\u2066'),
        ('\x9b2J\x7f\r\x00', r'\x9b2J\x7f\r\x00'),
        ('tab\tand line\nfeed', 'tab\tand line\nfeed'),
        ('Ünïcode \N{GREEK SMALL LETTER PI} 漢字', 'Ünïcode \N{GREEK SMALL LETTER PI} 漢字'),
    ],
)
def test_terminal_control_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_character_missing_from_the_encoding_is_printed_as_an_escape() -> None:
    raw = io.TextIOWrapper(io.BytesIO(), encoding='ascii')
    print('Ü \udc80', file=GuardedStream(raw))
    raw.flush()
    assert raw.buffer.getvalue() == b'\\xdc \\udc80\n'  # type: ignore[attr-defined]


def test_verify_and_query_print_no_control_characters_of_a_snapshot(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(snapshot, 'methods', test_method=HOSTILE)
    for words in (['verify', str(snapshot)], ['query', str(snapshot), 'FROM methods']):
        main(words)
        said = capsys.readouterr()
        assert not set(STEERING) & set(said.out + said.err)
        assert said.out


@pytest.mark.parametrize(
    'sql', ['SELECT 1 AS "\x1b[2J\u202e"', 'SELECT chr(27) || chr(8238) AS x', '"\x1b[2J"']
)
def test_query_escapes_control_characters_in_headers_cells_and_errors(
    snapshot: Path, sql: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(['query', str(snapshot), sql])
    said = capsys.readouterr()
    assert not set(STEERING) & set(said.out + said.err)
    assert '\\x1b' in said.out + said.err


def test_csv_output_keeps_control_characters_unescaped(
    snapshot: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    main(['query', str(snapshot), 'SELECT chr(27) AS x', '--format', 'csv'])
    assert capsysbinary.readouterr().out == b'x\n\x1b\n'


def test_console_escapes_control_characters_in_printed_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    open_console().print('\x1b[2J\u202e', markup=False, highlight=False)
    assert capsys.readouterr().out == '\\x1b[2J\\u202e\n'


def run(command: str, snapshot: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line for the shell, where `coevo` is the command and $S the snapshot."""
    line = f'coevo() {{ "{sys.executable}" -c "from coevo.command.main import main; raise SystemExit(main())" "$@"; }}'
    return subprocess.run(
        ['bash', '-o', 'pipefail', '-c', f'{line}\n{command}'],
        env={**os.environ, 'S': str(snapshot), **environment},
        capture_output=True,
        text=True,
        errors='replace',
        check=False,
    )


STREAMS = [
    ('coevo query "$S" >&-', 0),
    ('coevo query "$S" 2>&-', 0),
    ('coevo query "$S" <&- >&- 2>&-', 0),
    ('coevo verify /nowhere >&- 2>&-', 2),
    ('coevo query "$S" --format csv >&-', 0),
    ('coevo prompt "$S" x >&-', 2),
    ('coevo query "$S" "FROM range(100000)" --format csv | head -n 1', 0),
    ('coevo query "$S" "FROM range(100000)" | true', 0),
    ('coevo query "$S" >/dev/full', 2),
    ('coevo query "$S" --format csv >/dev/full', 2),
    ('coevo verify "$S" >/dev/full', 2),
    ('coevo query "$S" --out /dev/full/x', 2),
    ('coevo verify /nowhere 2>/dev/full', 2),
    ('coevo --help >/dev/full', 0),  # argparse does not mind
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(('command', 'status'), STREAMS)
def test_closed_or_full_stream_ends_without_a_traceback(
    made: Path, command: str, status: int
) -> None:
    done = run(command, made)
    assert 'Traceback' not in done.stderr
    assert 'Exception ignored' not in done.stderr
    assert done.stderr.count('\n') <= 1, done.stderr
    assert done.returncode == status, done.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    'environment',
    [
        {'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'},
        pytest.param({'PYTHONIOENCODING': 'ascii'}, marks=pytest.mark.slow),
        pytest.param({'TERM': 'dumb'}, marks=pytest.mark.slow),
        pytest.param({'TERM': ''}, marks=pytest.mark.slow),
        pytest.param({'COLUMNS': '0'}, marks=pytest.mark.slow),
        {'COLUMNS': '1'},
        pytest.param({'COLUMNS': 'x'}, marks=pytest.mark.slow),
        pytest.param({'HOME': ''}, marks=pytest.mark.slow),
        {'HOME': '/nowhere'},
        pytest.param({'TMPDIR': '/nowhere'}, marks=pytest.mark.slow),
    ],
)
def test_query_and_verify_succeed_in_an_odd_environment(
    made: Path, environment: dict[str, str]
) -> None:
    done = run('coevo query "$S" "SELECT \'Ü\' AS x" && coevo verify "$S"', made, **environment)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
