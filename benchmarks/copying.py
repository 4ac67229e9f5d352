"""The baseline that copies: the most similar test that the start state shows, names replaced.

    python -m benchmarks.copying SNAPSHOT --store STORE --out predictions.jsonl [--with-siblings]

For each target the test method of the start state is taken whose class and method names share the
most words with the target's (generation; of update and repair whose text is nearest to the old
test's), and written under the target's name, words of its class's name replaced by those of the
target's class. The task's own targets, old or new, are no models. Nothing of gold is read but the names that the prompt has, too. With
`--with-siblings` the other test files stand as at new: what could be copied before schema 1.2.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import Assignment, Target, load_assignments
from coevo.evaluation.clones import open_task_repository
from coevo.evaluation.judging.start_states import collect_start_files, restore_start_file
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository
from coevo.languages.declarations import MODULE, DeclaredType, Member
from coevo.languages.layout import Side
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_reading, get_reading_of_file
from coevo.model.errors import Fatal
from coevo.model.records import TestMethod
from coevo.snapshots import snapshot

_WORDS = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+')
_IDENTIFIER = re.compile(r'[A-Za-z_$][\w$]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A test method that can be copied, in the file that has it."""

    class_name: str
    member: Member
    source: bytes
    path: str


def words(name: str) -> list[str]:
    return _WORDS.findall(name)


def copied(repository: Repository, assignment: Assignment, *, with_siblings: bool = False) -> str:
    """The patch of a task."""
    task = assignment.task
    start = restore_start_file(repository, task)
    files = {task.test_file: start} if with_siblings else None
    models = models_of(repository, assignment, start, files)
    made = start
    for target in assignment.targets:
        model = nearest(target, made, models)
        if model is not None:
            made = put(made, target, model, renamed(model, target.method))
    return make_file_patch(task.test_file, start, made)


def models_of(
    repository: Repository,
    assignment: Assignment,
    start: bytes | None,
    files: Mapping[str, bytes | None] | None = None,
) -> list[Model]:
    """The tests that the start state shows, but for the task's own targets.

    files  those that are not as at new; None is those of the start state
    """
    task = assignment.task
    shown = collect_start_files(repository, task, start) if files is None else files
    own = {
        (target.method.test_class, name)
        for target in assignment.targets
        for name in (target.method.test_method, target.method_at_start)
    }
    found = _models(get_reading(task.language), repository, task.new_rev, dict(shown))
    return [one for one in found if (one.class_name, one.member.name) not in own]


def _models(
    of: LanguageReading, repository: Repository, rev: str, files: Mapping[str, bytes | None]
) -> Iterator[Model]:
    at = of.open_tree(repository, rev)
    for path in at.list_paths(Side.TEST):
        source = files[path] if path in files else at.read_content(path)
        for type_, member in _tests(of, source, path):
            yield Model(class_name=type_.name, member=member, source=source or b'', path=path)


def _tests(
    of: LanguageReading, source: bytes | None, path: str
) -> Iterator[tuple[DeclaredType, Member]]:
    """What the file alone tells to be a test, by its marks or by its name."""
    file = of.parse(source, path) if source is not None else None
    marked = {member.start_byte for _, member in of.find_tests(file, _nobody)} if file else set()
    for type_ in file.types if file else ():
        for member in type_.members:
            named = member.name.startswith('test') and not member.parameters
            if member.kind == 'method' and (named or member.start_byte in marked):
                yield type_, member


def _nobody(name: str) -> tuple[DeclaredType, ...]:
    return ()


def nearest(target: Target, start: bytes | None, models: Sequence[Model]) -> Model | None:
    """By names, which is all that is known of a test that is to be written."""
    there = single_revision_method(
        start, target.method.test_file, target.method.test_class, target.method_at_start
    )
    wanted = _bag(target.method)

    def place(model: Model) -> tuple[bool, float, str, str]:
        own = {word.lower() for word in words(_simple(model.class_name) + '_' + model.member.name)}
        likeness = len(wanted & own) / max(1, len(wanted | own))
        if there is not None:
            likeness += len(there.names & model.member.names) / max(1, len(there.names))
        return _fits(model, target.method), likeness, model.class_name, model.member.name

    return max(models, key=place, default=None)


def _fits(model: Model, method: TestMethod) -> bool:
    """Where tests may stand in classes or beside them: whether both do the same."""
    return not model.path.endswith('.py') or ('$' in model.class_name) == ('$' in method.test_class)


def _bag(method: TestMethod) -> set[str]:
    name = f'{_simple(method.test_class)}_{method.test_method}'
    return {word.lower() for word in words(name)}


def _simple(name: str) -> str:
    return re.split(r'[.$]', name)[-1]


def single_revision_method(source: bytes | None, path: str, owner: str, name: str) -> Member | None:
    for type_ in get_reading_of_file(path).parse(source, path).types if source is not None else ():
        for member in type_.members:
            if (type_.name, member.name, member.kind) == (owner, name, 'method'):
                return member
    return None


def put(start: bytes | None, target: Target, model: Model, text: str) -> bytes:
    """The file with a text as the target; a new file is the model's with it alone."""
    method = target.method
    if start is None:
        return _new_file(model, method, text)
    single_revision = single_revision_method(
        start, method.test_file, method.test_class, target.method_at_start
    )
    if single_revision is not None:
        made = _laid_out(text, _column(start, single_revision.start_byte), method.test_file)
        return (
            start[: single_revision.start_byte]
            + made.lstrip().encode()
            + start[single_revision.end_byte :]
        )
    types = get_reading_of_file(method.test_file).parse(start, method.test_file).types
    type_ = next((one for one in types if one.name == method.test_class), None)
    return start if type_ is None else _added(start, type_, text, method.test_file)


def _added(start: bytes, type_: DeclaredType, text: str, path: str) -> bytes:
    """At the end of its container: before its brace, or after its last line where it has none."""
    body = start[type_.start_byte : type_.end_byte]
    if body.rstrip().endswith(b'}'):
        end = start.rindex(b'}', type_.start_byte, type_.end_byte)
        return start[:end] + b'\n    ' + text.encode() + b'\n' + start[end:]
    first = next(iter(type_.members), None)
    column = 0 if type_.kind == MODULE or first is None else _column(start, first.start_byte)
    made = _laid_out(text, column, path).encode()
    kept = start[: type_.end_byte].rstrip()
    return kept + b'\n\n\n' + made + b'\n' + start[type_.end_byte :]


def _column(source: bytes, at: int) -> int:
    return at - source.rfind(b'\n', 0, at) - 1


def _laid_out(text: str, column: int, path: str) -> str:
    """The text from that column on, where lines mean what their indentation says."""
    if not path.endswith('.py'):
        return text
    return textwrap.indent(textwrap.dedent(text), ' ' * column)


def _new_file(model: Model, method: TestMethod, text: str) -> bytes:
    """The model's file without its other tests."""
    of = get_reading_of_file(model.path)
    file, simple = of.parse(model.source, model.path), _simple(method.test_class)
    made = model.source
    others = [member for _, member in _tests(of, made, model.path) if member != model.member]
    laid_out = _laid_out(text, _column(made, model.member.start_byte), model.path).lstrip()
    pieces = [(member, b'') for member in others] + [(model.member, laid_out.encode())]
    for member, piece in sorted(pieces, key=lambda one: -one[0].start_byte):
        made = made[: member.start_byte] + piece + made[member.end_byte :]
    if model.path.endswith('.py'):
        own, other = _simple(model.class_name), simple
        if '$' in model.class_name and '$' in method.test_class:
            made = re.sub(rf'\b{re.escape(own)}\b', other, made.decode()).encode()
        return made
    package = method.test_class.rpartition('.')[0]
    renamed_ = re.sub(rf'\b{re.escape(_simple(model.class_name))}\b', simple, made.decode())
    imports = f'import {file.package}.*;\n' if file.package and file.package != package else ''
    head = re.sub(r'(?m)^\s*package [^;]+;', '', renamed_, count=1)
    return f'package {package};\n{imports}{head}'.encode()


def renamed(model: Model, method: TestMethod) -> str:
    """The model's text, indented as it stands, by the names of the target."""
    column = _column(model.source, model.member.start_byte)
    return ' ' * column + _renamed(model.member.source, model, method)


def _renamed(text: str, model: Model, method: TestMethod) -> str:
    """Words of the model's class and test that the target's lack, for those that it has instead."""
    pairs = dict(
        _differences(words(_simple(model.class_name)), words(_simple(method.test_class)))
    ) | dict(_differences(words(model.member.name), words(method.test_method)))

    def replaced(found: re.Match[str]) -> str:
        if found[0] == model.member.name:
            return method.test_method
        parts = _WORDS.split(found[0]), _WORDS.findall(found[0])
        named = [pairs.get(word.lower(), word) for word in parts[1]]
        cased = [
            new[:1].lower() + new[1:] if old[:1].islower() else new[:1].upper() + new[1:]
            for old, new in zip(parts[1], named, strict=True)
        ]
        return ''.join(a + b for a, b in zip(parts[0], [*cased, ''], strict=True))

    return _IDENTIFIER.sub(replaced, text)


def _differences(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    gone = [word for word in old if word.lower() not in {w.lower() for w in new}]
    come = [word for word in new if word.lower() not in {w.lower() for w in old}]
    if len(gone) == len(come):
        yield from ((a.lower(), b) for a, b in zip(gone, come, strict=True))
    elif gone and come:
        yield gone[0].lower(), ''.join(come)
        yield from ((word.lower(), '') for word in gone[1:])


def main(words_: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('snapshot')
    parser.add_argument('--store', type=Path, required=True)
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--with-siblings', action='store_true')
    arguments = parser.parse_args(words_)
    snapshot.load_manifest(arguments.snapshot)
    lines = []
    for one in load_assignments(arguments.snapshot, leaking=True):
        with open_task_repository([one.task], arguments.store) as repository:
            patch = copied(repository, one, with_siblings=arguments.with_siblings)
        lines.append(json.dumps({'task_id': one.task_id, 'patch': patch}, sort_keys=True))
    if not lines:
        raise Fatal(f'{arguments.snapshot} has no task')
    arguments.out.write_text(''.join(f'{line}\n' for line in lines))
    print(f'{len(lines)} predictions in {arguments.out}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
