"""Toy files cut line by line. Fulfils `coevo.languages.surgery.FileSurgery`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set as AbstractSet

from coevo.git.repository import Repository
from coevo.languages.core.reach import FileMentionFinder, MentionRules
from coevo.languages.core.start_files import find_helper_grafts
from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.reading import Side
from coevo.languages.surgery import Graft, StartStateInvalid, StartTarget, find_no_derived_classes
from coevo.languages.text_edits import TextEdits
from coevo.model.records import TestMethod
from tests.languages.toy.reading import is_run_by_framework
from tests.languages.toy.syntax import parse
from tests.languages.toy.trees import SUFFIX, open_tree

find_derived_classes = find_no_derived_classes


def make_start_file(
    new: bytes,
    old: bytes | None,
    targets: Sequence[StartTarget],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes | None:
    removed = [target for target in targets if target.original is None]
    if old is None and len(removed) == len(targets):
        return None
    edits = TextEdits(new)
    gone = {_find(new, target.method) for target in removed}
    text = {}
    for target in targets:
        if target.original is not None:
            member = _find(new, target.method)
            text[member] = _find(target.original.source, target.original.method).source
            edits.replace(member.start_byte, member.end_byte, text[member].encode())
    kept = [m for _, m in _members(new) if m not in gone and m not in text]
    for helper in _left_alone(new, [*gone, *text], kept, list(text.values()), used_elsewhere):
        edits.cut_span(helper.full_start_byte, helper.end_byte)
    for member in gone:
        edits.cut_span(member.full_start_byte, member.end_byte)
    return edits.apply_edits()


def transplant_tests_into_old(
    old: bytes,
    new: bytes,
    grafts: Sequence[Graft],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes:
    """With the helpers of the new file that the tests need and the old one lacks."""
    edits = TextEdits(old)
    known = {(type_.name, member.name) for type_, member in _members(old)}
    for graft in grafts:
        member = _find(new, graft.new)
        if graft.old is not None:
            replaced = _find(old, graft.old)
            edits.replace(replaced.start_byte, replaced.end_byte, member.source.encode())
        else:
            _add(edits, old, member)
        for type_, helper in _members(new):
            key = (type_.name, helper.name)
            if helper.name in member.calls and type_.name == member.owner and key not in known:
                known.add(key)
                _add(edits, old, helper)
    return edits.apply_edits()


def add_helpers(old: bytes, new: bytes) -> bytes:
    """With helpers of types that stand at old."""
    grafts = find_helper_grafts(
        parse(old), parse(new), list_other_tests(new, []), is_run_by_framework
    )
    methods = [graft for graft in grafts if graft.new.test_method]
    return transplant_tests_into_old(old, new, methods) if methods else old


def list_other_tests(source: bytes, targets: Sequence[Member], path: str = '') -> list[Member]:
    chosen = {member.start_byte for member in targets}
    tests = (member for _, member in _members(source) if not member.name.startswith('_'))
    return [member for member in tests if member.start_byte not in chosen]


def list_names_in_related_files(repository: Repository, rev: str, path: str) -> frozenset[str]:
    files = open_tree(repository, rev)
    others = (other for other in files.list_paths(Side.TEST) if other != path)
    return frozenset().union(*(files.parse_file(other).names for other in others))


_RULES = MentionRules(
    suffix=SUFFIX,
    settings=lambda path: False,
    word=re.compile(r'\w+'),
    parse=parse,
    declared=lambda path, text: frozenset(type_.simple for type_ in parse(text).types),
)


def make_mention_finder(repository: Repository, rev: str) -> FileMentionFinder:
    return FileMentionFinder(repository, rev, open_tree(repository, rev), _RULES)


def _members(source: bytes) -> Iterator[tuple[DeclaredType, Member]]:
    for type_ in parse(source).types:
        for member in type_.members:
            yield type_, member


def _find(source: bytes, method: TestMethod) -> Member:
    for type_, member in _members(source):
        if (type_.name, member.name) == (method.test_class, method.test_method):
            return member
    raise StartStateInvalid(f'{method.test_class}#{method.test_method} is not in the file')


def _left_alone(
    source: bytes,
    taken: Sequence[Member],
    kept: Sequence[Member],
    texts: Sequence[str],
    used_elsewhere: AbstractSet[str],
) -> Iterator[Member]:
    """The helpers that nothing but what was taken has used."""
    used = set(used_elsewhere).union(*(member.calls for member in kept))
    for _, member in _members(source):
        mine = any(member.name in one.calls and member.owner == one.owner for one in taken)
        named = member.name in used or any(member.name in text for text in texts)
        if mine and not named and member.name.startswith('_') and not is_run_by_framework(member):
            yield member


def _add(edits: TextEdits, old: bytes, member: Member) -> None:
    """At the end of its type, which is made where there is none."""
    type_ = next((one for one in parse(old).types if one.name == member.owner), None)
    if type_ is None:
        edits.insert(len(old), f'\n[{member.owner}]\n{member.source}\n'.encode())
    else:
        edits.insert(type_.end_byte, f'\n{member.source}'.encode())
