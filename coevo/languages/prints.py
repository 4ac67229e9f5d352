"""Tests quickly whether a text may contain a declaration, before the text is parsed.

Only a parser knows for certain which bodies a file contains (`Member.bare_hash`,
`Member.body_hash`), but it reads a few hundred files a second. A history has hundreds of thousands
of files, and most of them lack some word of a given body. So these tests come before the parser,
the cheapest first:

1. Does the text have each word of the body?  (`split_words`, by lines that other revisions share)
2. Does it have the first tokens of the body next to each other?
   (`LexicalRules.may_match_all_beginnings`, on the plain text)
3. Does it have all tokens so?  (`LexicalRules.lex_text`, `BodyPrint.may_be_in`)

The answer "no" is always right. The answer "yes" may be wrong, which only costs time. Hence a print
leaves out everything that may differ between equal bodies: comments, strings and numbers, brackets
and commas that a formatter adds, names that a hash masks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from coevo.languages.declarations import Member

_IDENTIFIER = rb'[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+'
# A word or a sign. White space, brackets, commas and the like do not count.
_TOKEN = _IDENTIFIER + rb'|[^\s\w(),;\\"\'`\x00-\x20]'
# A number, or (group 1) a token.
_CODE = re.compile(rb'\d[\w.]*+|(' + _TOKEN + rb')')
_ALL_WORDS = re.compile(rb'[\w$\x80-\xff]++')
_NUMBERS = re.compile(rb'(?<![\w.$\x80-\xff])\d{1,9}(?![\w.$\x80-\xff])')
_UNREADABLE = '\ufffd'.encode()
_OUTER = re.compile(r'[.$]')
_GAP = b'\x7f'
# A comment or string without an end: it takes all the rest of the text or of the line.
_OPEN = rb'/\*.*+|""".*+|\'\'\'.*+|`.*+|["\'](?:\\.|[^\\\n]++)*+'
# Beyond these bounds, the search for unclosed comments and strings could take quadratic time.
_MOST_IN_LINE, _MOST_OPEN = 50_000, 100  # bytes, comments
_SEPARATED = re.compile(rb'\d_\d')
_NEVER = b'(?!)'
_NEAR = 200  # bytes
# Around a string that is a statement: it may be documentation, which is not part of a body.
_STATEMENT_BEGINS = re.compile(rb'(?:\A|[\n:;])[ \t]*\Z')
_STATEMENT_ENDS = re.compile(rb'[ \t]*(?:[\r\n;#]|\Z)')

ANY = b''
"""In a segment of tokens: a name that may differ in an equal body."""

RESULT = b'\x01'
"""In a segment of tokens: the place where `LexicalRules.result` may stand in an equal body."""

_FIRST = 12  # tokens

Segment = tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LexedText:
    """The tokens of a text, without its comments, strings and numbers.

    tokens      each between zero bytes
    is_plain    whether strings and numbers have only one spelling: no string is made of two parts
    is_certain  whether every comment and string that begins also ends
    """

    tokens: bytes
    is_plain: bool
    is_certain: bool


@dataclass(frozen=True, kw_only=True)
class LexicalRules:
    """The comments and strings of a language: expressions for `re`, in verbose form.

    comment            a comment that ends
    string             a string that ends, without the letters before it
    prefix             letters before a string
    template           letters before a string that contains code
    test_mark          matches each test method at least once, so the number of matches bounds that
                       of tests
    is_spelled_freely  whether equal strings and numbers may have several spellings: in two parts,
                       with other escapes or separators
    result             tokens before the last one of a head, which a hash may leave out
    before_block       the token before each block, if it is not part of the block
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
    def _string_prefix_pattern(self) -> bytes:
        """A pattern of the letters before a string, whether it contains code or not."""
        return b'(?:' + self.template + b'|' + self.prefix + rb')(?=["\'])'

    @cached_property
    def _lexeme_pattern(self) -> re.Pattern[bytes]:
        """A pattern of one lexeme.

        Without a group: a comment or number. In groups, in this order: a string, one without an
        end, a token, a separator.
        """
        return _compile_verbose(
            self.comment
            + rb'|\d[\w.]*+|(?:(?<![\w\x80-\xff])'
            + self._string_prefix_pattern
            + b')?(?:('
            + self.string
            + b')|('
            + _OPEN
            + b'))|('
            + _TOKEN
            + b')|([(),;])'
        )

    @cached_property
    def _comment_or_string_pattern(self) -> re.Pattern[bytes]:
        """A pattern of a comment or string.

        Its groups are `comment`, `template` (a string that contains code), `string`, and `open` (a
        comment or string without an end).
        """
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
        """A pattern of the text between two neighbouring tokens, including comments and strings."""
        return (
            rb'(?:[\s(),;\\]|'
            + self.comment
            + rb'|\d[\w.]*+|(?:'
            + self._string_prefix_pattern
            + b')?'
            + self.string
            + rb'|["\'`])*+'
        )

    def list_comments_and_strings(self, text: bytes) -> list[re.Match[bytes]]:
        """Return the comments and strings of a text, as matches with the groups of their kinds.

        The groups are `comment`, `template`, `string` and `open`. None are returned for a text in
        which searching would be too slow.
        """
        return (
            list(self._comment_or_string_pattern.finditer(text))
            if _is_cheap_to_search(text)
            else []
        )

    def compile_segment_beginnings(self, body: BodyPrint) -> tuple[re.Pattern[bytes], ...]:
        """Return patterns, each of which must match somewhere in every text that contains the body.

        Each pattern is made of the first tokens of a segment of the body.
        """
        return tuple(
            _compile_verbose(
                b''.join(
                    _build_token_pattern(token, self.result, b'', self._gap_pattern)
                    for token in segment[:_FIRST]
                )
            )
            for segment in body.segments
        )

    def may_match_all_beginnings(
        self, text: bytes, beginnings: Sequence[re.Pattern[bytes]]
    ) -> bool:
        """Return whether a text contains a match of every pattern of `compile_segment_beginnings`.

        True, too, for a text in which searching would be too slow.
        """
        return not _is_cheap_to_search(text) or all(pattern.search(text) for pattern in beginnings)

    def lex_text(self, text: bytes) -> LexedText:
        """Split a text into tokens, without comments, strings and numbers.

        Also determine whether its strings have one spelling and its comments end, see `LexedText`.
        """
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

    def make_body_print(
        self,
        head: bytes,
        block: bytes,
        masked: AbstractSet[bytes],
        has_result: bool = True,
    ) -> BodyPrint:
        """Return the words and tokens that every text with an equal declaration must contain.

        head        the declaration up to its block; b'' for the print of a block alone
        block       the rest of the declaration
        masked      names that may differ in an equal body
        has_result  whether an equal body must have the same result tokens in its head
        """
        heads = list(self._split_segments(head, masked))
        if not head:
            heads = [self.before_block]
        elif not has_result:
            heads[-1] = self._make_result_optional(heads[-1])
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
        elif self.lex_text(head).is_plain and self.lex_text(block).is_plain:
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

    def _make_result_optional(self, head: Segment) -> Segment:
        """Return a head in which result tokens may stand before the last token, but need not.

        Without result tokens in the rules, it is returned unchanged.
        """
        if not self.result or not head:
            return head
        before, last = head[:-1], head[-1]
        if before[-len(self.result) :] == self.result:
            before = before[: -len(self.result)]
        return (*before, RESULT, last)

    def _split_segments(self, text: bytes, masked: AbstractSet[bytes]) -> Iterator[Segment]:
        """Split a text into runs of tokens that are neighbours in every text with the body.

        Masked names become `ANY`. A string that contains code, or that does not end, ends a run.
        """

        def replace_literal(found: re.Match[bytes]) -> bytes:
            """Return a mark of a gap for a string with code or without an end, else a blank."""
            # A string with code in it may count as one string or as two, depending on its quotes.
            return b' \x7f ' if found.lastgroup in ('template', 'open') else b' '

        segment: list[bytes] = []
        for token in _CODE.findall(self._comment_or_string_pattern.sub(replace_literal, text)):
            if token == _GAP or _UNREADABLE in token:
                yield tuple(segment)
                segment = []
            elif token:
                segment.append(ANY if token in masked else token)
        yield tuple(segment)

    def _list_literal_words(self, text: bytes) -> Iterator[bytes]:
        """Yield the words of strings, and the numbers, that every text with the body contains.

        Strings that contain code, or that may be spelled otherwise, are left out.
        """
        rest = []
        end = 0
        for literal in self._comment_or_string_pattern.finditer(text):
            rest.append(text[end : literal.start()])
            end = literal.end()
            if literal.lastgroup == 'string' and self._has_fixed_spelling(literal):
                yield from _list_whole_words(_strip_string_prefix(literal[0]))
        for piece in (*rest, text[end:]):
            yield from _NUMBERS.findall(piece)

    def _has_fixed_spelling(self, string: re.Match[bytes]) -> bool:
        """Return whether a string has the same words in every text with the body.

        If a string may have several spellings, one with a backslash does not, nor one that is a
        statement, which may be documentation.
        """
        if not self.is_spelled_freely:
            return True
        text, start, end = string.string, string.start(), string.end()
        before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
        is_statement = _STATEMENT_BEGINS.search(before) and _STATEMENT_ENDS.match(after)
        return not is_statement and b'\\' not in string[0]

    def _list_template_words(self, text: bytes) -> Iterator[bytes]:
        for literal in self._comment_or_string_pattern.finditer(text):
            if literal.lastgroup == 'template' and b'\\' not in literal[0]:
                yield from _list_whole_words(_strip_string_prefix(literal[0]))


@dataclass(frozen=True, kw_only=True)
class BodyPrint:
    """The words and tokens that every text with a body contains.

    words     words that may stand anywhere
    spelled   the same, except in texts whose strings and numbers may have another spelling
    segments  tokens that are neighbours when comments, strings and numbers are left out
    result    the tokens for which `RESULT` stands
    """

    words: frozenset[bytes]
    spelled: frozenset[bytes] = frozenset()
    segments: tuple[Segment, ...] = ()
    result: Segment = ()

    def may_be_in(self, text: LexedText, words: AbstractSet[bytes]) -> bool:
        """Return whether a text may contain the body. False is certain; True may be wrong.

        text   the tokens of the text
        words  all words of the text; the caller has checked that `self.words` are among them
        """
        if text.is_plain and not self.spelled <= words:
            return False
        if not text.is_certain:
            return True
        return all(run in text.tokens for run in self._longest_runs) and all(
            pattern.search(text.tokens) for pattern in self._segment_patterns
        )

    @cached_property
    def _longest_runs(self) -> tuple[bytes, ...]:
        """The longest run of tokens without a masked name, for each segment."""
        return tuple(_join_tokens(_find_longest_unmasked_run(segment)) for segment in self.segments)

    @cached_property
    def _segment_patterns(self) -> tuple[re.Pattern[bytes], ...]:
        """Patterns for the segments that contain a masked name or a result."""
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


def make_body_prints_by_hash(
    lexis: LexicalRules, member: Member
) -> Iterator[tuple[str, BodyPrint]]:
    """Yield one or two pairs of a hash and a print of a member.

    The first pair is `bare_hash` with a print of the whole member. The second is `body_hash` with a
    print of the member's block, if it has one.
    """
    at = len(member.source) if member.body_at is None else member.body_at
    head, block = (
        text.encode('utf-8', 'replace') for text in (member.source[:at], member.source[at:])
    )
    outer = _OUTER.split(member.owner)
    masked = frozenset(name.encode() for name in (member.name, '__init__', *outer) if name)
    words = frozenset(_encode_token_words(member.tokens, masked))
    whole = BodyPrint(words=words)
    # A field may share its statement with others, so its source holds more than the field itself.
    if member.kind in ('method', 'constructor'):
        whole = lexis.make_body_print(head, block, masked, has_result='->' in member.tokens)
        whole = replace(whole, words=whole.words | words)
    yield member.bare_hash, whole
    if member.body_hash is not None:
        yield member.body_hash, lexis.make_body_print(b'', block, masked)


def split_words(line: bytes) -> tuple[bytes, ...]:
    """Return all words of a line, including those in comments and strings."""
    return tuple(_ALL_WORDS.findall(line))


@lru_cache(maxsize=1)
def _is_cheap_to_search(text: bytes) -> bool:
    """Return whether comments and strings end soon enough for a search to be cheap.

    False for a text with many unclosed comments, or, if it is large, with a very long line. Cached
    for one text, since it is called for each body that may be in the text.
    """
    if text.count(b'/*') > text.count(b'*/') + _MOST_OPEN:
        return False
    return len(text) <= _MOST_IN_LINE or max(map(len, text.split(b'\n'))) <= _MOST_IN_LINE


def _compile_verbose(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


def _build_token_pattern(token: bytes, result: Segment, before: bytes, behind: bytes) -> bytes:
    """Return an expression for one token of a segment, with `before` and `behind` around it.

    `ANY` matches any name; `RESULT` matches the tokens of `result`, or nothing.
    """
    if token == RESULT:
        inner = b''.join(_build_token_pattern(each, (), before, behind) for each in result)
        return b'(?:' + inner + b')?+' if inner else b''
    name = rb'[^\x00\s(),;]++' if token == ANY and not behind else _IDENTIFIER
    return before + (re.escape(token) if token > RESULT else name) + behind


def _join_tokens(tokens: Iterable[bytes]) -> bytes:
    return b'\x00' + b'\x00'.join(tokens) + b'\x00'


def _find_longest_unmasked_run(segment: Segment) -> Sequence[bytes]:
    """Return the longest run of tokens of a segment that are neither masked nor a result."""
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
    """Return a string without the letters before its quotes, which are not words of their own."""
    at = min(at for at in (string.find(quote) for quote in (b'"', b"'", b'`')) if at >= 0)
    return string[at:]


def _list_whole_words(text: bytes) -> Iterator[bytes]:
    """Yield the words of a string; none if it contains a carriage return, which a copy may lack."""
    if b'\r' not in text:
        yield from (word for word in _ALL_WORDS.findall(text) if _UNREADABLE not in word)
