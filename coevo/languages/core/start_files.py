"""Makes test files for the start of a task: tests reverted, removed, or put into another version.

A piece that only removed tests use is removed with them. If a test comes from another version of
its file, the pieces that it needs and this file lacks come with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Generic

from coevo.languages.core.cut_plans import CutPlan, O, SurgeryRules
from coevo.languages.core.outlines import Declared, P, add_outer_types
from coevo.languages.declarations import MODULE, DeclaredType, Member, SourceFile
from coevo.languages.surgery import Graft, OriginalTest, StartStateInvalid, StartTarget
from coevo.model.records import TestMethod


@dataclass(frozen=True, slots=True)
class StartFileMaker(Generic[O, P]):
    """The part of `coevo.languages.surgery.FileSurgery` that works on the text of a file alone.

    rules  the rules of the language
    """

    rules: SurgeryRules[O, P]

    def make_start_file(
        self,
        new: bytes,
        old: bytes | None,
        targets: Sequence[StartTarget],
        *,
        used_elsewhere: AbstractSet[str] = frozenset(),
    ) -> bytes | None:
        """Return the new file with its targets, and what only they use, reverted or removed.

        None if the start state has no such file: `old` is None and no target has an original. New
        types that contain no tests but removed ones are removed as a whole.

        new, old        the test file at both revisions; `old` is None if it does not exist there
        used_elsewhere  names by which other files may use declarations of this one; these stay

        Raises:
            StartStateInvalid: no valid start file can be made, or it would equal the new file.
        """
        file = self.rules.parse(new)
        declarations = {target: file.find_declaration(target.method, 'new') for target in targets}
        originals = [target.original for target in targets if target.original is not None]
        if old is None and not originals:
            return None
        removed = [declared for target, declared in declarations.items() if target.original is None]
        emptied = self._find_emptied_types(file, old, removed, used_elsewhere)
        plan = CutPlan(self.rules, file, declarations, used_elsewhere, emptied=emptied)
        while more := plan.list_emptied_types():
            emptied = [*emptied, *more]
            plan = CutPlan(self.rules, file, declarations, used_elsewhere, emptied=emptied)
        start = plan.make_resulting_text()
        self._require_valid_result(file, start, originals)
        return start

    def transplant_tests_into_old(
        self,
        old: bytes,
        new: bytes,
        grafts: Sequence[Graft],
        *,
        used_elsewhere: AbstractSet[str] = frozenset(),
    ) -> bytes:
        """Return the old file with tests of the new one, and with the helpers that these need.

        A test replaces the old method that its graft names or, failing that, a method with its name
        that is no test. Otherwise it is inserted.

        used_elsewhere  names by which other files may use declarations of the old file

        Raises:
            StartStateInvalid: the result would not be a valid file.
        """
        file = self.rules.parse(old)
        targets: list[StartTarget] = []
        inserted: list[OriginalTest] = []
        for graft in grafts:
            original = OriginalTest(method=graft.new, source=new)
            replaced = graft.old or file.find_replaceable_namesake(graft.new)
            if replaced is None:
                inserted.append(original)
            else:
                targets.append(StartTarget(method=replaced, original=original))
        declarations = {target: file.find_declaration(target.method, 'old') for target in targets}
        text = CutPlan(
            self.rules, file, declarations, used_elsewhere, inserted=inserted
        ).make_resulting_text()
        sources = [target.original for target in targets if target.original is not None]
        self._require_valid_result(file, text, sources + inserted * self.rules.tolerates_inserted)
        return text

    def add_helpers(self, old: bytes, new: bytes) -> bytes:
        """Return the old file with the helpers that the new one adds; unchanged if there are none.

        Raises:
            StartStateInvalid: the result would not be a valid file.
        """
        before, after = self.rules.parse(old), self.rules.parse(new)
        others = self.find_other_tests(after, [])
        grafts = find_helper_grafts(before.file, after.file, others, self.rules.stays_out)
        return self.transplant_tests_into_old(old, new, grafts) if grafts else old

    def list_other_tests(
        self, source: bytes, targets: Sequence[Member], path: str = ''
    ) -> list[Member]:
        """Return the tests of a file that are not among the targets, as parsed with the path.

        If the file alone does not show that the targets are tests, members that resemble them
        count, too.
        """
        types = self.rules.parse_placed(source, path).types
        placed = {member.start_byte: member for type_ in types for member in type_.members}
        others = self.find_other_tests(self.rules.parse(source), targets)
        return [placed[member.start_byte] for member in others]

    def find_other_tests(self, file: O, targets: Sequence[Declared]) -> list[Member]:
        """Return the tests of an outlined file that are not targets, in order.

        If this file alone does not show that the targets are tests, members that resemble them
        count, too.
        """
        tests = {member.start_byte: member for member in file.tests}
        chosen = {declared.start_byte for declared in targets}
        if not chosen <= tests.keys():
            tests |= {m.start_byte: m for m in self.rules.list_lookalikes(file, targets)}
        return [member for start, member in sorted(tests.items()) if start not in chosen]

    def _find_emptied_types(
        self,
        file: O,
        old: bytes | None,
        removed: Sequence[Declared],
        used_elsewhere: AbstractSet[str],
    ) -> list[P]:
        """Return the pieces of types that are to be removed as a whole with the removed tests.

        Such a type is new in the file, contains no tests but the removed ones, and is not used
        elsewhere. A type within another such type is not listed.
        """
        before = self.rules.parse(old).types if old is not None else {}
        others = [member.start_byte for member in self.find_other_tests(file, removed)]
        around = add_outer_types(file, {declared.owner for declared in removed})
        emptied: list[P] = []
        for type_, piece in file.iterate_removable_types():
            if (
                type_.name in around
                and type_.name not in before
                and not any(type_.start_byte <= start < type_.end_byte for start in others)
                and type_.simple not in used_elsewhere | file.find_names_outside([piece.span])
                and not any(done.span[0] <= piece.span[0] < done.span[1] for done in emptied)
            ):
                emptied.append(piece)
        return emptied

    def _require_valid_result(
        self, file: O, text: bytes, originals: Iterable[OriginalTest]
    ) -> None:
        """Raise an error if a text that was made from a file is no valid result.

        originals  the files from which tests came; their faults are tolerated by the rules

        Raises:
            StartStateInvalid: it does not parse, has new duplicates, or equals the file.
        """
        parse, list_duplicates = self.rules.parse, self.rules.list_duplicates
        start, olds = parse(text), [parse(original.source) for original in originals]
        if not start.is_well_formed() and all(each.is_well_formed() for each in (file, *olds)):
            raise StartStateInvalid('the start file does not parse')
        known = (file, *olds) if self.rules.tolerates_old else (file,)
        twice = list_duplicates(start).difference(*map(list_duplicates, known))
        if twice:
            raise StartStateInvalid(self.rules.describe_duplicate(min(twice)))
        if text == file.source:
            raise StartStateInvalid('the start file is the file at new')


# Finds what a new version of a test file adds beside its tests, as grafts for the old version.
#
# Only new tests can use such additions, since no test of the old version names them. Members that
# run by themselves are left out, because they would change the behaviour of old tests.

_ADDED = frozenset({'method', 'field'})

_Key = tuple[str, str, str, tuple[str, ...]]


def find_helper_grafts(
    old: SourceFile,
    new: SourceFile,
    tests: Iterable[Member],
    stays_out: Callable[[Member], bool],
) -> list[Graft]:
    """Return the additions of the new file beside its tests, as grafts, in the order of the file.

    An addition is a method, a field, or a new type that contains no tests. A new type is one graft,
    under its own name; what is nested in it is not listed.

    tests      the tests of the new file
    stays_out  returns whether a member runs by itself or cannot be inserted alone; it is no
               addition then
    """
    starts = {declared.start_byte for declared in tests}
    there = {type_.name for type_ in old.types}
    known = {_identify_member(member) for type_ in old.types for member in type_.members}
    grafts: list[Graft] = []
    for type_ in new.types:
        if type_.name in there:
            members = [declared for declared in type_.members if declared.start_byte not in starts]
            grafts += _graft_new_members(
                [declared for declared in members if not stays_out(declared)], known
            )
        elif _is_outermost_new_type(type_, there) and starts.isdisjoint(
            m.start_byte for m in type_.members
        ):
            grafts.append(_make_graft(type_.name, '', ()))
    return grafts


def _identify_member(member: Member) -> _Key:
    return member.kind, member.owner, member.name, member.parameters


def _graft_new_members(members: Iterable[Member], known: AbstractSet[_Key]) -> Iterator[Graft]:
    for member in members:
        if member.kind in _ADDED and _identify_member(member) not in known:
            yield _make_graft(member.owner, member.name, member.parameters)


def _is_outermost_new_type(type_: DeclaredType, there: AbstractSet[str]) -> bool:
    """Return whether a type can be a graft of its own.

    It must not be a module or package, nor nested in another new type, which would bring it along.
    """
    return type_.kind != MODULE and (not type_.enclosing_name or type_.enclosing_name in there)


def _make_graft(owner: str, name: str, parameters: tuple[str, ...]) -> Graft:
    method = TestMethod(
        module='', test_file='', test_class=owner, test_method=name, parameters=parameters
    )
    return Graft(new=method)
