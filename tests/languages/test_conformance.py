"""What every language has to do, asked of each with a project of its own in the real sandbox."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psutil
import pytest

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability, NotOfferedError
from coevo.languages.cells import BorrowedSettings, CellEdits, CompiledTests, SettingsScope
from coevo.languages.engine import Builder, BuiltPair, Engine, RunSettings
from coevo.languages.surgery import Graft, StartTarget
from coevo.languages.verdicts import KILLED, RunConditions, Verdict, VerdictBatch
from coevo.model.errors import Transient
from coevo.model.records import Pair
from coevo.model.words import Outcome, Walk
from tests.folders import open_folder
from tests.languages.specimens import LEFT, SLEPT, SPECIMENS, WHAT, Outside, Specimen
from tests.repos import commit, init

DATE = '2024-03-01T00:00:00Z'

# What a test that never ends is given; the others need no CPU seconds to speak of.
SHORTLY = RunConditions(cpu_limit=1.5)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A specimen's repository, what builds it, and the pair of `first` and `second`.

    revs  first, same (the first tree again), second (another price), broken (does not build)
    """

    specimen: Specimen
    repository: Repository
    revs: Mapping[str, str]
    engine: Engine
    builder: Builder
    built: BuiltPair
    bodies: Mapping[str, str]

    def build(self, old: str = 'first', new: str = 'second') -> BuiltPair:
        return self.builder.build(
            pair_of(self.specimen, self.repository, self.revs[old], self.revs[new])
        )

    def compiled(
        self, tests: str = 'first', code: str = 'first', edits: CellEdits | None = None
    ) -> CompiledTests:
        return self.built.compile(self.revs[tests], self.revs[code], '.', edits=edits)

    def run(
        self, *names: str, cell: CompiledTests | None = None, conditions: RunConditions = SHORTLY
    ) -> VerdictBatch:
        methods = [self.specimen.method(name) for name in names]
        return self.built.run(cell or self.compiled(), methods, conditions)

    def verdict(self, name: str, cell: CompiledTests | None = None) -> Verdict:
        (found,) = self.run(name, cell=cell).verdicts
        assert found is not None
        return found

    @cached_property
    def test_file(self) -> str:
        return self.specimen.method('sells').test_file

    def tests(self, **bodies: str) -> bytes:
        (text,) = self.specimen.tests({**self.bodies, **bodies}).values()
        return text.encode()


def pair_of(specimen: Specimen, repository: Repository, old: str, new: str) -> Pair:
    return Pair(
        repo='local/shop',
        language=specimen.language.NAME,
        walk=Walk.PARENTS,
        old=repository.get_commit(old),
        new=repository.get_commit(new),
        old_is_ancestor=True,
    )


@pytest.fixture(
    scope='module',
    params=[pytest.param(name, marks=one.marks) for name, one in SPECIMENS.items()],
)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    specimen = SPECIMENS[request.param]
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(('127.0.0.1', 0)))
        file = stack.enter_context(open_folder()) / 'secret'
        file.write_text('of the host')
        outside = Outside(file=str(file), port=listening.getsockname()[1])
        bodies = specimen.bodies(outside)
        assert set(bodies) == set(WHAT)
        folder = init(tmp_path_factory.mktemp(request.param) / 'repository')
        revs = _write(folder, specimen, bodies)
        repository = Repository(folder / '.git')
        runtimes = specimen.language.make_runtimes(like=specimen.runtime)
        run = RunSettings(repository=repository, sandbox='bubblewrap', runtimes=runtimes)
        engine = specimen.language.make_engine(run, stack)
        builder = engine.make_builder()
        stack.callback(builder.close)
        yield Place(
            specimen=specimen,
            repository=repository,
            revs=revs,
            engine=engine,
            builder=builder,
            built=builder.build(pair_of(specimen, repository, revs['first'], revs['second'])),
            bodies=bodies,
        )


def _write(folder: Path, specimen: Specimen, bodies: Mapping[str, str]) -> dict[str, str]:
    first = {**specimen.build, **specimen.code(1), **specimen.tests(bodies)}
    return {
        'first': commit(folder, 'first', first, date=DATE),
        'same': commit(folder, 'same', {}, date=DATE),
        'second': commit(folder, 'second', specimen.code(2), date=DATE),
        'broken': commit(folder, 'broken', specimen.code(None), date=DATE),
    }


def alive(argument: str) -> list[psutil.Process]:
    """Programs that a test has started, as the host sees them."""
    found = psutil.process_iter(['cmdline'])
    return [one for one in found if one.info['cmdline'] == ['sleep', argument]]


def wait_until(met: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# -- what a test does is told --------------------------------------------------------------------


def test_an_empty_selection_runs_nothing(place: Place) -> None:
    assert place.run() == VerdictBatch(verdicts=(), cpu_seconds=0.0)


def test_a_test_that_does_not_exist_has_the_outcome_missing(place: Place) -> None:
    assert place.verdict('nowhere').outcome is Outcome.MISSING


@pytest.mark.parametrize(
    ('name', 'outcome'),
    [
        ('sells', Outcome.PASS),
        ('fails', Outcome.FAIL),
        ('errs', Outcome.ERROR),
        ('skips', Outcome.SKIPPED),
    ],
)
def test_a_test_that_passes_fails_errs_or_skips_gets_that_outcome(
    place: Place, name: str, outcome: Outcome
) -> None:
    found = place.verdict(name)
    assert found.outcome is outcome
    assert (found.signature is not None) is outcome.is_broken


def test_a_test_that_hangs_times_out_and_leaves_no_process(place: Place) -> None:
    assert place.verdict('hangs').outcome is Outcome.TIMEOUT
    assert alive(LEFT) == []


def test_a_test_that_exits_is_an_error_and_its_neighbour_still_passes_alone(place: Place) -> None:
    """Though it exits with 0, and though the neighbour in the same process is not heard of."""
    exits, sells = place.run('exits', 'sells').verdicts
    assert exits is not None
    assert (exits.outcome, exits.signature) == (Outcome.ERROR, 'exit:0')
    assert (sells is None) is not place.specimen.one_order
    assert place.verdict('sells').outcome is Outcome.PASS


@pytest.mark.sampled(2)
def test_a_test_that_has_its_process_killed_is_an_error(place: Place) -> None:
    found = place.verdict('kills')
    assert found.outcome is Outcome.ERROR
    assert found.signature in KILLED


def test_verdicts_are_the_same_in_another_process_and_order(place: Place) -> None:
    names = ('errs', 'skips', 'sells', 'fails', 'nowhere')
    one, other = (
        [(verdict and verdict.outcome, verdict and verdict.signature) for verdict in verdicts]
        for verdicts in (place.run(*names).verdicts, place.run(*reversed(names)).verdicts)
    )
    assert one == other[::-1]


# -- trouble that is no test's -------------------------------------------------------------------


def test_a_process_that_is_killed_from_outside_is_run_again(place: Place) -> None:
    found: list[Verdict] = []
    thread = threading.Thread(target=lambda: found.append(place.verdict('sleeps')))
    thread.start()
    wait_until(lambda: alive(SLEPT))
    for program in alive(SLEPT):
        os.kill(program.ppid(), signal.SIGKILL)
    thread.join(timeout=120)
    assert [one.outcome for one in found] == [Outcome.PASS]


def test_a_test_process_that_does_not_start_has_the_outcome_infra(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.specimen.starve(monkeypatch)
    assert place.verdict('sells').outcome is Outcome.INFRA


# -- what is built and compiled ------------------------------------------------------------------


def test_both_revisions_of_a_pair_are_built_in_the_same_way(place: Place) -> None:
    old, new = place.built.old, place.built.new
    assert (old.rev, new.rev) == (place.revs['first'], place.revs['second'])
    assert (old.built_or_first_failure, new.built_or_first_failure) == ('built', 'built')
    assert (old.builder, old.runtime, old.runtimes_tried) == (
        new.builder,
        new.runtime,
        new.runtimes_tried,
    )


def test_a_broken_revision_reports_its_trouble_and_the_other_is_built(place: Place) -> None:
    built = place.build('second', 'broken')
    assert built.old.find_trouble('.') is None
    assert built.new.find_trouble('.')


@pytest.mark.sampled(2)
def test_a_pair_gives_the_same_verdicts_after_other_pairs_are_built(place: Place) -> None:
    whole = CellEdits(tests=((place.test_file, place.tests(sells=place.specimen.selling(2))),))
    before = place.compiled('first', 'second', whole)
    told, content = place.verdict('sells', before), place.built.digest_run_inputs(before)
    other = place.build('second', 'same')
    (price,) = other.run(
        other.compile(place.revs['second'], place.revs['same'], '.'),
        [place.specimen.method('sells')],
        SHORTLY,
    ).verdicts
    assert price is not None
    assert (told.outcome, price.outcome) == (Outcome.PASS, Outcome.PASS)
    assert place.verdict('sells', before).outcome is Outcome.PASS
    assert place.verdict('sells', place.compiled('first', 'second')).outcome is Outcome.FAIL
    assert place.built.digest_run_inputs(place.compiled('first', 'second', whole)) == content


def test_a_test_that_does_not_compile_leaves_the_others_runnable(place: Place) -> None:
    if not place.specimen.tears_alone:
        pytest.skip('a test of this language compiles with its whole file, or not at all')
    compiled = place.compiled()
    assert not compiled.unit_ok
    verdicts = {
        name: place.built.find_compile_verdict(compiled, place.specimen.method(name))
        for name in place.bodies
    }
    torn = verdicts.pop('torn')
    assert torn is not None
    assert (torn.outcome, bool(torn.signature)) == (Outcome.COMPILE_ERROR, True)
    assert set(verdicts.values()) == {None}
    assert place.verdict('sells', compiled).outcome is Outcome.PASS


def test_tests_of_one_revision_run_against_the_code_of_another(place: Place) -> None:
    assert place.verdict('sells', place.compiled('first', 'second')).outcome is Outcome.FAIL
    assert place.verdict('sells', place.compiled('second', 'first')).outcome is Outcome.PASS


@pytest.mark.sampled(2)
def test_edits_are_visible_only_in_their_own_cell(place: Place) -> None:
    code = {path: text.encode() for path, text in place.specimen.code(2).items()}
    (path,) = (name for name in code if name.rpartition('/')[2].partition('.')[0].lower() == 'till')
    text = place.tests(sells=place.specimen.selling(2))
    of_code, of_tests = (
        CellEdits(code=((path, code[path]),)),
        CellEdits(tests=((place.test_file, text),)),
    )
    both = CellEdits(code=of_code.code, tests=of_tests.tests)
    told = [
        place.verdict('sells', place.compiled(edits=edits)).outcome
        for edits in (None, of_code, of_tests, both, None)
    ]
    ran, failed = Outcome.PASS, Outcome.FAIL
    assert told == [ran, failed, failed, ran, ran]


@pytest.mark.sampled(2)
def test_test_data_edits_are_visible_only_in_their_own_cell(place: Place) -> None:
    with_data = place.compiled(edits=CellEdits(tests=((place.specimen.data, b'1'),)))
    assert place.verdict('reads', with_data).outcome is Outcome.PASS
    assert place.verdict('reads').outcome is Outcome.FAIL
    assert place.verdict('sells', with_data).outcome is Outcome.PASS


def test_a_removed_test_file_has_no_tests(place: Place) -> None:
    cell = place.compiled(edits=CellEdits(tests=((place.test_file, None),)))
    assert place.verdict('sells', cell).outcome is Outcome.MISSING


def test_only_equal_cells_have_equal_content_digests(place: Place) -> None:
    built = place.build('same', 'second')
    edits = CellEdits(tests=((place.test_file, place.tests(more=place.specimen.selling(1))),))
    one, other, code, edited = (
        built.digest_run_inputs(built.compile(place.revs[tests], place.revs[code], '.', edits=some))
        for tests, code, some in (
            ('first', 'second', None),
            ('same', 'second', None),
            ('same', 'same', None),
            ('same', 'second', edits),
        )
    )
    assert one is not None
    assert one == other
    assert len({one, code, edited}) == 3


def test_a_forgotten_revision_is_built_anew(place: Place) -> None:
    built, known = place.build().new, place.build().new
    assert known.cpu_seconds == 0.0
    place.engine.remove_builds_of_revision(place.revs['second'])
    again = place.build().new
    assert again.cpu_seconds > 0.0
    assert again.modules == built.modules
    assert place.verdict('sells').outcome is Outcome.PASS


def test_only_an_existing_module_has_an_environment_description(place: Place) -> None:
    rev = place.revs['second']
    assert place.built.describe_environment(rev, '.') is not None
    assert place.built.describe_environment(rev, 'nowhere') is None


# -- what a test cannot do -----------------------------------------------------------------------


def test_a_test_process_that_forges_its_verdict_is_an_error(place: Place) -> None:
    assert place.verdict('forges').outcome is Outcome.ERROR


@pytest.mark.parametrize('name', ['phones', 'peeks'])
def test_a_test_reaches_neither_the_network_nor_files_of_the_host(place: Place, name: str) -> None:
    assert place.verdict(name).outcome.is_broken


# -- what a language may lack --------------------------------------------------------------------


def test_a_capability_that_is_not_offered_is_refused_without_an_answer(place: Place) -> None:
    offered = place.specimen.language.OFFERS
    built, cell = place.built, place.compiled()
    method, rev = place.specimen.method('sells'), place.revs['first']
    asked: dict[Capability, Callable[[], object]] = {
        Capability.TRACE: lambda: built.trace(cell, [method], ()),
        Capability.UMPIRE: lambda: built.run_project(rev, '.', ()),
        Capability.MUTATE: lambda: built.mutate(cell, method, {}),
        Capability.CHECK_SOURCES: lambda: built.check_main_sources(rev, '.', place.test_file, ()),
        Capability.BORROW: lambda: built.do_settings_differ(
            rev, '.', BorrowedSettings(rev=place.revs['second'], scope=SettingsScope.ALL_SETTINGS)
        ),
    }
    answered = [
        f'{capability}: {answer}'
        for capability in sorted(asked.keys() - offered)
        if not (answer := _ask(asked[capability])).startswith(f'{capability} is not_offered ')
    ]
    assert answered == []
    if Capability.BORROW in offered:
        assert asked[Capability.BORROW]() is False


def _ask(question: Callable[[], object]) -> str:
    """Return the message of the refusal, or what a pair answers instead of one."""
    try:
        return f'answers {question()!r}'
    except NotOfferedError as refusal:
        return str(refusal)


# -- text ----------------------------------------------------------------------------------------


def names_in(place: Place, text: bytes) -> list[str]:
    reading = place.specimen.language.READING
    found = reading.find_tests(reading.parse(text, place.test_file), lambda simple: ())
    assert {type_.name for type_, _ in found} == {place.specimen.container}
    return [member.name.removeprefix(place.specimen.prefix) for _, member in found]


def test_a_revision_is_recognised_and_read_by_its_files(place: Place) -> None:
    assert all(
        place.specimen.language.looks_buildable(place.repository, rev)
        for rev in place.revs.values()
    )
    tree = place.specimen.language.READING.open_tree(place.repository, place.revs['first'])
    assert names_in(place, tree.read_content(place.test_file)) == list(place.bodies)
    assert tree.find_module_folder(place.test_file) == '.'
    assert not tree.belongs_to_code(place.test_file)
    assert tree.belongs_to_tests(place.test_file)
    assert not any(map(tree.belongs_to_tests, place.specimen.code(1)))


def test_surgery_cuts_a_target_out_and_keeps_the_other_tests(place: Place) -> None:
    surgery = place.specimen.language.SURGERY
    text = place.tests()
    target = StartTarget(method=place.specimen.method('fails'))
    start = surgery.make_start_file(text, text, [target])
    assert start is not None
    assert names_in(place, start) == [name for name in place.bodies if name != 'fails']
    assert surgery.make_start_file(
        text, None, [StartTarget(method=place.specimen.method('fails'))]
    ) is (None)
    put_back = surgery.transplant_tests_into_old(
        start, text, [Graft(new=place.specimen.method('fails'))]
    )
    assert sorted(names_in(place, put_back)) == sorted(place.bodies)


# -- the end -------------------------------------------------------------------------------------


def test_halting_the_engine_ends_running_tests_and_refuses_new_ones(place: Place) -> None:
    """Last, since nothing can be run here afterwards."""
    ends: list[BaseException | VerdictBatch] = []

    def run() -> None:
        try:
            ends.append(place.run('hangs', conditions=RunConditions(cpu_limit=600.0)))
        except Transient as trouble:
            ends.append(trouble)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: alive(LEFT))
    place.engine.stop_running_processes()
    thread.join(timeout=60)
    assert [type(end) for end in ends] == [Transient]
    assert alive(LEFT) == []
    with pytest.raises(Transient):
        place.run('sells')
