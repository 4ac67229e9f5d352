"""Unified diffs that Git prints and `git apply` accepts, independent of the user's settings.

Content that is not UTF-8 text becomes a binary patch, so that a patch is always a string.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository

_OPTIONS = (
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    '--no-relative',
    '--full-index',
    '--text',
    '--unified=3',
    '--inter-hunk-context=0',
    '--indent-heuristic',
    '--src-prefix=a/',
    '--dst-prefix=b/',
    '--submodule=short',
    '--ignore-submodules=all',
)
# Patches that are kept list each path separately. Measured diffs follow renames and count the lines
# that a plain `git diff` shows.
_PATCH_OPTIONS = ('--no-renames', '--diff-algorithm=histogram')
_MEASURE_OPTIONS = ('--find-renames=50%', '-l200', '--diff-algorithm=myers')
_SETTINGS = (
    'core.quotePath=true',
    'core.attributesFile=/dev/null',
    # the empty tree, so that attributes of HEAD do not apply
    'attr.tree=4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    'diff.noprefix=false',
    'diff.mnemonicPrefix=false',
    'diff.orderFile=/dev/null',
    'diff.suppressBlankEmpty=false',
)
_CONFIGURED = tuple(word for setting in _SETTINGS for word in ('-c', setting))
_PATHS_AT_ONCE = 500
_NO_BLOB = '0' * 40
_ENDS = re.compile(rb'^index ([0-9a-f]+)\.\.([0-9a-f]+).*\n(?:(?:---|\+\+\+) .*\n)*', re.MULTILINE)
_BLOCK = 65535  # limit of a stored deflate block
_LINE = 52  # content bytes per line of a binary patch


def make_file_patch(
    path: str, old: bytes | str | None, new: bytes | str | None, mode: str = '100644'
) -> str:
    """Return the patch between two contents of a file; None is an absent file.

    The patch of equal contents is empty.
    """
    ends = [end.encode() if isinstance(end, str) else end for end in (old, new)]
    if ends[0] == ends[1]:
        return ''
    if not all(map(is_text, ends)):
        modes = [None if end is None else mode for end in ends]
        return _make_binary_patch(path, (modes[0], ends[0]), (modes[1], ends[1]))
    with tempfile.TemporaryDirectory(prefix='coevo-') as folder:
        scratch = Repository(Path(folder))
        scratch.run_command('init', '--quiet', '--bare', '--template=', '--object-format=sha1')
        scratch.run_command(
            'fast-import', '--quiet', stdin=b''.join(_format_commits(path, ends, mode))
        )
        return _make_text_patch(scratch, 'refs/heads/0', 'refs/heads/1', [path])


def make_tree_patch(repository: Repository, old: str, new: str, paths: Collection[str]) -> str:
    """Return the patch of some files between two revisions.

    Text files come first, then binary ones, both sorted by path. Files that do not differ are left
    out.
    """
    wanted = set(paths)
    texts, binaries = [], []
    for change in repository.list_changes(old, new):
        if change.path in wanted:
            ends = [_load_end(repository, rev, change.path) for rev in (old, new)]
            if all(is_text(content) for _, content in ends):
                texts.append(change.path)
            else:
                binaries.append(_make_binary_patch(change.path, *ends))
    steps = range(0, len(texts), _PATHS_AT_ONCE)
    parts = [_make_text_patch(repository, old, new, texts[i : i + _PATHS_AT_ONCE]) for i in steps]
    return ''.join([*parts, *binaries])


End = tuple[str | None, bytes | None]
"""A file's mode and content; both are None if the file is absent."""


def _load_end(repository: Repository, rev: str, path: str) -> End:
    entry = repository.tree(rev).get(path)
    return (entry.mode, repository.blob(entry.oid)) if entry else (None, None)


def is_text(content: bytes | None) -> bool:
    """Return whether content is UTF-8 without NUL; True for an absent file."""
    try:
        return content is None or '\0' not in content.decode()
    except UnicodeDecodeError:
        return False


def _make_text_patch(repository: Repository, old: str, new: str, paths: list[str]) -> str:
    return _run_diff(repository, _PATCH_OPTIONS, old, new, paths).decode()


def _run_diff(
    repository: Repository, more: Sequence[str], old: str, new: str, paths: Sequence[str]
) -> bytes:
    options = (*_OPTIONS, *more)
    return repository.run_command(
        *('--literal-pathspecs', *_CONFIGURED, 'diff', *options, old, new, '--', *paths)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """The changed lines of a file that may have been renamed; hunks are the bytes that Git prints.

    old_oid, new_oid  ids of its blobs; None if the file is absent
    """

    old_oid: str | None
    new_oid: str | None
    hunks: bytes


def load_file_diffs(
    repository: Repository, old: str, new: str, paths: Sequence[str]
) -> tuple[FileDiff, ...]:
    """Return one diff for each of the files whose content differs between two revisions.

    A file that was renamed from another one of `paths` is compared with that one.
    Raises: Fatal if the clone is damaged.
    """
    # Content lines begin with ' ', '+' or '-', so a line that begins with `diff --git` is Git's
    # own.
    parts = (b'\n' + _run_diff(repository, _MEASURE_OPTIONS, old, new, paths)).split(
        b'\ndiff --git '
    )[1:]
    return tuple(
        FileDiff(old_oid=_parse_oid(ends[1]), new_oid=_parse_oid(ends[2]), hunks=part[ends.end() :])
        for part in parts
        if (ends := _ENDS.search(part)) is not None
    )


def _parse_oid(text: bytes) -> str | None:
    return text.decode() if text.strip(b'0') else None


def _format_commits(path: str, ends: Iterable[bytes | None], mode: str) -> Iterator[bytes]:
    """Yield input for `git fast-import`: a branch for each end, with the one file or none."""
    for branch, content in enumerate(ends):
        yield f'commit refs/heads/{branch}\ncommitter a <a> 0 +0000\ndata 0\n'.encode()
        if content is not None:
            yield f'M {mode} inline {quote_path(path, always=True)}\n'.encode()
            yield b'data %d\n%b\n' % (len(content), content)


def _make_binary_patch(path: str, old: End, new: End) -> str:
    lines = [f'diff --git {quote_path("a/" + path)} {quote_path("b/" + path)}']
    mode = ''
    if old[0] is None:
        lines.append(f'new file mode {new[0]}')
    elif new[0] is None:
        lines.append(f'deleted file mode {old[0]}')
    elif old[0] != new[0]:
        lines += [f'old mode {old[0]}', f'new mode {new[0]}']
    else:
        mode = f' {new[0]}'
    lines += [
        f'index {_compute_blob_id(old[1])}..{_compute_blob_id(new[1])}{mode}',
        'GIT binary patch',
    ]
    return '\n'.join(
        [*lines, *format_literal_lines(new[1] or b''), *format_literal_lines(old[1] or b''), '']
    )


def format_literal_lines(content: bytes) -> Iterator[str]:
    """Yield the `literal` section of a binary patch for a content.

    The content is deflated without compression, which gives the same bytes with every zlib version,
    and then written in base 85.
    """
    yield f'literal {len(content)}'
    stored = _deflate_without_compression(content)
    for start in range(0, len(stored), _LINE):
        piece = stored[start : start + _LINE]
        length = (
            chr(ord('A') + len(piece) - 1) if len(piece) <= 26 else chr(ord('a') + len(piece) - 27)
        )
        yield length + base64.b85encode(piece, pad=True).decode()
    yield ''


def _deflate_without_compression(content: bytes) -> bytes:
    """Return a zlib stream (RFC 1950, 1951) of stored blocks."""
    starts = range(0, len(content), _BLOCK) or (0,)
    parts = [b'\x78\x01']
    for start in starts:
        block = content[start : start + _BLOCK]
        last = start + _BLOCK >= len(content)
        parts.append(struct.pack('<BHH', last, len(block), len(block) ^ 0xFFFF) + block)
    return b''.join([*parts, struct.pack('>I', zlib.adler32(content))])


def _compute_blob_id(content: bytes | None) -> str:
    if content is None:
        return _NO_BLOB
    return hashlib.sha1(b'blob %d\0%b' % (len(content), content), usedforsecurity=False).hexdigest()


def quote_path(path: str, *, always: bool = False) -> str:
    """Return a path as Git writes and reads it: quoted with octal escapes if a byte needs that.

    always  whether to quote it even if no byte needs that
    """
    raw = path.encode('utf-8', 'surrogateescape')
    if not always and all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in raw):
        return path
    escaped = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f'\\{byte:03o}' for byte in raw
    )
    return f'"{"".join(escaped)}"'
