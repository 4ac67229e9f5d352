"""Reads workspaces (`go.work`): modules that use each other's files instead of released versions.

A cell is built with one go.mod, so `replace` lines in it take the place of the workspace
(https://go.dev/ref/mod#workspaces, https://go.dev/ref/mod#go-mod-file-replace).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from coevo.languages.golang.reading.module_paths import locate_go_mod, parse_module_path

_COMMENT = re.compile(r'//.*')
_BLOCK = re.compile(r'^[ \t]*(\w+)[ \t]*\(([^)]*)\)', re.MULTILINE)


def list_module_folders(go_work: bytes) -> tuple[str, ...]:
    """Return the folders of the modules that a go.work uses, in order.

    Folders outside of the folder of the go.work are left out.
    """
    words = (line.strip('"`') for line in _list_arguments(go_work, 'use'))
    folders = (posixpath.normpath(word) for word in words)
    return tuple(
        folder for folder in folders if folder != '..' and not folder.startswith(('../', '/'))
    )


def add_replacements(texts: Mapping[str, bytes], go_work: bytes) -> dict[str, bytes]:
    """Return all files, with `replace` lines in each go.mod for other modules of the workspace.

    Modules that a go.mod already replaces are left as they are.

    texts  go.mod and other files by path
    """
    extended = dict(texts)
    for module in list_module_folders(go_work):
        lines = [
            f'replace {path} => {where}\n'
            for path, where in list_replacements(module, texts, go_work)
        ]
        if lines:
            extended[locate_go_mod(module)] += ''.join(['\n\n', *lines]).encode()
    return extended


def list_replacements(
    module: str, texts: Mapping[str, bytes], go_work: bytes
) -> tuple[tuple[str, str], ...]:
    """Return the modules that a module of a workspace must `replace`, as path and relative folder.

    Left out are those that its go.mod already replaces. () if the workspace does not use it.

    module  its folder
    texts   go.mod files by path
    """
    beside = {
        used_folder: texts[locate_go_mod(used_folder)]
        for used_folder in list_module_folders(go_work)
        if locate_go_mod(used_folder) in texts
    }
    own = beside.pop(module, None)
    if own is None:
        return ()
    stated = {line.split()[0] for line in _list_arguments(own, 'replace')}
    paths = {folder: parse_module_path(text) for folder, text in sorted(beside.items())}
    return tuple(
        (path, _make_relative(folder, module))
        for folder, path in paths.items()
        if path and path not in stated
    )


def _make_relative(folder: str, module: str) -> str:
    inner = posixpath.relpath(folder, module)
    return inner if inner.startswith('..') else f'./{inner}'


def _list_arguments(file: bytes, verb: str) -> Iterator[str]:
    """Yield what follows a verb such as `use` or `replace`, line by line, without comments.

    The verb may stand on the line itself or before a block in brackets. Lines of blocks come first.
    """
    text = _COMMENT.sub('', file.decode(errors='replace'))
    for block in _BLOCK.finditer(text):
        if block[1] == verb:
            yield from (line.strip() for line in block[2].splitlines() if line.strip())
    for line in _BLOCK.sub('', text).splitlines():
        words = line.split(maxsplit=1)  # a blank or a tab separates them
        if len(words) == 2 and words[0] == verb:
            yield words[1].strip()
