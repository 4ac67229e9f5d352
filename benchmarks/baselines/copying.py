"""The baseline that copies: the most similar test that the start state shows, names replaced.

For each target the test method of the start state is taken whose class and method names share the
most words with the target's (generation; of update and repair whose text is nearest to the old
test's), and written under the target's name, words of its class's name replaced by those of the
target's class. The task's own targets, old or new, are no models. Nothing of gold is read but the names that the prompt has, too.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.assignments import Assignment, Target
from coevo.evaluation.judging.start_states import (
    collect_files_differing_at_start,
    restore_start_file,
)
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository
from coevo.languages.declarations import MODULE, DeclaredType, Member
from coevo.languages.reading import LanguageReading, Side
from coevo.languages.table import get_reading, get_reading_of_file
from coevo.model.records import TestMethod

_WORDS = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+')
_IDENTIFIER = re.compile(r'[A-Za-z_$][\w$]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A test method that can be copied, in the file that has it."""

    class_name: str
    member: Member
    source: bytes
    path: str


def split_words(name: str) -> list[str]:
    """Split a name where its case changes."""
    return _WORDS.findall(name)


def copy_sibling(
    repository: Repository, assignment: Assignment, *, with_siblings: bool = False
) -> str:
    """Give the patch of a task.

    with_siblings  copy from the other test files as at new, as was possible before schema 1.2
    """
    task = assignment.task
    start = restore_start_file(repository, task)
    files = {task.test_file: start} if with_siblings else None
    models = list_models(repository, assignment, start, files)
    text = start
    for target in assignment.targets:
        model = find_nearest_model(target, text, models)
        if model is not None:
            text = put_test(text, target, model, write_renamed(model, target.method))
    return make_file_patch(task.test_file, start, text)


def list_models(
    repository: Repository,
    assignment: Assignment,
    start: bytes | None,
    files: Mapping[str, bytes | None] | None = None,
) -> list[Model]:
    """List the tests that the start state shows, but for the task's own targets.

    files  those that are not as at new; None is those of the start state
    """
    task = assignment.task
    shown = collect_files_differing_at_start(repository, task, start) if files is None else files
    own = {
        (target.method.test_class, name)
        for target in assignment.targets
        for name in (target.method.test_method, target.method_at_start)
    }
    models = _read_models(get_reading(task.language), repository, task.new_rev, dict(shown))
    return [model for model in models if (model.class_name, model.member.name) not in own]


def _read_models(
    of: LanguageReading, repository: Repository, rev: str, files: Mapping[str, bytes | None]
) -> Iterator[Model]:
    at = of.open_tree(repository, rev)
    for path in at.list_paths(Side.TEST):
        source = files[path] if path in files else at.read_content(path)
        for type_, member in _read_tests(of, source, path):
            yield Model(class_name=type_.name, member=member, source=source or b'', path=path)


def _read_tests(
    of: LanguageReading, source: bytes | None, path: str
) -> Iterator[tuple[DeclaredType, Member]]:
    """Read what the file alone tells to be a test, by its marks or by its name."""
    file = of.parse(source, path) if source is not None else None
    marked = (
        {member.start_byte for _, member in of.find_tests(file, _find_nothing)} if file else set()
    )
    for type_ in file.types if file else ():
        for member in type_.members:
            named = member.name.startswith('test') and not member.parameters
            if member.kind == 'method' and (named or member.start_byte in marked):
                yield type_, member


def _find_nothing(name: str) -> tuple[DeclaredType, ...]:
    return ()


def find_nearest_model(
    target: Target, start: bytes | None, models: Sequence[Model]
) -> Model | None:
    """Choose by names, which is all that is known of a test that is to be written."""
    there = find_method(
        start, target.method.test_file, target.method.test_class, target.method_at_start
    )
    wanted = _collect_words(target.method)

    def place(model: Model) -> tuple[bool, float, str, str]:
        own = {
            word.lower()
            for word in split_words(_take_simple_name(model.class_name) + '_' + model.member.name)
        }
        likeness = len(wanted & own) / max(1, len(wanted | own))
        if there is not None:
            likeness += len(there.names & model.member.names) / max(1, len(there.names))
        return _stand_alike(model, target.method), likeness, model.class_name, model.member.name

    return max(models, key=place, default=None)


def _stand_alike(model: Model, method: TestMethod) -> bool:
    """Whether both stand in a class, or both beside classes, where a language has tests in both places."""
    return not model.path.endswith('.py') or ('$' in model.class_name) == ('$' in method.test_class)


def _collect_words(method: TestMethod) -> set[str]:
    name = f'{_take_simple_name(method.test_class)}_{method.test_method}'
    return {word.lower() for word in split_words(name)}


def _take_simple_name(name: str) -> str:
    return re.split(r'[.$]', name)[-1]


def find_method(source: bytes | None, path: str, owner: str, name: str) -> Member | None:
    """Find a method of a class in a file; None where there is none."""
    for type_ in get_reading_of_file(path).parse(source, path).types if source is not None else ():
        for member in type_.members:
            if (type_.name, member.name, member.kind) == (owner, name, 'method'):
                return member
    return None


def put_test(start: bytes | None, target: Target, model: Model, text: str) -> bytes:
    """Write the file with a text as the target; a new file is the model's with it alone."""
    method = target.method
    if start is None:
        return _make_file(model, method, text)
    there = find_method(start, method.test_file, method.test_class, target.method_at_start)
    if there is not None:
        indented = _indent_test(text, _measure_column(start, there.start_byte), method.test_file)
        return start[: there.start_byte] + indented.lstrip().encode() + start[there.end_byte :]
    types = get_reading_of_file(method.test_file).parse(start, method.test_file).types
    type_ = next((each for each in types if each.name == method.test_class), None)
    return start if type_ is None else _append_test(start, type_, text, method.test_file)


def _append_test(start: bytes, type_: DeclaredType, text: str, path: str) -> bytes:
    """Append at the end of its container: before its brace, or after its last line where it has none."""
    body = start[type_.start_byte : type_.end_byte]
    if type_.kind != MODULE and body.rstrip().endswith(b'}'):
        end = start.rindex(b'}', type_.start_byte, type_.end_byte)
        return start[:end] + b'\n    ' + text.encode() + b'\n' + start[end:]
    first = next(iter(type_.members), None)
    column = (
        0 if type_.kind == MODULE or first is None else _measure_column(start, first.start_byte)
    )
    indented = _indent_test(text, column, path).encode()
    kept = start[: type_.end_byte].rstrip()
    return kept + b'\n\n\n' + indented + b'\n' + start[type_.end_byte :]


def _measure_column(source: bytes, at: int) -> int:
    return at - source.rfind(b'\n', 0, at) - 1


def _indent_test(text: str, column: int, path: str) -> str:
    """Indent the text to that column, where lines mean what their indentation says."""
    if not path.endswith('.py'):
        return text
    return textwrap.indent(textwrap.dedent(text), ' ' * column)


def _make_file(model: Model, method: TestMethod, text: str) -> bytes:
    """Make a file of the model's, without its other tests."""
    of = get_reading_of_file(model.path)
    file, simple = of.parse(model.source, model.path), _take_simple_name(method.test_class)
    whole = model.source
    others = [member for _, member in _read_tests(of, whole, model.path) if member != model.member]
    laid_out = _indent_test(
        text, _measure_column(whole, model.member.start_byte), model.path
    ).lstrip()
    pieces = [(member, b'') for member in others] + [(model.member, laid_out.encode())]
    for member, piece in sorted(pieces, key=lambda pair: -pair[0].start_byte):
        whole = whole[: member.start_byte] + piece + whole[member.end_byte :]
    if model.path.endswith('.py'):
        own, other = _take_simple_name(model.class_name), simple
        if '$' in model.class_name and '$' in method.test_class:
            whole = re.sub(rf'\b{re.escape(own)}\b', other, whole.decode()).encode()
        return whole
    if model.path.endswith('.go'):
        return whole
    package = method.test_class.rpartition('.')[0]
    named = re.sub(rf'\b{re.escape(_take_simple_name(model.class_name))}\b', simple, whole.decode())
    imports = f'import {file.package}.*;\n' if file.package and file.package != package else ''
    head = re.sub(r'(?m)^\s*package [^;]+;', '', named, count=1)
    return f'package {package};\n{imports}{head}'.encode()


def write_renamed(model: Model, method: TestMethod) -> str:
    """Write the model's text, indented as it stands, by the names of the target."""
    column = _measure_column(model.source, model.member.start_byte)
    return ' ' * column + _rename_words(model.member.source, model, method)


def _rename_words(text: str, model: Model, method: TestMethod) -> str:
    """Replace words of the model's class and test that the target's lack by those that it has instead."""
    pairs = dict(
        _pair_words(
            split_words(_take_simple_name(model.class_name)),
            split_words(_take_simple_name(method.test_class)),
        )
    ) | dict(_pair_words(split_words(model.member.name), split_words(method.test_method)))

    def replace(word: re.Match[str]) -> str:
        if word[0] == model.member.name:
            return method.test_method
        parts = _WORDS.split(word[0]), _WORDS.findall(word[0])
        named = [pairs.get(word.lower(), word) for word in parts[1]]
        cased = [
            new[:1].lower() + new[1:] if old[:1].islower() else new[:1].upper() + new[1:]
            for old, new in zip(parts[1], named, strict=True)
        ]
        return ''.join(a + b for a, b in zip(parts[0], [*cased, ''], strict=True))

    return _IDENTIFIER.sub(replace, text)


def _pair_words(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    gone = [word for word in old if word.lower() not in {w.lower() for w in new}]
    come = [word for word in new if word.lower() not in {w.lower() for w in old}]
    if len(gone) == len(come):
        yield from ((a.lower(), b) for a, b in zip(gone, come, strict=True))
    elif gone and come:
        yield gone[0].lower(), ''.join(come)
        yield from ((word.lower(), '') for word in gone[1:])
