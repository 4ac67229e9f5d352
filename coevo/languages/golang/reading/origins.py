"""Whether a Go file was written here by hand: told from its path and from its head.

Generated files say so in one line (https://pkg.go.dev/cmd/go#hdr-Generate_Go_files_by_processing_source); before that was agreed on, in
many. GitHub Linguist's rules were the starting point for the rest
(https://github.com/github-linguist/linguist/blob/main/lib/linguist/vendor.yml).
"""

from __future__ import annotations

import re

from coevo.model.records import FileOrigin

_VENDORED = re.compile(
    r'_?vendor(s|ed)?|Godeps|_workspace|_?(third|3rd)[-_]?party|extern(al|als)?', re.IGNORECASE
)
_NAMES = re.compile(r'.*\.pb(\.gw)?|.*_grpc\.pb|bindata|zz_generated.*|.*\.generated')
_AGREED = re.compile(rb'^// Code generated .* DO NOT EDIT\.\r?$', re.MULTILINE)
_COMMENT = re.compile(rb'//[^\n]*|/\*.*?\*/', re.DOTALL)
_SAYS = re.compile(
    rb'\b(?:auto(?:matically)?[\s-]*)?generated\b.*\bdo\s+not\s+(?:edit|modify|change)\b'
    rb'|\bdo\s+not\s+(?:edit|modify|change)\b.*\bgenerated\b'
    rb'|(?://|/\*)\s*(?:this\s+(?:file|code)\s+(?:is|was)\s+)?(?:auto(?:matically)?[\s-]*)?'
    rb'generated\s+(?:by|from|with)\b',
    re.IGNORECASE | re.DOTALL,
)


def find_origin(path: str, source: bytes, first_byte: int) -> FileOrigin:
    """Where a file comes from; first_byte is where its first declaration begins."""
    *folders, name = path.removesuffix('.go').split('/')
    if any(map(_VENDORED.fullmatch, folders)):
        return FileOrigin.VENDORED
    head = source[:first_byte]
    if _NAMES.fullmatch(name):
        return FileOrigin.GENERATED
    comments = b'\n'.join(_COMMENT.findall(head))
    if _AGREED.search(head) or _SAYS.search(comments):
        return FileOrigin.GENERATED
    return FileOrigin.WRITTEN
