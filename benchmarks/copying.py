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
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.assignments import Target
from coevo.evaluation.assignments import assignments
from coevo.evaluation.clones import repository_of
from coevo.evaluation.judging.start_states import files_at_start
from coevo.evaluation.judging.start_states import start_file
from coevo.git.patches import file_patch
from coevo.git.repository import Repository
from coevo.languages.declarations import Member
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.trees import tree
from coevo.languages.layout import Side
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


def words(name: str) -> list[str]:
    return _WORDS.findall(name)


def copied(repository: Repository, assignment: Assignment, *, with_siblings: bool = False) -> str:
    """The patch of a task."""
    task = assignment.task
    start = start_file(repository, task)
    files = dict(files_at_start(repository, task, start))
    if with_siblings:
        files = {task.test_file: start}
    models = list(_models(repository, task.new_rev, files))
    made = start
    own = {
        (target.method.test_class, name)
        for target in assignment.targets
        for name in (target.method.test_method, target.method_at_start)
    }
    models = [one for one in models if (one.class_name, one.member.name) not in own]
    for target in assignment.targets:
        model = _nearest(target, made, models)
        if model is not None:
            made = _put(made, target, model)
    return file_patch(task.test_file, start, made)


def _models(repository: Repository, rev: str, files: dict[str, bytes | None]) -> Iterator[Model]:
    at = tree(repository, rev)
    for path in at.paths(Side.TEST):
        source = files[path] if path in files else at.content(path)
        for type_ in parse(source).types if source is not None else ():
            for member in type_.members:
                if member.kind == 'method' and _is_test(member):
                    yield Model(class_name=type_.name, member=member, source=source or b'')


def _is_test(member: Member) -> bool:
    marked = any(name.endswith('Test') for name in member.annotations)
    return marked or (member.name.startswith('test') and not member.parameters)


def _nearest(target: Target, start: bytes | None, models: Sequence[Model]) -> Model | None:
    """By names, which is all that is known of a test that is to be written."""
    there = standing_method(start, target.method.test_class, target.method_at_start)
    wanted = _bag(target.method)

    def place(model: Model) -> tuple[float, str, str]:
        own = {word.lower() for word in words(_simple(model.class_name) + '_' + model.member.name)}
        likeness = len(wanted & own) / max(1, len(wanted | own))
        if there is not None:
            likeness += len(there.names & model.member.names) / max(1, len(there.names))
        return likeness, model.class_name, model.member.name

    return max(models, key=place, default=None)


def _bag(method: TestMethod) -> set[str]:
    name = f'{_simple(method.test_class)}_{method.test_method}'
    return {word.lower() for word in words(name)}


def _simple(name: str) -> str:
    return re.split(r'[.$]', name)[-1]


def standing_method(source: bytes | None, owner: str, name: str) -> Member | None:
    for type_ in parse(source).types if source is not None else ():
        for member in type_.members:
            if (type_.name, member.name, member.kind) == (owner, name, 'method'):
                return member
    return None


def _put(start: bytes | None, target: Target, model: Model) -> bytes:
    """The file with the model under the target's name; a new file is the model's with it alone."""
    method = target.method
    text = _renamed(model.member.source, model, method).encode()
    if start is None:
        return _new_file(model, method, text)
    standing = standing_method(start, method.test_class, target.method_at_start)
    if standing is not None:
        return start[: standing.start_byte] + text + start[standing.end_byte :]
    type_ = next((one for one in parse(start).types if one.name == method.test_class), None)
    if type_ is None:
        return start
    end = start.rindex(b'}', type_.start_byte, type_.end_byte)
    return start[:end] + b'\n    ' + text + b'\n' + start[end:]


def _new_file(model: Model, method: TestMethod, text: bytes) -> bytes:
    """The model's file without its other tests."""
    file, simple = parse(model.source), _simple(method.test_class)
    package = method.test_class.rpartition('.')[0]
    made = model.source
    type_ = next(one for one in file.types if one.name == model.class_name)
    for member in sorted(type_.members, key=lambda one: -one.start_byte):
        if member.kind == 'method' and _is_test(member):
            chosen = text if member.start_byte == model.member.start_byte else b''
            made = made[: member.start_byte] + chosen + made[member.end_byte :]
    renamed = re.sub(rf'\b{re.escape(_simple(model.class_name))}\b', simple, made.decode())
    imports = f'import {file.package}.*;\n' if file.package and file.package != package else ''
    head = re.sub(r'(?m)^\s*package [^;]+;', '', renamed, count=1)
    return f'package {package};\n{imports}{head}'.encode()


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
    snapshot.manifest(arguments.snapshot)
    lines = []
    for one in assignments(arguments.snapshot, leaking=True):
        with repository_of([one.task], arguments.store) as repository:
            patch = copied(repository, one, with_siblings=arguments.with_siblings)
        lines.append(json.dumps({'task_id': one.task_id, 'patch': patch}, sort_keys=True))
    if not lines:
        raise Fatal(f'{arguments.snapshot} has no task')
    arguments.out.write_text(''.join(f'{line}\n' for line in lines))
    print(f'{len(lines)} predictions in {arguments.out}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
