"""A submitted patch, strictly: it may change the task's test file and nothing else."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.judging.parser_guard import is_readable
from coevo.evaluation.judging.unified_diffs import MalformedDiff
from coevo.evaluation.judging.unified_diffs import Section
from coevo.evaluation.judging.unified_diffs import sections
from coevo.evaluation.outcomes import Detail
from coevo.git.patches import is_text
from coevo.git.process import ENVIRONMENT
from coevo.languages.layout import Side
from coevo.languages.table import reading_at

# Far more than any test file that a person wrote.
MOST_BYTES = 1 << 20

_SYMLINK, _SUBMODULE = b'120000', b'160000'
_PLAIN = frozenset({b'100644', b'100755'})

# The one file in the one folder where Git applies anything: no name of a patch reaches it.
_FILE = b'file'


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a patch cannot be judged; `said` is for a person."""

    detail: Detail
    said: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The test file with the patch; None where the patch deletes it."""

    content: bytes | None


def unacceptable(
    patch: bytes | None, path: str, production: Collection[str] = ()
) -> Refusal | None:
    """Why a patch is refused whatever it would be applied to; None if it is not.

    production  files that are production code beside what lies under any src/main
    """
    read = _read(patch, path, production)
    return read if isinstance(read, Refusal) else None


def apply(
    patch: bytes | None, path: str, start: bytes | None, production: Collection[str] = ()
) -> Applied | Refusal:
    """A patch applied to the test file at the start (None: absent), or why it is refused.

    Hunks may stand at other lines than they say, as `git apply` allows; their context must be there.
    """
    read = _read(patch, path, production)
    return read if isinstance(read, Refusal) else _applied(path, read, start)


def unacceptable_file(file: bytes, path: str) -> Refusal | None:
    """Why a whole file that is handed in for the test file is refused; None if it is not."""
    if len(file) > MOST_BYTES:
        return Refusal(detail=Detail.TOO_LARGE, said=f'{len(file)} bytes, at most {MOST_BYTES}')
    return _unreadable(path, file)


def replaced(file: bytes, path: str, start: bytes | None) -> Applied | Refusal:
    """A whole file in the place of the test file, or why it is refused."""
    refusal = unacceptable_file(file, path)
    if refusal is not None:
        return refusal
    if file == start:
        return Refusal(detail=Detail.EMPTY, said='the file is as it is at the start')
    return Applied(content=file)


def accepted(made: Applied | Refusal, path: str, own: Sequence[bytes | None]) -> Applied | Refusal:
    """The same, but for a file that brings what its language refuses; own: the project's files in its place."""
    if isinstance(made, Refusal) or made.content is None:
        return made
    said = reading_at(path).refused_in(made.content, [one for one in own if one is not None])
    return made if said is None else Refusal(detail=Detail.NOT_ACCEPTED, said=said)


def reverted(patch: str, path: str, new: bytes | None) -> bytes | None:
    """The file from which a released patch leads to `new`; ValueError where it does not.

    An empty patch changes nothing.
    """
    if not patch:
        return new
    (section,) = sections(patch.encode('utf-8', 'surrogateescape'))
    if not section.is_about(path):
        raise ValueError(f'the patch is not about {path}')
    return _git_apply(section, new, reverse=True)


def patched(patch: str, contents: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Files after a released patch, which is about each of them and nothing else; else ValueError."""
    found = sections(patch.encode('utf-8', 'surrogateescape'))
    made: dict[str, bytes | None] = {}
    for path, content in contents.items():
        about = [section for section in found if section.is_about(path)]
        if len(about) != 1 or about[0].moves or content is None:
            raise ValueError(f'the patch is not about {path}')
        made[path] = _git_apply(about[0], content)
    if len(found) != len(made):
        raise ValueError('the patch is about files that are no siblings')
    return made


# -- what a patch may not say ----------------------------------------------------------------------


def _read(patch: bytes | None, path: str, production: Collection[str]) -> Section | Refusal:
    """What a patch says of the test file, if it says that alone."""
    if patch is None:
        return Refusal(detail=Detail.NO_PREDICTION)
    if len(patch) > MOST_BYTES:
        return Refusal(detail=Detail.TOO_LARGE, said=f'{len(patch)} bytes, at most {MOST_BYTES}')
    if not patch.strip():
        return Refusal(detail=Detail.EMPTY)
    try:
        found = sections(patch)
    except MalformedDiff as error:
        return Refusal(detail=Detail.MALFORMED, said=str(error))
    if not found:
        return Refusal(detail=Detail.MALFORMED, said='there is no unified diff in it')
    for section in found:
        detail = _forbidden(section, path, production)
        if detail is not None:
            return Refusal(detail=detail, said=section.names())
    if len(found) > 1:
        return Refusal(detail=Detail.MALFORMED, said='it changes the file twice')
    (section,) = found
    if not (section.hunks or section.binary or section.created or section.deleted):
        return Refusal(detail=Detail.EMPTY)
    return section


def _forbidden(section: Section, path: str, production: Collection[str]) -> Detail | None:
    if _SUBMODULE in section.modes:
        return Detail.SUBMODULE
    if _SYMLINK in section.modes:
        return Detail.SYMLINK
    if section.moves:
        return Detail.RENAME
    if not section.is_about(path):
        return _whose(section, path, production)
    if section.mode_changes or not section.modes <= _PLAIN:
        return Detail.FILE_MODE
    return Detail.BINARY if section.binary == b'' else None


def _whose(section: Section, path: str, production: Collection[str]) -> Detail:
    """path  the test file's, which says what language is spoken"""
    names = section.names().removeprefix('a/')
    found = reading_at(path).placed(names)
    ours = names in production or (found is not None and found.side is Side.SOURCE)
    return Detail.PRODUCTION_CODE if ours else Detail.OTHER_FILE


# -- what it does ----------------------------------------------------------------------------------


def _applied(path: str, section: Section, start: bytes | None) -> Applied | Refusal:
    try:
        made = _git_apply(section, start)
    except ValueError as error:
        return Refusal(detail=_why_not(section, start), said=str(error))
    if section.binary is not None and is_text(start) and is_text(made):
        return Refusal(detail=Detail.BINARY, said='the file is text')
    return (None if made is None else _unreadable(path, made)) or Applied(content=made)


def _unreadable(path: str, file: bytes) -> Refusal | None:
    if b'\0' in file:
        return Refusal(detail=Detail.BINARY, said='the file would hold a NUL')
    if not is_readable(path, file):
        return Refusal(detail=Detail.TOO_LARGE, said='the file is nested too deeply, or too long')
    return None


def _why_not(section: Section, start: bytes | None) -> Detail:
    """Whether the ends of lines alone are why a patch does not apply."""
    if start is None or section.binary is not None:
        return Detail.DOES_NOT_APPLY
    plain = Section(
        old=section.old, new=section.new, hunks=[_with_line_feeds(h) for h in section.hunks]
    )
    try:
        _git_apply(plain, _with_line_feeds(start))
    except ValueError:
        return Detail.DOES_NOT_APPLY
    return Detail.LINE_ENDS


def _with_line_feeds(text: bytes) -> bytes:
    return text.replace(b'\r\n', b'\n')


def _git_apply(section: Section, content: bytes | None, *, reverse: bool = False) -> bytes | None:
    """What Git makes of a file; ValueError with its complaint."""
    with tempfile.TemporaryDirectory(prefix='coevo-') as folder:
        file = Path(folder, os.fsdecode(_FILE))  # own name: a constant
        if content is not None:
            file.write_bytes(content)
        done = subprocess.run(
            ['git', 'apply', '--whitespace=nowarn', *(['--reverse'] if reverse else []), '-'],
            input=_about_file(section),
            cwd=folder,
            capture_output=True,
            check=False,
            env={**ENVIRONMENT, 'GIT_CEILING_DIRECTORIES': str(Path(folder).parent)},
        )
        if done.returncode:
            lines = done.stderr.decode('utf-8', 'replace').splitlines()
            raise ValueError(next((one for one in lines if one.strip()), 'it does not apply'))
        return file.read_bytes() if file.is_file() else None


def _about_file(section: Section) -> bytes:
    """The patch with our own header, so that what was looked at is what is applied."""
    modes = b''
    if section.created or section.deleted:
        modes = b'%b file mode 100644\n' % (b'new' if section.created else b'deleted')
    head = b'diff --git a/%b b/%b\n%b' % (_FILE, _FILE, modes)
    if section.binary is not None:
        return b'%b%b\n%b' % (head, section.index, section.binary)
    if not section.hunks:
        return head
    names = (
        b'/dev/null' if section.created else b'a/' + _FILE,
        b'/dev/null' if section.deleted else b'b/' + _FILE,
    )
    return b'%b--- %b\n+++ %b\n%b' % (head, *names, b''.join(section.hunks))
