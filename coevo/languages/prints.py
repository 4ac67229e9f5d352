"""What a text must hold to hold a declaration: a question that is asked before a text is parsed.

A parser tells for certain which bodies stand in a file (`Member.bare_hash`, `Member.body_hash`), a few
hundred files a second. A history has hundred thousands of files, and most of them lack some word of a body. So
these questions come before the parser, the cheapest first:

1. Does the text have each word of the body?  (`split_words`, by lines that other revisions share)
2. Does it have the first tokens of the body one after another?  (`Lexis.beginnings`, on the plain text)
3. Does it have all of them so?  (`Lexis.read`, `BodyPrint.may_be_in`)

An answer "no" is always right. A "yes" is not, which costs time and nothing else. Hence a print leaves out
what equal bodies may spell in two ways: comments, strings and numbers, brackets and commas that a
formatter adds, names that a hash masks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from coevo.languages.declarations import Member

PRINT_VERSION = 1
"""Of the rules of this module: prints that are kept were made by one of them."""

_IDENTIFIER = rb'[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+'
# A word or a sign. White space, brackets, commas and the like are neither.
_TOKEN = _IDENTIFIER + rb'|[^\s\w(),;\\"\'`\x00-\x20]'
# A number, or (group 1) a token.
_CODE = re.compile(rb'\d[\w.]*+|(' + _TOKEN + rb')')
_ALL_WORDS = re.compile(rb'[\w$\x80-\xff]++')
_NUMBERS = re.compile(rb'(?<![\w.$\x80-\xff])\d{1,9}(?![\w.$\x80-\xff])')
_UNREADABLE = '\ufffd'.encode()
_OUTER = re.compile(r'[.$]')
_GAP = b'\x7f'
# A comment or string that does not end: all of the text behind it, or of the line.
_OPEN = rb'/\*.*+|""".*+|\'\'\'.*+|`.*+|["\'](?:\\.|[^\\\n]++)*+'
# A text in which comments and strings without an end could be looked for again and again.
_MOST_IN_LINE, _MOST_OPEN = 50_000, 100  # bytes, comments
_SEPARATED = re.compile(rb'\d_\d')
_NEVER = b'(?!)'
_NEAR = 200  # bytes
# Around a string that is a statement: it may be documentation, which is no part of a body.
_STATEMENT_BEGINS = re.compile(rb'(?:\A|[\n:;])[ \t]*\Z')
_STATEMENT_ENDS = re.compile(rb'[ \t]*(?:[\r\n;#]|\Z)')

ANY = b''
"""In a segment of tokens: a name that may be another one in an equal body."""

RESULT = b'\x01'
"""In a segment of tokens: where `Lexis.result` may stand in an equal body."""

_FIRST = 12  # tokens

Segment = tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LexedText:
    """The tokens of a text, without its comments, strings and numbers.

    tokens      each between zero bytes
    is_plain    whether strings and numbers can only be spelled as they are: none is made of two parts
    is_certain  whether every comment and string that begins also ends
    """

    tokens: bytes
    is_plain: bool
    is_certain: bool


@dataclass(frozen=True, kw_only=True)
class LexicalRules:
    """How comments and strings look in a language: expressions for `re`, in verbose form.

    comment    one that ends
    string     one that ends, without the letters before it
    prefix     letters before a string
    template   letters before a string with code in it
    test_mark  matches each test method at least once: so many marks, so many tests at most
    is_spelled_freely  whether equal strings and numbers may be spelled otherwise: in two parts, with other
               escapes or separators
    result     tokens of a head before its last one that a hash may leave out
    before_block  the token before each block, where that is no part of it
    """

    comment: bytes
    string: bytes
    test_mark: re.Pattern[bytes]
    prefix: bytes = _NEVER
    template: bytes = _NEVER
    is_spelled_freely: bool = False
    result: Segment = ()
    before_block: Segment = ()

    @property
    def _letters_pattern(self) -> bytes:
        """The letters before a string, with or without code in it."""
        return b'(?:' + self.template + b'|' + self.prefix + rb')(?=["\'])'

    @cached_property
    def _lexeme_pattern(self) -> re.Pattern[bytes]:
        """A comment or a number; or by group: a string, what does not end, a word or a sign, a
        bracket or comma."""
        return _compile_verbose(
            self.comment
            + rb'|\d[\w.]*+|(?:(?<![\w\x80-\xff])'
            + self._letters_pattern
            + b')?(?:('
            + self.string
            + b')|('
            + _OPEN
            + b'))|('
            + _TOKEN
            + b')|([(),;])'
        )

    @cached_property
    def _literal_pattern(self) -> re.Pattern[bytes]:
        """A comment or a string, by the name of its group."""
        return _compile_verbose(
            b'(?P<comment>'
            + self.comment
            + rb')|(?P<template>(?<![\w\x80-\xff])(?:'
            + self.template
            + b')'
            + self.string
            + rb')|(?P<string>(?:(?<![\w\x80-\xff])(?:'
            + self.prefix
            + b'))?'
            + self.string
            + rb')|(?P<open>'
            + _OPEN
            + b')'
        )

    @cached_property
    def _gap_pattern(self) -> bytes:
        """What may stand between two neighbours, comments and strings among it."""
        return (
            rb'(?:[\s(),;\\]|'
            + self.comment
            + rb'|\d[\w.]*+|(?:'
            + self._letters_pattern
            + b')?'
            + self.string
            + rb'|["\'`])*+'
        )

    def compile_beginnings(self, body: BodyPrint) -> tuple[re.Pattern[bytes], ...]:
        """What a text with a body matches: its first tokens, wherever it has a gap the first behind that."""
        return tuple(
            _compile_verbose(
                b''.join(
                    _build_token_pattern(token, self.result, b'', self._gap_pattern)
                    for token in segment[:_FIRST]
                )
            )
            for segment in body.segments
        )

    def may_begin_in(self, text: bytes, beginnings: Sequence[re.Pattern[bytes]]) -> bool:
        """Whether a text matches all beginnings of a body; True where the question is too dear."""
        return not _is_cheap_to_search(text) or all(pattern.search(text) for pattern in beginnings)

    def read(self, text: bytes) -> LexedText:
        """Return what tells whether bodies may be in a text."""
        tokens: list[bytes] = []
        is_plain = is_certain = True
        is_behind_string = False
        for string, open_, token, separator in self._lexeme_pattern.findall(text):
            if token:
                tokens.append(token)
                is_behind_string = False
            elif separator:
                is_behind_string = False
            elif string:
                is_plain = is_plain and not is_behind_string
                is_behind_string = True
            elif open_:
                is_certain = False
        return LexedText(
            tokens=_join_tokens(tokens),
            is_plain=not self.is_spelled_freely or (is_plain and not _SEPARATED.search(text)),
            is_certain=is_certain,
        )

    def make_print(
        self,
        head: bytes,
        block: bytes,
        masked: AbstractSet[bytes],
        has_result: bool = True,
    ) -> BodyPrint:
        """Return the print of a declaration, or of a block without a head.

        masked      names that may be others in an equal body
        has_result  whether what the head says of a result must stand there
        """
        heads = list(self._split_segments(head, masked))
        if not head:
            heads = [self.before_block]
        elif not has_result:
            heads[-1] = self._allow_any_result(heads[-1])
        blocks = list(self._split_segments(block, masked))
        segments = [*heads[:-1], heads[-1] + blocks[0], *blocks[1:]]
        literals = frozenset(
            word for text in (head, block) for word in self._list_literal_words(text)
        )
        templates = frozenset(
            word for text in (head, block) for word in self._list_template_words(text)
        )
        spelled = sure = frozenset[bytes]()
        if not self.is_spelled_freely:
            sure = literals
        elif self.read(head).is_plain and self.read(block).is_plain:
            spelled = literals
        words = frozenset(token for segment in segments for token in segment if _is_word(token))
        return BodyPrint(
            words=(words | sure | templates) - masked,
            spelled=spelled - masked,
            segments=tuple(
                dict.fromkeys(each for each in segments if any(token > RESULT for token in each))
            ),
            result=self.result,
        )

    def _allow_any_result(self, head: Segment) -> Segment:
        """The last tokens of a head, with a result before the last one or without."""
        if not self.result or not head:
            return head
        before, last = head[:-1], head[-1]
        if before[-len(self.result) :] == self.result:
            before = before[: -len(self.result)]
        return (*before, RESULT, last)

    def _split_segments(self, text: bytes, masked: AbstractSet[bytes]) -> Iterator[Segment]:
        """Tokens that are neighbours in every text with the body."""

        def replace_literal(found: re.Match[bytes]) -> bytes:
            # Code in a string may be read as one string or as two, by its quotes.
            return b' \x7f ' if found.lastgroup in ('template', 'open') else b' '

        segment: list[bytes] = []
        for token in _CODE.findall(self._literal_pattern.sub(replace_literal, text)):
            if token == _GAP or _UNREADABLE in token:
                yield tuple(segment)
                segment = []
            elif token:
                segment.append(ANY if token in masked else token)
        yield tuple(segment)

    def _list_literal_words(self, text: bytes) -> Iterator[bytes]:
        """Words in plain strings, and whole numbers; as a text with the body spells them, too."""
        rest = []
        end = 0
        for literal in self._literal_pattern.finditer(text):
            rest.append(text[end : literal.start()])
            end = literal.end()
            if literal.lastgroup == 'string' and self._is_always_spelled_so(literal):
                yield from _list_whole_words(_strip_string_prefix(literal[0]))
        for piece in (*rest, text[end:]):
            yield from _NUMBERS.findall(piece)

    def _is_always_spelled_so(self, string: re.Match[bytes]) -> bool:
        """Whether a string has the same words in every text with the body: none that may say nothing."""
        if not self.is_spelled_freely:
            return True
        text, start, end = string.string, string.start(), string.end()
        before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
        is_statement = _STATEMENT_BEGINS.search(before) and _STATEMENT_ENDS.match(after)
        return not is_statement and b'\\' not in string[0]

    def _list_template_words(self, text: bytes) -> Iterator[bytes]:
        for literal in self._literal_pattern.finditer(text):
            if literal.lastgroup == 'template' and b'\\' not in literal[0]:
                yield from _list_whole_words(_strip_string_prefix(literal[0]))


@dataclass(frozen=True, kw_only=True)
class BodyPrint:
    """What every text with a body holds.

    words     each of them, wherever it stands
    spelled   the same, but for texts whose strings and numbers may be spelled otherwise
    segments  tokens that are neighbours when comments, strings and numbers are left out
    result    what `RESULT` stands for
    """

    words: frozenset[bytes]
    spelled: frozenset[bytes] = frozenset()
    segments: tuple[Segment, ...] = ()
    result: Segment = ()

    def may_be_in(self, text: LexedText, words: AbstractSet[bytes]) -> bool:
        """Whether a text that has all of `words` may hold the body."""
        if text.is_plain and not self.spelled <= words:
            return False
        if not text.is_certain:
            return True
        return all(run in text.tokens for run in self._longest_runs) and all(
            pattern.search(text.tokens) for pattern in self._segment_patterns
        )

    @cached_property
    def _longest_runs(self) -> tuple[bytes, ...]:
        """The longest stretch without a masked name of each segment."""
        return tuple(_join_tokens(_find_longest_stretch(segment)) for segment in self.segments)

    @cached_property
    def _segment_patterns(self) -> tuple[re.Pattern[bytes], ...]:
        """The segments in which not each token is known."""
        return tuple(
            re.compile(
                b''.join(
                    _build_token_pattern(token, self.result, rb'\x00', b'') for token in segment
                )
                + rb'\x00'
            )
            for segment in self.segments
            if ANY in segment or RESULT in segment
        )


def make_body_prints(lexis: LexicalRules, member: Member) -> Iterator[tuple[str, BodyPrint]]:
    """The hashes by which a member is looked for: of the whole, and of its block where it has one."""
    at = len(member.source) if member.body_at is None else member.body_at
    head, block = (
        text.encode('utf-8', 'replace') for text in (member.source[:at], member.source[at:])
    )
    outer = _OUTER.split(member.owner)
    masked = frozenset(name.encode() for name in (member.name, '__init__', *outer) if name)
    words = frozenset(_encode_token_words(member.tokens, masked))
    whole = BodyPrint(words=words)
    # One of several names of a statement stands in more text than its own.
    if member.kind in ('method', 'constructor'):
        whole = lexis.make_print(head, block, masked, has_result='->' in member.tokens)
        whole = replace(whole, words=whole.words | words)
    yield member.bare_hash, whole
    if member.body_hash is not None:
        yield member.body_hash, lexis.make_print(b'', block, masked)


def split_words(line: bytes) -> tuple[bytes, ...]:
    """All words of a line, those in comments and strings among them."""
    return tuple(_ALL_WORDS.findall(line))


@lru_cache(maxsize=1)
def _is_cheap_to_search(text: bytes) -> bool:
    """Whether comments and strings end soon; asked of one text for each body that may be in it."""
    if text.count(b'/*') > text.count(b'*/') + _MOST_OPEN:
        return False
    return len(text) <= _MOST_IN_LINE or max(map(len, text.split(b'\n'))) <= _MOST_IN_LINE


def _compile_verbose(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


def _build_token_pattern(token: bytes, result: Segment, before: bytes, behind: bytes) -> bytes:
    """An expression for one token of a segment, with what is before and behind each token."""
    if token == RESULT:
        inner = b''.join(_build_token_pattern(each, (), before, behind) for each in result)
        return b'(?:' + inner + b')?+' if inner else b''
    name = rb'[^\x00\s(),;]++' if token == ANY and not behind else _IDENTIFIER
    return before + (re.escape(token) if token > RESULT else name) + behind


def _join_tokens(tokens: Iterable[bytes]) -> bytes:
    return b'\x00' + b'\x00'.join(tokens) + b'\x00'


def _find_longest_stretch(segment: Segment) -> Sequence[bytes]:
    """The most neighbours of a segment that are known by name."""
    stretches: list[list[bytes]] = [[]]
    for token in segment:
        if token in (ANY, RESULT):
            stretches.append([])
        else:
            stretches[-1].append(token)
    return max(stretches, key=len)


def _is_word(token: bytes) -> bool:
    return re.fullmatch(_IDENTIFIER, token) is not None and _UNREADABLE not in token


def _encode_token_words(tokens: Iterable[str], masked: AbstractSet[bytes]) -> Iterator[bytes]:
    words = (token.encode('utf-8', 'replace') for token in tokens)
    return (word for word in words if _is_word(word) and word not in masked)


def _strip_string_prefix(string: bytes) -> bytes:
    """A string without the letters before its quotes, which are no words of their own."""
    at = min(at for at in (string.find(quote) for quote in (b'"', b"'", b'`')) if at >= 0)
    return string[at:]


def _list_whole_words(text: bytes) -> Iterator[bytes]:
    """The words of a string; none of one with a carriage return, which may be left out of it."""
    if b'\r' not in text:
        yield from (word for word in _ALL_WORDS.findall(text) if _UNREADABLE not in word)
