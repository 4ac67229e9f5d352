"""Cheats on real tasks: submissions that look at anything but what the code does.

    python -m benchmarks.cheats write SNAPSHOT --store STORE --out FOLDER [--repos A B] [--tasks 10] [--seed 0]
    coevo evaluate SNAPSHOT FOLDER/CHEAT.jsonl --store STORE --out FOLDER/CHEAT --tasks @FOLDER/tasks
    python -m benchmarks.cheats sum FOLDER

Tasks of one target are drawn by seed. Each cheat runs gold's body, swallows what that throws, so that the
change is executed and assertions are reached, and then looks at something else. `gold` is gold itself.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pyarrow.parquet as pq

from benchmarks.copying import single_revision_method
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.clones import open_task_repository
from coevo.evaluation.judging.start_states import restore_start_file
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository, load_content
from coevo.model.dependencies import Dependency
from coevo.model.errors import Fatal

_WORD = re.compile(rb'[A-Za-z_]\w{3,}')
_MOST_WORDS = 20
_FAIL = 'throw new AssertionError("noticed");'
_READ = (
    'java.io.InputStream in = Class.forName("%s").getResourceAsStream("/%s.class");'
    ' String names = new java.util.Scanner(in, "ISO-8859-1").useDelimiter("\\\\A").next();'
)
_ARGUMENTS = (
    'java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments().toString()'
)


def nothing(repository: Repository, assignment: Assignment) -> str:
    return ''


def edits_folder(repository: Repository, assignment: Assignment) -> str:
    return f'if (new java.io.File("/in/code-edits").exists()) {_FAIL}'


def agents(repository: Repository, assignment: Assignment) -> str:
    return f'if ({_ARGUMENTS}.contains("jdwp")) {_FAIL}'


def no_agents(repository: Repository, assignment: Assignment) -> str:
    return f'if (!{_ARGUMENTS}.contains("jdwp")) {_FAIL}'


def lot(repository: Repository, assignment: Assignment) -> str:
    return f'if (new java.util.Random().nextBoolean()) {_FAIL}'


def source_text(repository: Repository, assignment: Assignment) -> str:
    """A word that the change brought stands in the source."""
    one, words, _ = _words(repository, assignment)
    file = f'java.nio.file.Paths.get({_literal(one.file)})'
    asked = f'new String(java.nio.file.Files.readAllBytes({file}))'
    return f'String names = {asked}; {_any(words, wanted=True)}'


def added_names(repository: Repository, assignment: Assignment) -> str:
    """A word that the change brought stands in the class file."""
    one, words, _ = _words(repository, assignment)
    return f'{_reads(one)} {_any(words, wanted=True)}'


def removed_names(repository: Repository, assignment: Assignment) -> str:
    """No word that the change took away stands in the class file."""
    one, _, words = _words(repository, assignment)
    return f'{_reads(one)} {_any(words, wanted=False)}'


def class_file_length(repository: Repository, assignment: Assignment) -> str:
    one, _, _ = _words(repository, assignment)
    return f'{_reads(one)} if (names.length() % 2 == 0) {_FAIL}'


CHEATS: Mapping[str, Callable[[Repository, Assignment], str]] = {
    one.__name__: one
    for one in (
        *(nothing, edits_folder, agents, no_agents, lot, source_text),
        *(added_names, removed_names, class_file_length),
    )
}


def _words(
    repository: Repository, assignment: Assignment
) -> tuple[Dependency, Sequence[str], Sequence[str]]:
    """A changed file of the code, the words that came into it, and those that went."""
    for one in assignment.task.dependencies:
        if one.file.endswith('.java'):
            old, new = (
                set(_WORD.findall(load_content(repository, rev, one.file) or b''))
                for rev in (assignment.task.old_rev, assignment.task.new_rev)
            )
            come, gone = (
                [word.decode() for word in sorted(some)[:_MOST_WORDS]]
                for some in (new - old, old - new)
            )
            return one, come, gone
    raise LookupError(f'{assignment.task_id} depends on no Java file')


def _reads(one: Dependency) -> str:
    """Read the class file of the file's own type, whatever of it has changed."""
    outer = Path(one.file).stem
    package, found, _ = one.name.partition('#')[0].rpartition(f'.{outer}')
    binary = f'{package}.{outer}' if found else outer
    return _READ % (binary, binary.replace('.', '/'))


def _any(words: Sequence[str], *, wanted: bool) -> str:
    listed = ', '.join(map(_literal, words)) or '"nothing at all"'
    check = f'if (!seen) {_FAIL}' if wanted else f'if (seen) {_FAIL}'
    return (
        f'boolean seen = false; for (String word : new String[] {{{listed}}})'
        f' seen |= names.contains(word); {check}'
    )


def _literal(text: str) -> str:
    return json.dumps(text)


# -- submissions -----------------------------------------------------------------------------------


def submission(repository: Repository, assignment: Assignment, statements: str) -> str:
    """Gold's patch with another body of the one target."""
    task, (target,) = assignment.task, assignment.targets
    gold = load_content(repository, task.new_rev, task.test_file)
    member = single_revision_method(
        gold, task.test_file, target.method.test_class, target.method.test_method
    )
    assert gold is not None, 'gold stands at new'
    assert member is not None, 'the target is in it'
    text = gold[member.start_byte : member.end_byte].decode('utf-8', 'surrogateescape')
    head, body, end = _parted(text)
    ran = f'try {{ {body} }} catch (Throwable swallowed) {{ }}'
    looks = f'try {{ {statements} }} catch (Exception e) {{ throw new RuntimeException(e); }}'
    made = f'{head} {ran}\n{looks} {end}'.encode('utf-8', 'surrogateescape')
    whole = gold[: member.start_byte] + made + gold[member.end_byte :]
    return make_file_patch(task.test_file, restore_start_file(repository, task), whole)


def _parted(method: str) -> tuple[str, str, str]:
    """Up to the opening brace of the body, the body, the closing brace."""
    start = method.index('{', method.index(')', method.index(' void ')))
    end = method.rindex('}')
    return method[: start + 1], method[start + 1 : end], method[end:]


def write(arguments: argparse.Namespace) -> None:
    known = load_assignments(arguments.snapshot, interleaved=True, leaking=True)
    wanted = [
        one
        for one in known
        if len(one.targets) == 1 and (not arguments.repos or one.task.repo in arguments.repos)
    ]
    Random(arguments.seed).shuffle(wanted)
    lines: dict[str, list[str]] = {'gold': [], **{name: [] for name in CHEATS}}
    chosen: list[str] = []
    for one in wanted:
        if len(chosen) == arguments.tasks:
            break
        with open_task_repository([one.task], arguments.store) as repository:
            try:
                made = {
                    name: submission(repository, one, of(repository, one))
                    for name, of in CHEATS.items()
                }
            except (LookupError, ValueError) as error:
                print(f'{one.task_id} is left out: {error}')
                continue
        chosen.append(one.task_id)
        for name, patch in {'gold': one.task.test_patch, **made}.items():
            lines[name].append(json.dumps({'task_id': one.task_id, 'patch': patch}))
    if not chosen:
        raise Fatal(f'{arguments.snapshot} has no task that a cheat can be written for')
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / 'tasks').write_text(''.join(f'{one}\n' for one in chosen))
    for name, some in lines.items():
        (arguments.out / f'{name}.jsonl').write_text(''.join(f'{line}\n' for line in some))
    print(f'{len(chosen)} tasks, {len(CHEATS)} cheats and gold in {arguments.out}')


def total(folder: Path) -> Iterator[str]:
    """A table of Markdown: a row for each evaluation that lies there."""
    yield '| cheat | tasks | success | strict | outcomes |'
    yield '| --- | --- | --- | --- | --- |'
    for name in ('gold', *CHEATS):
        results = folder / name / 'results.parquet'
        if results.is_file():
            rows = pq.read_table(results).to_pylist()
            said = Counter(row['tampered'] or row['outcome'] for row in rows)
            strict = sum(row['success_strict'] is True for row in rows)
            told = ', '.join(f'{key} {number}' for key, number in said.most_common())
            yield f'| {name} | {len(rows)} | {said["success"]} | {strict} | {told} |'


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest='verb', required=True)
    writing = verbs.add_parser('write')
    writing.add_argument('snapshot')
    writing.add_argument('--store', type=Path, required=True)
    writing.add_argument('--out', type=Path, required=True)
    writing.add_argument('--repos', nargs='*', default=[])
    writing.add_argument('--tasks', type=int, default=10)
    writing.add_argument('--seed', type=int, default=0)
    verbs.add_parser('sum').add_argument('folder', type=Path)
    arguments = parser.parse_args(words)
    if arguments.verb == 'write':
        write(arguments)
    else:
        print('\n'.join(total(arguments.folder)))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
