from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.git.repository import Repository
from coevo.languages.table import get_reading_of_file
from coevo.model.dependencies import RESOURCE, Dependency, Revised
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from coevo.model.words import Track
from coevo.prompts import (
    NONE_CHANGED,
    OTHERS,
    VERSION,
    PartKind,
    PromptPart,
    PromptSubject,
    compose_coevolution_prompt,
    compose_implement_prompt,
    compose_maintenance_prompt,
    describe_target,
    find_changed_parts,
    list_dependency_lines,
)
from tests import snapshots
from tests.languages.table import known_toy
from tests.repos import commit, init

STATUS = 'core/src/main/java/p/Status.java'


def dependency(name: str, declaration: str, revised: Revised, rank: int) -> Dependency:
    return Dependency(
        name=name,
        declaration=declaration,
        file=STATUS,
        start_line=1,
        end_line=2,
        revised=revised,
        rank=rank,
    )


def test_changed_methods_are_listed_once_and_in_a_stable_order() -> None:
    text = dependency('p.Status#toString()', 'public String toString()', Revised.MODIFIED, 1)
    made = dependency('p.Status#Status(int)', 'Status(int code)', Revised.INSERTED, 2)
    again = dependency('p.Status#toString()', 'public String toString()', Revised.MODIFIED, 3)
    rest = dependency('p.Status', 'class Status', Revised.MODIFIED, 4)
    assert list_dependency_lines([text, made, again, rest]) == (
        f'- inserted `Status(int code)` in `{STATUS}`',
        f'- modified `public String toString()` in `{STATUS}`',
        f'- modified type `class Status` in `{STATUS}`',
    )


def test_changed_non_methods_are_listed_with_their_kind() -> None:
    rest = dependency('p.Status', 'class Status', Revised.MODIFIED, 1)
    resource = dataclasses.replace(
        dependency('core/src/main/resources/a.txt', RESOURCE, Revised.REMOVED, 2),
        file='core/src/main/resources/a.txt',
    )
    constant = PromptPart(
        kind=PartKind.CONSTANT, revised=Revised.INSERTED, declaration='int CLOSED = 3'
    )
    header = PromptPart(kind=PartKind.HEADER, revised=Revised.MODIFIED, declaration='class Status')

    assert list_dependency_lines([rest, resource], {(STATUS, 'p.Status'): (constant, header)}) == (
        f'- inserted constant `int CLOSED = 3` in `{STATUS}`',
        f'- modified declaration of `class Status` in `{STATUS}`',
        '- removed resource `core/src/main/resources/a.txt`',
    )


@pytest.mark.parametrize(
    ('path', 'text', 'kinds'),
    [
        ('p/rank.go', 'package p\n\nfunc (d Data) Rank() int { return 1 }\n', []),
        ('p/data.go', 'package p\n\ntype Data []int\n', [PartKind.TYPE]),
        ('p/most.go', 'package p\n\nvar Most = 3\n', [PartKind.REST]),
        ('p/rank.py', 'def rank():\n    return 1\n', []),
    ],
)
def test_new_file_is_a_changed_part_only_with_code_outside_of_functions(
    tmp_path: Path, path: str, text: str, kinds: list[PartKind]
) -> None:
    repo = init(tmp_path / 'repo')
    olds, news = commit(repo, 'old', {'README': ''}), commit(repo, 'new', {path: text})
    types = get_reading_of_file(path).parse(text.encode(), path).types
    parts = [
        part.kind
        for type_ in types
        for part in find_changed_parts(
            Repository(repo / '.git'),
            olds,
            news,
            dataclasses.replace(
                dependency(type_.name, type_.declaration, Revised.INSERTED, 1), file=path
            ),
        )
    ]
    assert parts == kinds


def test_variable_of_a_file_is_no_field(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    text = 'package p\n\nvar Most = {}\n\nconst Least = {}\n'
    olds = commit(repo, 'old', {'p/most.go': text.format(3, 1)})
    news = commit(repo, 'new', {'p/most.go': text.format(4, 2)})
    changed = dataclasses.replace(
        dependency('p', 'package p', Revised.MODIFIED, 1), file='p/most.go'
    )
    parts = find_changed_parts(Repository(repo / '.git'), olds, news, changed)
    assert {part.kind for part in parts} == {PartKind.VARIABLE, PartKind.CONSTANT}


def test_block_that_binds_many_names_is_one_part(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    block = (
        'import typing\n\nif typing.TYPE_CHECKING:\n    import abc\n    MOST = 3\n{}\nLEAST = 1\n'
    )
    olds = commit(repo, 'old', {'p/most.py': block.format('')})
    news = commit(repo, 'new', {'p/most.py': block.format('    import re\n')})
    changed = dataclasses.replace(
        dependency('p.most', 'module p.most', Revised.MODIFIED, 1), file='p/most.py'
    )
    name = get_reading_of_file('p/most.py').parse(block.encode(), 'p/most.py').types[0].name
    (part,) = find_changed_parts(
        Repository(repo / '.git'), olds, news, dataclasses.replace(changed, name=name)
    )
    assert (part.kind, part.revised) == (PartKind.REST, Revised.MODIFIED)


def test_code_that_tests_execute_and_do_not_call_is_listed_apart() -> None:
    others = [
        dependency(f'p.Status#h{n:02}()', f'void h{n:02}()', Revised.MODIFIED, n + 3)
        for n in range(23)
    ]
    text = compose_coevolution_prompt(
        dataclasses.replace(SUBJECT, others=[*SUBJECT.dependencies, *others])
    )
    apart = text.partition(f'\n\n{OTHERS}\n')[2].partition('\n\n')[0].splitlines()
    assert apart[0] == f'- modified `void h00()` in `{STATUS}`'
    assert apart[-1] == '- and 3 more'
    assert len(apart) == 21


def test_renamed_target_is_described_by_both_names() -> None:
    assert describe_target('p.StatusTest$In', 'prints', 'prints') == 'StatusTest$In#prints'
    assert describe_target('p.StatusTest', 'prints', 'shows') == (
        'StatusTest#shows (renamed to StatusTest#prints; either name will do)'
    )


def test_changed_parts_of_a_type_are_found_by_kind(tmp_path: Path) -> None:
    old = (
        'package p;\nclass Status {\n static final int OPEN = 1;\n int code;\n int gone;\n'
        ' { code = 1; }\n int a() { return 1; }\n}\n'
    )
    new = (
        'package p;\nclass Status extends Base {\n static final int OPEN = 2;\n int code;\n'
        ' static final int CLOSED = 3;\n { code = 2; }\n int a() { return 2; }\n}\n'
    )
    repo = init(tmp_path / 'repo')
    olds = commit(repo, 'old', {STATUS: old}, date='2020-01-01T00:00:00Z')
    news = commit(repo, 'new', {STATUS: new}, date='2020-01-02T00:00:00Z')
    repository = Repository(repo / '.git')
    rest = dependency('p.Status', 'class Status extends Base', Revised.MODIFIED, 1)

    found = {(one.kind, one.revised) for one in find_changed_parts(repository, olds, news, rest)}

    assert found == {
        (PartKind.HEADER, Revised.MODIFIED),
        (PartKind.CONSTANT, Revised.MODIFIED),
        (PartKind.CONSTANT, Revised.INSERTED),
        (PartKind.FIELD, Revised.REMOVED),
        (PartKind.INITIALIZER, Revised.MODIFIED),
    }
    moved = dataclasses.replace(rest, name='p.Other')
    (whole,) = find_changed_parts(repository, olds, news, moved)
    assert whole.kind is PartKind.TYPE


TEST = TestMethod(
    module='core',
    test_file='core/src/test/java/p/StatusTest.java',
    test_class='p.StatusTest',
    test_method='prints',
    parameters=(),
)
SUBJECT = PromptSubject(
    language='java',
    track=Track.UPDATE,
    new_rev='6f79b10a',
    module='core',
    test_file=TEST.test_file,
    test_methods=('StatusTest#prints', 'StatusTest$Inner#prints'),
    methods=(
        TEST,
        dataclasses.replace(TEST, test_class='p.StatusTest$Inner', parameters=('int',)),
    ),
    dependencies=(
        dependency('p.Status#a()', 'List<test_file> a()', Revised.MODIFIED, 1),
        dependency('p.Status#b()', 'void b()', Revised.REMOVED, 2),
    ),
)


def test_every_placeholder_of_the_prompt_is_filled_once() -> None:
    text = compose_coevolution_prompt(SUBJECT)
    assert 'Pinned commit: 6f79b10a\n' in text
    assert '- Methods to update:\n- StatusTest#prints\n- StatusTest$Inner#prints\n' in text
    assert '(DM):\n- modified `List<test_file> a()` in' in text
    assert '`cd core && mvn test-compile`' in text
    assert "--select-method 'p.StatusTest$Inner#prints(int)'`" in text
    assert not {'<commit_sha>', '<deps_section>', '<framework>', '<running>'} & set(text.split())


def test_root_module_needs_no_cd_and_repair_needs_no_dependency() -> None:
    text = compose_coevolution_prompt(
        dataclasses.replace(SUBJECT, module='.', dependencies=(), track=Track.REPAIR)
    )
    assert '`mvn test-compile`' in text
    assert NONE_CHANGED in text


def test_prompt_uses_the_words_and_steps_of_its_language() -> None:
    with known_toy():
        text = compose_coevolution_prompt(
            dataclasses.replace(SUBJECT, language='toy', track=Track.GENERATION)
        )
    assert 'You are writing new toy test methods' in text
    assert '\n6. Run the steps of prints, prints by hand.\n7. Before finishing' in text
    assert 'introduced in DM.\n' in text


def test_prompt_uses_commands_of_the_build_tool_of_the_task() -> None:
    gradle = Environment(runtime='17', build_tool='gradle 8.5', libraries=())
    text = compose_coevolution_prompt(dataclasses.replace(SUBJECT, environment=gradle))
    assert '- Compile: `gradle -p core testClasses`' in text
    assert "test --tests p.StatusTest.prints --tests 'p.StatusTest$Inner.prints'`" in text
    assert 'mvn' not in text
    begun = 'cd core && GOWORK=off go test -mod=mod -modfile=$d/go.mod'
    go = Environment(
        runtime='1.26',
        build_tool='go',
        libraries=(),
        test_command=f'{begun} -vet=off -count=1 -run ^TestPrints$ .',
    )
    text = compose_coevolution_prompt(dataclasses.replace(SUBJECT, language='go', environment=go))
    assert f'{begun} -vet=off -run ' in text


def test_changed_prompt_text_needs_a_new_version() -> None:
    """Agents are compared on the same bytes: whoever edits a prompt raises VERSION."""
    subject = dataclasses.replace(
        SUBJECT, others=[dependency('p.Status#c()', 'void c()', Revised.MODIFIED, 3)]
    )
    texts = [
        compose_coevolution_prompt(dataclasses.replace(subject, track=track, language=language))
        for track in sorted(Track)
        for language in ('java', 'python', 'go')
    ]
    texts.append(compose_implement_prompt(subject))
    texts.append(compose_maintenance_prompt('go', '.', 'abc', STATUS, subject.dependencies, (), {}))
    digest = hashlib.sha256('\0'.join(texts).encode()).hexdigest()[:16]
    assert (VERSION, digest) == ('coevo-10', '662c0eb66d46bd74')


def test_prompt_command_refuses_an_unknown_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = snapshots.make(tmp_path, 1)
    assert main(['prompt', str(made), 'nothing']) == 2
    assert 'lists its tasks' in capsys.readouterr().err


def test_prompt_help_says_which_prompts_are_from_the_paper(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(['prompt', '--help'])
    told = ' '.join(capsys.readouterr().out.split())
    assert 'The paper has no text for extension and repair; coevo has its own.' in told
