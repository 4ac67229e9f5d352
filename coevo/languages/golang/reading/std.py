"""Recognizes packages of the standard library (https://pkg.go.dev/std) by their first part."""

from __future__ import annotations

_FIRST = frozenset(
    {
        *(
            'archive',
            'arena',
            'bufio',
            'builtin',
            'bytes',
            'cmp',
            'compress',
            'container',
            'context',
        ),
        *(
            'crypto',
            'database',
            'debug',
            'embed',
            'encoding',
            'errors',
            'expvar',
            'flag',
            'fmt',
            'go',
        ),
        *(
            'hash',
            'html',
            'image',
            'index',
            'io',
            'iter',
            'log',
            'maps',
            'math',
            'mime',
            'net',
            'os',
        ),
        *('path', 'plugin', 'reflect', 'regexp', 'runtime', 'slices', 'sort', 'strconv', 'strings'),
        *('structs', 'sync', 'syscall', 'testing', 'text', 'time', 'unicode', 'unique', 'unsafe'),
        *('weak', 'C'),
    }
)


def is_standard_package(path: str) -> bool:
    """Return whether an import path is of the standard library, by its first part.

    `C` counts, too.
    """
    return path.partition('/')[0] in _FIRST
