"""A parser of unified diffs into the files that they claim to change, without trusting them.

Nothing is applied here. The line counts in the head of a hunk say where the hunk ends, so that no
line of a file is mistaken for a header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coevo.git.patches import quote_path

# Nine digits are enough: a file with more lines is refused for its size.
_HUNK = re.compile(rb'@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@')
_MODES = re.compile(rb'(?:old mode|new mode|new file mode|deleted file mode) (\d{6})\r?')
_INDEX = re.compile(rb'index [0-9a-f]+\.\.[0-9a-f]+(?: (\d{6}))?\r?')
_MOVES = (b'rename from ', b'rename to ', b'copy from ', b'copy to ')
_ESCAPE = re.compile(rb'\\([0-7]{3}|.)', re.DOTALL)
_LETTERS = {
    b'a': b'\a',
    b'b': b'\b',
    b't': b'\t',
    b'n': b'\n',
    b'v': b'\v',
    b'f': b'\f',
    b'r': b'\r',
    b'"': b'"',
    b'\\': b'\\',
}

NOTHING = b'/dev/null'


class MalformedDiff(ValueError):
    """The text is no unified diff, or not a complete one."""


@dataclass(slots=True, kw_only=True)
class DiffSection:
    """A diff's statements about one file; names lack `a/` and `b/` and may be None.

    title   the text after `diff --git`; None if there is no such line
    modes   every file mode that is named
    moves   whether the diff says that the file was renamed or copied
    hunks   the hunks, unchanged
    binary  the lines of a `GIT binary patch`; empty if the diff gives no content; None for a text
            file
    """

    title: bytes | None = None
    old: bytes | None = None
    new: bytes | None = None
    modes: set[bytes] = field(default_factory=set)
    mode_changes: bool = False
    moves: bool = False
    created: bool = False
    deleted: bool = False
    hunks: list[bytes] = field(default_factory=list)
    index: bytes = b''
    binary: bytes | None = None

    @property
    def has_name_lines(self) -> bool:
        """True if the section has `---` and `+++` lines."""
        return self.old is not None

    def is_about(self, path: str) -> bool:
        """Return whether the section names this file and no other one."""
        raw = path.encode('utf-8', 'surrogateescape')
        if self.has_name_lines:
            names = {self.old, self.new} - {NOTHING}
            return bool(names) and names <= {raw, b'a/' + raw, b'b/' + raw}
        in_quotes = ' '.join(quote_path(f'{side}/{path}', always=True) for side in 'ab')
        return (self.title or b'').rstrip(b'\r') in (b'a/%b b/%b' % (raw, raw), in_quotes.encode())

    def find_path(self) -> str | None:
        """Return the path of the only file that the section names; None if it names two or none."""
        if self.has_name_lines:
            sides = ((self.old, b'a/'), (self.new, b'b/'))
            names = {name.removeprefix(side) for name, side in sides if name not in (None, NOTHING)}
            path = names.pop() if len(names) == 1 else None
        else:
            path = _parse_title(self.title or b'')
        return None if path is None else path.decode('utf-8', 'surrogateescape')

    def format_name(self) -> str:
        """Return the name of the file for messages."""
        known = [name for name in (self.old, self.new) if name not in (None, NOTHING)]
        shown = known[-1] if known else (self.title or b'?')
        return (shown or b'?').decode('utf-8', 'replace').removeprefix('b/')


def parse_sections(patch: bytes) -> tuple[DiffSection, ...]:
    """Return the sections of a diff; text before, between and after them is ignored.

    Raises: MalformedDiff if a hunk is damaged.
    """
    return tuple(_DiffReader(patch).load_sections())


def list_patched_files(patch: str) -> tuple[str, ...]:
    """Return the paths of the files that a released patch changes, sorted.

    Raises: MalformedDiff if a hunk is damaged, or if a section does not name one file.
    """
    paths = {
        section.find_path() for section in parse_sections(patch.encode('utf-8', 'surrogateescape'))
    }
    if None in paths:
        raise MalformedDiff('a section does not name one file')
    return tuple(sorted(path for path in paths if path is not None))


class _DiffReader:
    def __init__(self, patch: bytes) -> None:
        self._lines = patch.split(b'\n')
        self._at = 0
        self._open: DiffSection | None = None

    def load_sections(self) -> Iterator[DiffSection]:
        """Yield the sections of the diff in order."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(b'diff --git '):
                yield from self._close_section()
                self._open = DiffSection(title=line.removeprefix(b'diff --git '))
            elif line.startswith(b'--- ') and self._peek_line().startswith(b'+++ '):
                if self._open is None or self._open.has_name_lines:
                    yield from self._close_section()
                    self._open = DiffSection()
                self._read_names(self._open, line, self._peek_line())
            elif self._open is not None:
                self._read_line(self._open, line)
            self._at += 1
        yield from self._close_section()

    def _close_section(self) -> Iterator[DiffSection]:
        if self._open is not None:
            yield self._open
        self._open = None

    def _peek_line(self) -> bytes:
        return self._lines[self._at + 1] if self._at + 1 < len(self._lines) else b''

    def _read_names(self, section: DiffSection, old: bytes, new: bytes) -> None:
        section.old, section.new = _parse_name(old[4:]), _parse_name(new[4:])
        section.created = section.created or section.old == NOTHING
        section.deleted = section.deleted or section.new == NOTHING
        self._at += 1

    def _read_line(self, section: DiffSection, line: bytes) -> None:
        modes = _MODES.fullmatch(line)
        index = _INDEX.fullmatch(line)
        if modes:
            section.modes.add(modes[1])
            section.mode_changes |= line.startswith((b'old mode', b'new mode'))
            section.created |= line.startswith(b'new file')
            section.deleted |= line.startswith(b'deleted file')
        elif index:
            section.index = line
            section.modes |= {index[1]} - {None}
        elif line.startswith(_MOVES):
            section.moves = True
        elif line.startswith(b'@@ ') and section.has_name_lines:
            section.hunks.append(self._parse_hunk(line))
        elif line.rstrip(b'\r') == b'GIT binary patch':
            section.binary = self._read_binary()
        elif line.startswith(b'Binary files '):
            section.binary = section.binary or b''

    def _parse_hunk(self, head: bytes) -> bytes:
        """Return a hunk up to its last line, as counted by its head.

        Raises: MalformedDiff if the hunk is shorter or longer than its head says.
        """
        counts = _HUNK.match(head)
        if counts is None:
            raise MalformedDiff(f'line {self._at + 1} is no head of a hunk')
        old, new = (1 if count is None else int(count) for count in counts.groups())
        start = self._at
        while old > 0 or new > 0:
            self._at += 1
            kind = self._lines[self._at][:1] if self._at < len(self._lines) else b'end'
            old -= kind in (b' ', b'-', b'', b'\r')
            new -= kind in (b' ', b'+', b'', b'\r')
            if old < 0 or new < 0 or kind not in (b' ', b'-', b'+', b'\\', b'', b'\r'):
                raise MalformedDiff(f'the hunk at line {start + 1} is not as long as its head says')
        while self._peek_line().startswith(b'\\'):
            self._at += 1
        return b'\n'.join(self._lines[start : self._at + 1]) + b'\n'

    def _read_binary(self) -> bytes:
        start = self._at
        while self._at + 1 < len(self._lines) and not self._peek_line().startswith(b'diff --git '):
            self._at += 1
        return b'\n'.join(self._lines[start : self._at + 1]) + b'\n'


def _parse_name(text: bytes) -> bytes:
    """Return the file name in a `---` or `+++` line, which may be quoted or followed by a time."""
    text = text.rstrip(b'\r')
    if text.startswith(b'"'):
        return _ESCAPE.sub(_unescape, text[1 : text.rindex(b'"')] if text.count(b'"') > 1 else text)
    return text.partition(b'\t')[0]


def _parse_title(title: bytes) -> bytes | None:
    """Return the path P of a title `a/P b/P`, in quotes or not; None if it has another form."""
    title = title.rstrip(b'\r')
    half = title[: len(title) // 2]
    if len(title) % 2 == 0 or title[len(half) : len(half) + 1] != b' ':
        return None
    names = [_parse_name(name) for name in (half, title[len(half) + 1 :])]
    first, second = (name[2:] for name in names)
    return first if first == second and names[0][:2] == b'a/' and names[1][:2] == b'b/' else None


def _unescape(found: re.Match[bytes]) -> bytes:
    """Return the byte that a Git escape means; an unknown escape stays as it is."""
    code = found[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) > 1 else _LETTERS.get(code, found[0])
