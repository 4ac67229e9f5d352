"""Whether a Python file was written here by hand: told from its path and from its head.

GitHub Linguist's rules for generated and vendored files were the starting point
(https://github.com/github-linguist/linguist/blob/main/lib/linguist/vendor.yml).
"""

from __future__ import annotations

import re

from coevo.model.records import FileOrigin

_VENDORED = re.compile(
    r'_?vendor(s|ed)?|_?(third|3rd)[-_]?party|extern(al|als)?|node_modules|bower_components|site-packages',
    re.IGNORECASE,
)
_GENERATED = re.compile(r'(auto|_)?[-_]?generated([-_]\w+)?|build|dist', re.IGNORECASE)
_NAMES = re.compile(r'.*_pb2(_grpc)?|versioneer|_version|ez_setup|.*\.generated|parsetab|lextab')
_VENDORED_NAMES = frozenset({'ez_setup', 'versioneer', 'six'})

_COMMENT = re.compile(r'(?:^[ \t]*#[^\n]*\n?)+', re.MULTILINE)
_DOCSTRING = re.compile(r'\A(?:[ \t]*#[^\n]*\n|\s)*[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL)
_DECORATION = re.compile(r'^[ \t\r#*=-]+', re.MULTILINE)
# A line may begin within a sentence that is about something else.
_SENTENCE = r'(?:\A\s*|(?<=[.:!;,\n])\n)(?:(?:note|warning|attention)[:!]\s*)?'
_MAKER = re.compile(
    rf"""
    {_SENTENCE}
    (?:
      (?:this|the\s+following)\s+(?:python\s+)?(?:source\s+)?(?:file|module|code|source)s?
      \s+(?:is|was|has\s+been)\s+(?:auto(?:matically)?[\s-]*)?generated\b
    | (?:@|auto(?:matically)?[\s-]*)generated\b
    | (?:code\s+)?generated\s+(?:by|from|with)\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HANDS_OFF = re.compile(r'\bdo\s+not\s+(?:edit|modify|change)\b', re.IGNORECASE)
_SAID_GENERATED = re.compile(r'\b(?:auto)?[-\s]?generated\b', re.IGNORECASE)


def determine_origin(path: str, source: bytes, first_byte: int) -> FileOrigin:
    """Where a file comes from; first_byte is where its first declaration begins."""
    *folders, name = path.removesuffix('.py').split('/')
    if name in _VENDORED_NAMES or any(map(_VENDORED.fullmatch, folders)):
        return FileOrigin.VENDORED
    by_path = _NAMES.fullmatch(name) or any(map(_GENERATED.fullmatch, folders))
    if by_path or _says_generated(source[:first_byte].decode(errors='replace')):
        return FileOrigin.GENERATED
    return FileOrigin.WRITTEN


def _says_generated(head: str) -> bool:
    """Whether a comment or the docstring above the first declaration says that it is generated."""
    texts = [match[0] for match in _COMMENT.finditer(head)]
    if docstring := _DOCSTRING.match(head):
        texts.append(docstring[2])
    return any(map(_is_generated_notice, texts))


def _is_generated_notice(comment: str) -> bool:
    text = _DECORATION.sub('', comment)
    if _MAKER.search(text) is not None:
        return True
    return bool(_HANDS_OFF.search(text) and _SAID_GENERATED.search(text))
