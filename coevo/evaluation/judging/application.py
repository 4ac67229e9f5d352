"""Strict application of a submitted patch: it may change the task's test file and nothing else."""

from __future__ import annotations

import gc
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.judging.unified_diffs import DiffSection, MalformedDiff, parse_sections
from coevo.evaluation.outcomes import Detail
from coevo.git.patches import is_text
from coevo.git.process import ENVIRONMENT
from coevo.languages.reading import Side
from coevo.languages.table import (
    detect_file_language,
    get_reading,
    get_reading_of_file,
    get_surgery,
)

# The size limit of patches and files. Test files written by people are far smaller.
MOST_BYTES = 1 << 20

_SYMLINK, _SUBMODULE = b'120000', b'160000'
_PLAIN = frozenset({b'100644', b'100755'})

# Git applies every patch to this one file in an empty folder, so that no file name in a patch is
# ever used as a path.
_FILE = b'file'


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The reason why a submission cannot be graded; `message` explains it to a person."""

    detail: Detail
    message: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedFile:
    """The test file after the patch; `content` is None if the patch deletes the file."""

    content: bytes | None


def find_refusal(
    patch: bytes | None, path: str, production: Collection[str] = ()
) -> Refusal | None:
    """Return why a patch is refused whatever file it would be applied to; None if it is not.

    production  files that are production code in addition to all that is under any src/main
    """
    read = _parse_section(patch, path, production)
    return read if isinstance(read, Refusal) else None


def apply_patch(
    patch: bytes | None, path: str, start: bytes | None, production: Collection[str] = ()
) -> AppliedFile | Refusal:
    """Apply a patch to the test file of the start state (None: absent), or return a refusal.

    As with `git apply`, hunks may be at other lines than their headers say, but their context must
    exist.
    """
    read = _parse_section(patch, path, production)
    applied = read if isinstance(read, Refusal) else apply_section(read, start)
    if isinstance(applied, Refusal) or applied.content is None:
        return applied
    return find_unreadable_refusal(path, applied.content) or applied


def find_file_refusal(file: bytes, path: str) -> Refusal | None:
    """Return why a whole file that replaces the test file is refused; None if it is not."""
    if len(file) > MOST_BYTES:
        return Refusal(detail=Detail.TOO_LARGE, message=f'{len(file)} bytes, at most {MOST_BYTES}')
    return find_unreadable_refusal(path, file)


def replace_file(file: bytes, path: str, start: bytes | None) -> AppliedFile | Refusal:
    """Put a submitted whole file in the place of the test file, or return why it is refused."""
    refusal = find_file_refusal(file, path)
    if refusal is not None:
        return refusal
    if file == start:
        return Refusal(detail=Detail.EMPTY, message='the file is unchanged from the start state')
    return AppliedFile(content=file)


def refuse_by_language(
    made: AppliedFile | Refusal, path: str, own: Sequence[bytes | None]
) -> AppliedFile | Refusal:
    """Refuse an applied file if its language does not accept its content; else return it unchanged.

    own  the project's own versions of the file, whose content is always accepted
    """
    if isinstance(made, Refusal) or made.content is None:
        return made
    reason = get_reading_of_file(path).explain_refusal(
        made.content, [original for original in own if original is not None]
    )
    return made if reason is None else Refusal(detail=Detail.NOT_ACCEPTED, message=reason)


def undo_patch(patch: str, path: str, new: bytes | None) -> bytes | None:
    """Return the file as it was before a released patch, given the file `new` that the patch made.

    An empty patch changes nothing. None is an absent file.
    Raises: ValueError if the patch does not lead to `new`, or is not about `path`.
    """
    if not patch:
        return new
    (section,) = parse_sections(patch.encode('utf-8', 'surrogateescape'))
    if not section.is_about(path):
        raise ValueError(f'the patch is not about {path}')
    return _git_apply(section, new, reverse=True)


def apply_released_patch(
    patch: str, contents: Mapping[str, bytes | None]
) -> dict[str, bytes | None]:
    """Apply a released patch to files, and return them by path.

    Raises: ValueError unless the patch changes each of these files and no other.
    """
    diff_sections = parse_sections(patch.encode('utf-8', 'surrogateescape'))
    patched_files: dict[str, bytes | None] = {}
    for path, content in contents.items():
        about = [section for section in diff_sections if section.is_about(path)]
        if len(about) != 1 or about[0].moves or content is None:
            raise ValueError(f'the patch is not about {path}')
        patched_files[path] = _git_apply(about[0], content)
    if len(diff_sections) != len(patched_files):
        raise ValueError('the patch is about files that are no siblings')
    return patched_files


# -- checks before a patch is applied --------------------------------------------------------------


def _parse_section(
    patch: bytes | None, path: str, production: Collection[str]
) -> DiffSection | Refusal:
    """Return the section about the test file, or a refusal if the patch changes anything else."""
    if patch is None:
        return Refusal(detail=Detail.NO_PREDICTION)
    if len(patch) > MOST_BYTES:
        return Refusal(detail=Detail.TOO_LARGE, message=f'{len(patch)} bytes, at most {MOST_BYTES}')
    if not patch.strip():
        return Refusal(detail=Detail.EMPTY)
    try:
        diff_sections = parse_sections(patch)
    except MalformedDiff as error:
        return Refusal(detail=Detail.MALFORMED, message=str(error))
    if not diff_sections:
        return Refusal(detail=Detail.MALFORMED, message='it is not a unified diff')
    for section in diff_sections:
        detail = _find_violation(section, path, production)
        if detail is not None:
            return Refusal(detail=detail, message=section.format_name())
    if len(diff_sections) > 1:
        return Refusal(detail=Detail.MALFORMED, message='it changes the file twice')
    (section,) = diff_sections
    if not (section.hunks or section.binary or section.created or section.deleted):
        return Refusal(detail=Detail.EMPTY)
    return section


def _find_violation(section: DiffSection, path: str, production: Collection[str]) -> Detail | None:
    kind = _find_kind_violation(section)
    if kind is None and not section.is_about(path):
        return _classify_other_file(section, path, production)
    return kind or _find_content_violation(section)


def find_section_violation(section: DiffSection) -> Detail | None:
    """Return why a section is refused whatever file it is about; None if it is not."""
    return _find_kind_violation(section) or _find_content_violation(section)


def _find_kind_violation(section: DiffSection) -> Detail | None:
    if _SUBMODULE in section.modes:
        return Detail.SUBMODULE
    if _SYMLINK in section.modes:
        return Detail.SYMLINK
    return Detail.RENAME if section.moves else None


def _find_content_violation(section: DiffSection) -> Detail | None:
    if section.mode_changes or not section.modes <= _PLAIN:
        return Detail.FILE_MODE
    return Detail.BINARY if section.binary == b'' else None


def _classify_other_file(section: DiffSection, path: str, production: Collection[str]) -> Detail:
    """Return PRODUCTION_CODE if a patch changes production code in another file, else OTHER_FILE.

    path  the path of the test file, which determines the language
    """
    names = section.format_name().removeprefix('a/')
    placement = get_reading_of_file(path).classify_path(names)
    ours = names in production or (placement is not None and placement.side is Side.SOURCE)
    return Detail.PRODUCTION_CODE if ours else Detail.OTHER_FILE


# -- application -----------------------------------------------------------------------------------


def apply_section(section: DiffSection, start: bytes | None) -> AppliedFile | Refusal:
    """Apply one section of a patch to a file (None: absent), or return why it is refused."""
    try:
        content = _git_apply(section, start)
    except ValueError as error:
        return Refusal(detail=_explain_failure(section, start), message=str(error))
    if section.binary is not None and is_text(start) and is_text(content):
        return Refusal(detail=Detail.BINARY, message='the file is text')
    return AppliedFile(content=content)


def find_unreadable_refusal(path: str, file: bytes) -> Refusal | None:
    """Return why a source file cannot be read by coevo's parser; None if it can."""
    if b'\0' in file:
        return Refusal(detail=Detail.BINARY, message='the file would contain a NUL byte')
    if not is_readable(path, file):
        return Refusal(
            detail=Detail.TOO_LARGE, message='the file is nested too deeply or is too long'
        )
    return None


def _explain_failure(section: DiffSection, start: bytes | None) -> Detail:
    """Return LINE_ENDS if a section would apply with Unix line ends, else DOES_NOT_APPLY."""
    if start is None or section.binary is not None:
        return Detail.DOES_NOT_APPLY
    plain = DiffSection(
        old=section.old, new=section.new, hunks=[_convert_line_ends(h) for h in section.hunks]
    )
    try:
        _git_apply(plain, _convert_line_ends(start))
    except ValueError:
        return Detail.DOES_NOT_APPLY
    return Detail.LINE_ENDS


def _convert_line_ends(text: bytes) -> bytes:
    return text.replace(b'\r\n', b'\n')


def _git_apply(
    section: DiffSection, content: bytes | None, *, reverse: bool = False
) -> bytes | None:
    """Return the file after `git apply`; None is an absent file, before and after.

    reverse  whether to undo the section
    Raises: ValueError, with Git's message, if the section does not apply.
    """
    with tempfile.TemporaryDirectory(prefix='coevo-') as folder:
        file = Path(folder, os.fsdecode(_FILE))  # own name: a constant
        if content is not None:
            file.write_bytes(content)
        done = subprocess.run(
            ['git', 'apply', '--whitespace=nowarn', *(['--reverse'] if reverse else []), '-'],
            input=_render_patch(section),
            cwd=folder,
            capture_output=True,
            check=False,
            env={**ENVIRONMENT, 'GIT_CEILING_DIRECTORIES': str(Path(folder).parent)},
        )
        if done.returncode:
            lines = done.stderr.decode('utf-8', 'replace').splitlines()
            raise ValueError(next((line for line in lines if line.strip()), 'it does not apply'))
        return file.read_bytes() if file.is_file() else None


def _render_patch(section: DiffSection) -> bytes:
    """Return the section under coevo's own header, so that what was checked is applied."""
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


# Check whether coevo's parser can read a submitted file, since no patch may stop an evaluation.
#
# The parsers limit what they read, here and in the miner. A file that is long or deeply nested is
# in addition parsed in a process of its own first, within limits: a submission may be hostile, and
# an unforeseen construct may take much time or exhaust the stack.

# A file below both limits is always read within seconds and is never nested too deeply.
PLAIN_BYTES, PLAIN_DEPTH = 1 << 16, 100

# The longest test files seen so far (250 kB) take 1 s; 20,000 tests of one line each take 4 to 8 s.
CPU_SECONDS = 60

_BRACKET = re.compile(rb'([({\[])|[)}\]]')


def is_readable(path: str, content: bytes, cpu_seconds: int = CPU_SECONDS) -> bool:
    """Return whether coevo's parser reads the file within its limits.

    A long file is parsed in a process of its own, for at most `cpu_seconds`.
    """
    if len(content) <= PLAIN_BYTES and _measure_depth(content) <= PLAIN_DEPTH:
        return not get_reading(detect_file_language(path)).parse(content).unreadable
    done = subprocess.run(
        [sys.executable, '-m', __name__, str(cpu_seconds), detect_file_language(path)],
        input=content,
        capture_output=True,
        check=False,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
    )
    return done.returncode == 0


def _measure_depth(content: bytes) -> int:
    """Return the most brackets that are open at once; those in comments and strings count, too."""
    depth = most = 0
    for bracket in _BRACKET.finditer(content):
        depth = depth + 1 if bracket[1] else max(0, depth - 1)
        most = max(most, depth)
    return most


def _exit_unless_stdin_is_readable() -> None:
    seconds, language = int(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    content = sys.stdin.buffer.read()
    gc.disable()  # all objects live until the process ends
    get_surgery(language).list_other_tests(content, [])
    if get_reading(language).parse(content).unreadable:
        raise SystemExit(1)


if __name__ == '__main__':
    _exit_unless_stdin_is_readable()
