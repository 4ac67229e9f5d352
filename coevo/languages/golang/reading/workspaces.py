"""A workspace (`go.work`): modules of one tree that see each other as they lie, not as they were published.

A cell is built with one go.mod, so what the workspace says is said there, by `replace`
(https://go.dev/ref/mod#workspaces, https://go.dev/ref/mod#go-mod-file-replace).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from collections.abc import Mapping

from coevo.languages.golang.reading.module_paths import go_mod_of
from coevo.languages.golang.reading.module_paths import module_path

_COMMENT = re.compile(r'//.*')
_BLOCK = re.compile(r'^[ \t]*(\w+)[ \t]*\(([^)]*)\)', re.MULTILINE)


def used(go_work: bytes) -> tuple[str, ...]:
    """The folders of its modules below its own, in its order; '.' is its own."""
    words = (line.strip('"`') for line in _told(go_work, 'use'))
    folders = (posixpath.normpath(word) for word in words)
    return tuple(one for one in folders if one != '..' and not one.startswith(('../', '/')))


def joined(texts: Mapping[str, bytes], go_work: bytes) -> dict[str, bytes]:
    """Each go.mod by path, which replaces the modules beside it that it does not replace by itself."""
    found = dict(texts)
    for module in used(go_work):
        lines = [f'replace {path} => {where}\n' for path, where in replaced(module, texts, go_work)]
        if lines:
            found[go_mod_of(module)] += ''.join(['\n\n', *lines]).encode()
    return found


def replaced(
    module: str, texts: Mapping[str, bytes], go_work: bytes
) -> tuple[tuple[str, str], ...]:
    """What a module of a workspace takes from beside it: path and place, as a `replace` has them."""
    beside = {one: texts[go_mod_of(one)] for one in used(go_work) if go_mod_of(one) in texts}
    own = beside.pop(module, None)
    if own is None:
        return ()
    stated = {line.split()[0] for line in _told(own, 'replace')}
    paths = {folder: module_path(text) for folder, text in sorted(beside.items())}
    return tuple(
        (path, _relative(folder, module))
        for folder, path in paths.items()
        if path and path not in stated
    )


def _relative(folder: str, module: str) -> str:
    inner = posixpath.relpath(folder, module)
    return inner if inner.startswith('..') else f'./{inner}'


def _told(file: bytes, verb: str) -> Iterator[str]:
    """What stands behind a verb, line by line, whether alone or in a block."""
    text = _COMMENT.sub('', file.decode(errors='replace'))
    for found in _BLOCK.finditer(text):
        if found[1] == verb:
            yield from (line.strip() for line in found[2].splitlines() if line.strip())
    for line in _BLOCK.sub('', text).splitlines():
        word, _, rest = line.strip().partition(' ')
        if word == verb and rest.strip():
            yield rest.strip()
