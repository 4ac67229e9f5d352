"""The prompts of tasks, the same bytes for every agent (TestEvo-Bench, A.3).

The prompts for update and generation are the paper's. The paper has none for extension and repair,
so coevo has its own. Parts that depend on a language come from that language
(`coevo.languages.kits`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from itertools import chain, count

from coevo.git.repository import Repository, load_content
from coevo.languages.declarations import MODULE, DeclaredType, Member
from coevo.languages.kits import PromptWords
from coevo.languages.table import LANGUAGES, get_reading_of_file
from coevo.model.dependencies import Dependency, Revised
from coevo.model.families import Family, Focus, FocusKind, StartBuilder
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track

# Find which parts of a type changed besides its methods: fields, constants, its header.


class PartKind(StrEnum):
    """A kind of part, as prompts name it."""

    CONSTANT = 'constant'
    FIELD = 'field'
    VARIABLE = 'variable'
    INITIALIZER = 'initializer'
    HEADER = 'declaration of'
    REST = 'code outside of functions of'
    TYPE = 'type'


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """A changed part of a type."""

    kind: PartKind
    revised: Revised
    declaration: str


PartsByType = Mapping[tuple[str, str], Sequence[PromptPart]]
"""Changed parts by the file and the name of the type."""


def find_changed_parts(
    repository: Repository, old_rev: str, new_rev: str, dependency: Dependency
) -> tuple[PromptPart, ...]:
    """Return the changed parts of a type, besides its methods, on which a test depends.

    If the type is new, was removed or moved, or no part differs, the only part is the type itself.
    A new or removed file that stands for a type, as in Go and Python, is a part only as far as it
    has code outside of functions. Methods of a type that another file declares are no part.
    """
    whole = PromptPart(
        kind=PartKind.TYPE, revised=dependency.revised, declaration=dependency.declaration
    )
    if dependency.revised is not Revised.MODIFIED:
        rev = new_rev if dependency.revised is Revised.INSERTED else old_rev
        there = _find_type(repository, rev, dependency)
        if there is None or (there.kind != MODULE and not there.is_elsewhere):
            return (whole,)
        rest = dataclasses.replace(whole, kind=PartKind.REST)
        return (rest,) if _index_fields_and_initializers(there) else ()
    old, new = (_find_type(repository, rev, dependency) for rev in (old_rev, new_rev))
    if old is None or new is None:
        return (whole,)
    return tuple(_compare_types(old, new)) or (whole,)


def _find_type(repository: Repository, rev: str, dependency: Dependency) -> DeclaredType | None:
    source = load_content(repository, rev, dependency.file)
    types = (
        get_reading_of_file(dependency.file).parse(source, dependency.file).types
        if source is not None
        else ()
    )
    return next((type_ for type_ in types if type_.name == dependency.name), None)


def _compare_types(old: DeclaredType, new: DeclaredType) -> Iterator[PromptPart]:
    if old.shape_hash != new.shape_hash:
        yield PromptPart(
            kind=PartKind.HEADER, revised=Revised.MODIFIED, declaration=new.declaration
        )
    before, after = _index_fields_and_initializers(old), _index_fields_and_initializers(new)
    # A statement of a Python file, such as `if TYPE_CHECKING:`, may bind many names. Which of them
    # changed is unknown.
    statements: dict[tuple[bool, int, int], list[PromptPart]] = {}
    for key in dict.fromkeys([*before, *after]):
        was, is_ = before.get(key), after.get(key)
        member = is_ or was
        if member is None or (was and is_ and was.hash == is_.hash):
            continue
        revised = Revised.MODIFIED if was and is_ else Revised.INSERTED if is_ else Revised.REMOVED
        place = is_ is None, member.start_byte, member.end_byte
        part = _make_part(member, revised, is_of_file=new.kind == MODULE)
        statements.setdefault(place, []).append(part)
    rest = PromptPart(kind=PartKind.REST, revised=Revised.MODIFIED, declaration=new.declaration)
    for parts in statements.values():
        yield parts[0] if len(parts) == 1 else rest


def _index_fields_and_initializers(type_: DeclaredType) -> dict[tuple[str, str, int], Member]:
    """Return the fields by name, and the initializers, which have no name, by their order."""
    fields: dict[tuple[str, str, int], Member] = {}
    for member in type_.members:
        if member.kind in ('field', 'initializer'):
            count = sum((kind, name) == (member.kind, member.name) for kind, name, _ in fields)
            fields[member.kind, member.name, count] = member
    return fields


def _make_part(member: Member, revised: Revised, *, is_of_file: bool) -> PromptPart:
    if member.kind == 'initializer':
        return PromptPart(
            kind=PartKind.INITIALIZER, revised=revised, declaration=member.declaration
        )
    if {'static', 'final'} <= member.modifiers:
        kind = PartKind.CONSTANT
    else:
        kind = PartKind.VARIABLE if is_of_file else PartKind.FIELD
    return PromptPart(kind=kind, revised=revised, declaration=member.declaration)


# The canary of a month: a line by which text of a release is found in what a model was trained on.
#
# It is derived from the month alone, so that it is the same on every machine, and a task keeps its
# prompt in the snapshots of later months.


def compute_canary(month: str) -> str:
    """Return the canary of a month, such as `coevo canary` with a UUID; `month` is `YYYY-MM`."""
    digest = hashlib.sha256(f'coevo canary of {month}'.encode()).digest()
    return f'coevo canary {uuid.UUID(bytes=digest[:16], version=4)}'


def add_canary(prompt: str, month: str) -> str:
    """Return a prompt with the canary of a month as its last line; unchanged if it has it."""
    line = f'{compute_canary(month)} (benchmark text: keep it out of training data)\n'
    return prompt if prompt.endswith(line) else f'{prompt.rstrip()}\n\n{line}'


# Increase with every change of a text or of the way its blanks are filled.
VERSION = 'coevo-10'

# Prefix of each step in a text. Steps are numbered after those of the language are inserted.
_STEP = '#. '

# For repair tasks only: other tasks without a dependency are dropped.
NONE_CHANGED = '- none that these tests use'
# Above the changed code that the tests execute and do not call themselves. The paper's list has what
# they call.
OTHERS = 'OTHER CHANGED PRODUCTION CODE THAT THESE TESTS EXECUTE:'
MOST_OTHERS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSubject:
    """The parts of a task that its prompt contains.

    test_methods  CLASS#METHOD as the task lists them; a renamed one as in `describe_target`
    methods       the same methods, under their names in the start file
    module        folder of the module, '.' for the root
    environment   the task's environment with its commands, if known
    others        other changed code that the methods execute
    parts         changed parts of a type besides its methods, by the file and name of the type
    """

    language: str
    track: Track
    new_rev: str
    module: str
    test_file: str
    test_methods: Sequence[str]
    methods: Sequence[TestMethod]
    dependencies: Sequence[Dependency]
    others: Sequence[Dependency] = ()
    parts: PartsByType = field(default_factory=dict)
    environment: Environment | None = None


def compose_coevolution_prompt(subject: PromptSubject) -> str:
    """Return the whole prompt of a task, with a newline at its end."""
    return _compose_for_methods(subject, subject.track)


def compose_implement_prompt(subject: PromptSubject) -> str:
    """Return the prompt of a task that asks for the code of a change."""
    return _compose_for_methods(subject, Family.IMPLEMENT)


def _compose_for_methods(subject: PromptSubject, text: str) -> str:
    words = LANGUAGES[subject.language].make_prompt_words(
        subject.module, subject.test_file, subject.methods, subject.environment
    )
    blanks = {
        '<commit_sha>': subject.new_rev,
        '<test_file>': subject.test_file,
        '<test_methods>': '\n'.join(f'- {name}' for name in subject.test_methods),
        '<deps_section>': _render_changes(subject.dependencies, subject.others, subject.parts),
    }
    return _fill_text(text, words, blanks)


def _render_changes(
    dependencies: Sequence[Dependency], others: Sequence[Dependency], parts: PartsByType
) -> str:
    """Return the list of changed code that tests call, and of other code that they execute."""
    lines = list_dependency_lines(dependencies, parts)
    rest = [line for line in list_dependency_lines(others, parts) if line not in lines]
    if not rest:
        return '\n'.join(lines) or NONE_CHANGED
    left = [f'- and {len(rest) - MOST_OTHERS} more'] if len(rest) > MOST_OTHERS else []
    listed = (*(lines or (NONE_CHANGED,)), '', OTHERS, *rest[:MOST_OTHERS], *left)
    return '\n'.join(listed)


def compose_suite_prompt(row: SingleRevisionRow, environment: Environment | None = None) -> str:
    """Return the prompt of a task that asks for a whole test file.

    row  the row of the task's gold file
    """
    words = LANGUAGES[row.language].make_prompt_words(row.module, row.test_file, (), environment)
    family, start = row.family or Family.CLASS, row.start_builder or StartBuilder.ABSENT
    name = f'{family}_{start}' if family is Family.FILE else str(family)
    return _fill_text(name, words, _make_focus_blanks(row))


def compose_unified_prompt(task: TaskRow) -> str:
    """Return the prompt that is the same for each scenario of a task (TAM-Eval, V.A).

    It names the code and the test file, and says neither what the start state lacks nor why.
    task  a task with a focus
    """
    words = LANGUAGES[task.language].make_prompt_words(
        task.module, task.test_file, (), task.environment
    )
    text = _fill_text('unified', words, _make_focus_blanks(task))
    return text if task.released is None else add_canary(text, task.released)


def _make_focus_blanks(row: SingleRevisionRow | TaskRow) -> dict[str, str]:
    return {
        '<commit_sha>': row.new_rev,
        '<test_file>': row.test_file,
        '<focus>': '\n'.join(map(_describe_focus, row.focus or ())),
    }


def compose_maintenance_prompt(
    language: str,
    module: str,
    new_rev: str,
    test_file: str,
    dependencies: Sequence[Dependency],
    others: Sequence[Dependency],
    parts: PartsByType,
    environment: Environment | None = None,
) -> str:
    """Return the prompt of a task to maintain a whole test file."""
    words = LANGUAGES[language].make_prompt_words(module, test_file, (), environment)
    blanks = {
        '<commit_sha>': new_rev,
        '<test_file>': test_file,
        '<deps_section>': _render_changes(dependencies, others, parts),
    }
    return _fill_text(Family.MAINTENANCE, words, blanks)


def _describe_focus(one: Focus) -> str:
    if one.kind is FocusKind.FILE:
        return f'- `{one.file}`'
    location = f'- `{one.declaration}` in `{one.file}`'
    is_function = one.kind is FocusKind.FUNCTION
    return f'{location}, lines {one.start_line} to {one.end_line}' if is_function else location


def _load_prompt_text(name: str) -> str:
    return files('coevo').joinpath('prompts', f'{name}.txt').read_text('utf-8')


def _fill_text(name: str, words: PromptWords, blanks: Mapping[str, str]) -> str:
    """Return a text with its steps numbered and all of its blanks filled.

    blanks  those that do not come from the language
    """
    text, running = _number_text_and_running_steps(_load_prompt_text(name), words.running)
    of_language = {
        '<framework>': words.framework,
        '<new_test>': words.new_test and f' {words.new_test}',
        '<new_file>': words.new_file,
        '<running>': running,
        '<side_effects>': words.side_effects,
    }
    return _fill_blanks(text, {**of_language, **blanks})


def _fill_blanks(text: str, blanks: Mapping[str, str]) -> str:
    """Return a text with all blanks filled, in one pass: a declaration may look like a blank."""
    return re.sub('|'.join(map(re.escape, blanks)), lambda found: blanks[found[0]], text)


def _number_text_and_running_steps(text: str, running: Sequence[str]) -> tuple[str, str]:
    """Return the text with numbered steps, and the numbered steps for its line `<running>`.

    The steps of `running` take numbers between those of the text.
    """
    first = text[: text.index('<running>')].count(_STEP) + 1
    steps = [f'{number}. {step}' for number, step in enumerate(running, first)]
    numbers = chain(range(1, first), count(first + len(steps)))
    text = ''.join(
        f'{next(numbers)}. {line.removeprefix(_STEP)}' if line.startswith(_STEP) else line
        for line in text.splitlines(keepends=True)
    )
    return text, '\n'.join(steps)


def describe_target(test_class: str, name: str, name_at_start: str) -> str:
    """Return a target as the prompt names it, with both names if the developers renamed it."""
    simple = test_class.rpartition('.')[2]
    if name == name_at_start:
        return f'{simple}#{name}'
    return f'{simple}#{name_at_start} (renamed to {simple}#{name}; either name will do)'


def list_dependency_lines(
    dependencies: Iterable[Dependency], parts: PartsByType | None = None
) -> tuple[str, ...]:
    """Return the bullet list of changed methods, followed by other changed dependencies.

    The lines are unique and sorted, such as "- modified `public String toString()` in
    `core/src/main/java/p/Status.java`" or "- inserted constant `int CLOSED = 3` in …".
    """
    methods = {
        f'- {dependency.revised} `{dependency.declaration}` in `{dependency.file}`'
        for dependency in dependencies
        if dependency.is_method
    }
    rest = {
        line
        for dependency in dependencies
        if not dependency.is_method
        for line in _describe_dependency(dependency, parts or {})
    }
    return (*sorted(methods), *sorted(rest))


def _describe_dependency(one: Dependency, parts: PartsByType) -> Iterator[str]:
    if one.is_resource:
        yield f'- {one.revised} resource `{one.file}`'
        return
    whole = PromptPart(kind=PartKind.TYPE, revised=one.revised, declaration=one.declaration)
    for part in parts.get((one.file, one.name), (whole,)):
        yield f'- {part.revised} {part.kind} `{part.declaration}` in `{one.file}`'
