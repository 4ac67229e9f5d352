"""Variants: copies of the targets with other literals, which are not shown.

Code that answers the values of the visible tests alone does not answer these. A variant is a copy
of the test file in which every target has another word or number (`coevo.evaluation.implement.variants`). With
gold's code a target of the copy passes, or an assertion fails with a message; it has to end in the
same way with submitted code. Copies that end otherwise with gold, or not always alike, are dropped.

A failing variant is a control, too: code that makes assertions ineffective passes where gold fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.implement.context import CodeContext, CodeEnd, Methods
from coevo.languages.declarations import Member
from coevo.languages.prints import LexicalRules
from coevo.languages.table import get_reading
from coevo.languages.verdicts import Verdict
from coevo.model.records import compute_short_hash
from coevo.model.words import Outcome

# Literals in the text of a test, and copies of the test with other literals.
#
# A copy replaces a word or number wherever the literals of the test have it, also as a part of a
# longer one: `plural('box')` with the expected `'boxes'` becomes `plural('cox')` and `'coxes'`.
# Only the lexical rules of a language are needed. Whether a copy passes or fails is found out by
# running it.

_NUMBER = rb'(?P<number>(?<![\w.])\d+(?:\.\d+)?(?![\w.]))'
# A number, a word, or one or two letters that are a whole string.
_PIECE = re.compile(rb'\d+|[A-Za-z]{3,}|(?<=[\'"`])[A-Za-z]{1,2}(?=[\'"`])')
_ESCAPE = re.compile(rb'\\.', re.DOTALL)
# A shorter text is replaced only where it is a whole piece: it occurs in others by chance.
_LEAST_PART, _LEAST_LETTERS = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralPiece:
    """A word or number in a literal; `start` is its offset in bytes, `literal` that of the literal."""

    start: int
    text: bytes
    literal: int

    @property
    def replacement(self) -> bytes:
        """Another text of the same kind and length: its first letter or digit is the next one.

        The end stays, since it tells more about how a word is treated.
        """
        first = self.text[0]
        step = -1 if self.text[:1] in b'zZ9' else 1
        return bytes([first + step]) + self.text[1:]


def group_words_in_literals(
    rules: LexicalRules, source: bytes, start: int, end: int
) -> Mapping[bytes, tuple[LiteralPiece, ...]]:
    """Return the words and numbers in the literals of a span, each with all of its occurrences.

    Case does not count.
    """
    literals = list(_find_literals(rules, source, start, end))
    texts = {piece[0].lower() for _, text in literals for piece in _PIECE.finditer(text)}
    return {
        wanted: tuple(
            LiteralPiece(start=at + offset, text=text[offset : offset + len(wanted)], literal=at)
            for at, text in literals
            for offset in _find_offsets(text, wanted)
        )
        for wanted in sorted(texts)
    }


def draw_in_turns(
    groups: Mapping[bytes, tuple[LiteralPiece, ...]], key: Callable[[bytes], str]
) -> list[bytes]:
    """Return the words and numbers in the order of a key, but none of a literal before its turn.

    Each literal has one before any has a second one: a docstring or message has many words, and the
    code under test may get none of them.
    """
    turns = Counter[int]()
    drawn: list[tuple[int, bytes]] = []
    for text in sorted(groups, key=key):
        literal = groups[text][0].literal
        drawn.append((turns[literal], text))
        turns[literal] += 1
    return [text for _, text in sorted(drawn, key=lambda each: each[0])]


def _find_literals(
    rules: LexicalRules, source: bytes, start: int, end: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and text of each string and number; escapes in strings are blanks."""
    pattern = re.compile(
        b'(?:' + rules.comment + b')|(?P<string>' + rules.string + b')|' + _NUMBER,
        re.DOTALL | re.VERBOSE,
    )
    for match in pattern.finditer(source, start, end):
        if match.lastgroup == 'string':
            yield match.start(), _ESCAPE.sub(lambda escape: b' ' * len(escape[0]), match[0])
        elif match.lastgroup == 'number':
            yield match.start(), match[0]


def _find_offsets(text: bytes, wanted: bytes) -> Iterator[int]:
    if len(wanted) < (_LEAST_LETTERS if wanted.isalpha() else _LEAST_PART):
        yield from (piece.start() for piece in _PIECE.finditer(text) if piece[0].lower() == wanted)
        return
    yield from (match.start() for match in re.finditer(re.escape(wanted), text.lower()))


def replace_pieces(source: bytes, pieces: tuple[LiteralPiece, ...]) -> bytes:
    """Return a text with other literals in the place of some."""
    for piece in sorted(pieces, key=lambda piece: piece.start, reverse=True):
        end = piece.start + len(piece.text)
        source = source[: piece.start] + piece.replacement + source[end:]
    return source


# Variants: copies of the targets with other literals, which are not shown.

# The most copies of the test file; each has another literal in each target.
MOST_COPIES = 6

_ADDRESS = re.compile(r'0x[0-9a-fA-F]{4,}|@[0-9a-f]{5,8}\b')
_SPACES = re.compile(r'\s+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The ending of a target of a copy: `pass` or `fail`, with the message of the failed assertion."""

    copy: int
    name: str
    outcome: Outcome
    message: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantFile:
    """A copy of the test file; `changed` are the targets that differ from the file, by name."""

    number: int
    content: bytes
    changed: Methods


def make_literal_variants(context: CodeContext, targets: Methods) -> Iterator[VariantFile]:
    """Yield copies of the test file, always the same for a task."""
    read = get_reading(context.assignment.task.language)
    file = read.parse(context.start, context.assignment.task.test_file)
    members = {
        (type_.name, member.name, member.parameters): member
        for type_ in file.types
        for member in type_.members
        if member.kind == 'method'
    }
    drawn = {
        name: _draw_literal_groups(context, member, name)
        for name, method in targets.items()
        if (member := members.get((method.test_class, method.test_method, method.parameters)))
    }
    for number in range(MOST_COPIES):
        chosen = {name: groups[number] for name, groups in drawn.items() if number < len(groups)}
        if chosen:
            pieces = tuple(piece for group in chosen.values() for piece in group)
            yield VariantFile(
                number=number,
                content=replace_pieces(context.start, tuple(dict.fromkeys(pieces))),
                changed={name: targets[name] for name in chosen},
            )


def _draw_literal_groups(
    context: CodeContext, member: Member, name: str
) -> Sequence[tuple[LiteralPiece, ...]]:
    rules = get_reading(context.assignment.task.language).LEXIS
    groups = group_words_in_literals(rules, context.start, member.start_byte, member.end_byte)
    task_id = context.assignment.task_id
    drawn = draw_in_turns(groups, lambda text: compute_short_hash(task_id, name, text.hex()))
    return [groups[text] for text in drawn]


def run_variant_with_cpu_seconds(
    context: CodeContext, end: CodeEnd, variant: VariantFile, methods: Methods
) -> tuple[Mapping[str, Verdict], float]:
    """Return the verdicts on targets of a copy with a code, and the CPU seconds.

    A target that ended its process before others had their turn may leave these out.
    """
    files = ((context.assignment.task.test_file, variant.content),)
    runner = context.make_runner(end)
    compiled = context.compile(end, context.module, files)
    verdicts = runner.run_in_one_process(compiled, methods)
    return verdicts, runner.cpu_seconds + compiled.cpu_seconds


def find_steady_endings(
    variant: VariantFile, first: Mapping[str, Verdict], second: Mapping[str, Verdict]
) -> Iterator[Ending]:
    """Yield how the targets of a copy end with gold, if they end alike in both runs."""
    for name in variant.changed:
        endings = [
            make_ending_if_pass_or_fail(variant.number, name, run.get(name))
            for run in (first, second)
        ]
        if endings[0] is not None and endings[0] == endings[1]:
            yield endings[0]


def make_ending_if_pass_or_fail(number: int, name: str, verdict: Verdict | None) -> Ending | None:
    """Return how a target ended; None if it neither passed nor failed in an assertion."""
    if verdict is None or verdict.outcome not in (Outcome.PASS, Outcome.FAIL):
        return None
    message = _SPACES.sub(' ', _ADDRESS.sub('0x', verdict.message)).strip()
    is_pass = verdict.outcome is Outcome.PASS
    return Ending(
        copy=number, name=name, outcome=verdict.outcome, message='' if is_pass else message
    )


def passes_failing_variants(
    expected: Collection[Ending], passing: Collection[tuple[int, str]]
) -> bool:
    """Return whether code passes all variants that fail with gold, of which there are several.

    One of them may pass by right, such as an assertion that a number is greater than another.
    """
    failing = {(end.copy, end.name) for end in expected if end.outcome is Outcome.FAIL}
    return len(failing) > 1 and failing <= set(passing)
