"""The files of a cell whose code runs from byte code, whatever source texts are beside it.

In Python the sources are the code. To keep a test from identifying its cell by the texts, each
source has the text that is shown, with the byte code of the cell's own source. An import uses the
byte code, since its header has the date and size of the shown text
(https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation). A source that is not
shown has byte code alone. A shown source that the cell lacks cannot be imported.
"""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Callable, Mapping

from coevo.git.objects import LINK
from coevo.languages.packed_files import SECONDS, Files

_ABSENT = b'raise ModuleNotFoundError("No module named %r" % __name__, name=__name__)\n'
_PACKAGE = '__init__.py'

# Up to 3.6 the header of byte code has no flags (PEP 552).
_OLDEST_WITH_FLAGS = (3, 7)

Compile = Callable[[Mapping[str, bytes]], Mapping[str, bytes]]
"""From sources to their magic number and marshalled code, by path."""


def select_sources(files: Files, tests: frozenset[str]) -> dict[str, bytes]:
    """Return the Python files of a tree that belong to the code, by path, without links.

    tests  the paths that do not belong to it
    """
    return {
        path: text
        for path, (mode, text) in files.items()
        if path.endswith('.py') and path not in tests and mode != LINK
    }


def show_sources_beside_byte_code(
    files: Files,
    own: Mapping[str, bytes],
    shown: Mapping[str, bytes],
    feature: tuple[int, int],
    compiled: Compile,
) -> dict[str, tuple[str, bytes]]:
    """Return the files of a cell with its sources as byte code, beside the texts to show instead.

    files     of the cell
    own       its sources, which run, by path
    shown     the texts to show, by path; a path that `own` lacks raises ModuleNotFoundError if
              imported
    feature   the release of the interpreter
    compiled  compiles sources
    """
    others = {path: text for path, text in shown.items() if _may_be_shown(path, own, files)}
    code = compiled({**dict.fromkeys(others, _ABSENT), **own})
    shown_files = {path: entry for path, entry in files.items() if path not in own}
    for path in sorted({*own, *others}):
        text = _get_shown_text(path, shown)
        mode = files[path][0] if path in files else '100644'
        if text is None:
            shown_files[f'{path}c'] = _make_byte_code_entry(feature, b'', code[path])
        else:
            shown_files[path] = (mode, text)
            shown_files[_get_byte_code_path(path, feature)] = _make_byte_code_entry(
                feature, text, code[path]
            )
    return shown_files


def _get_shown_text(path: str, shown: Mapping[str, bytes]) -> bytes | None:
    """Return the text to show at a path; None if byte code alone has to be placed there.

    A package needs its `__init__.py` to be found, so this file is empty if none is shown.
    """
    empty = b'' if posixpath.basename(path) == _PACKAGE else None
    return shown.get(path, empty)


def _may_be_shown(path: str, own: Mapping[str, bytes], files: Files) -> bool:
    """Return whether a source can be shown that the cell lacks: it hides none of the cell's."""
    if path in files:
        return False
    folder = posixpath.dirname(path)
    if posixpath.basename(path) == _PACKAGE:
        return f'{folder}.py' not in own and not any(
            own_path.startswith(f'{folder}/') for own_path in own
        )
    stem = path.removesuffix('.py')
    return not any(own_path.startswith(f'{stem}/') for own_path in own)


def _get_byte_code_path(path: str, feature: tuple[int, int]) -> str:
    folder, name = posixpath.split(path)
    stem = name.removesuffix('.py')
    return posixpath.join(folder, '__pycache__', f'{stem}.cpython-{feature[0]}{feature[1]}.pyc')


def _make_byte_code_entry(feature: tuple[int, int], text: bytes, code: bytes) -> tuple[str, bytes]:
    """Return a byte code file (mode and content) whose header refers to a source with this text."""
    words = (*((0,) if feature >= _OLDEST_WITH_FLAGS else ()), SECONDS, len(text) & 0xFFFFFFFF)
    return '100644', code[:4] + struct.pack(f'<{len(words)}I', *words) + code[4:]
