"""What mining finds out about labelled methods beside their cells, on one small history."""

from __future__ import annotations

import pytest

from coevo.model.method_rows import MethodRow
from coevo.model.quality import PairEnd, ReversalStatus
from coevo.model.segment import Segment
from coevo.model.words import Label, Track
from coevo.storage.measures import load_measured_segments
from coevo.storage.store import Store
from tests import projects

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


def till(rate: int, extra: str = '') -> dict[str, str]:
    return projects.source(
        'Till',
        f'    public int total(int x) {{\n        return step(x) + {rate};\n    }}\n'
        f'    int step(int x) {{\n        return x * {rate};\n    }}\n'
        f'    int never(int x) {{\n        return x - {rate};\n    }}\n{extra}'
        f'    int length(String text) {{\n        return text.length() + {rate};\n    }}\n',
    )


RENAMED = '    public int {name}(int x) {{\n        return x + 7;\n    }}\n'
SELLS = 'sells: assertEquals({}, new Till().total(1));'
COUNTS = 'counts: assertEquals(8, new Till().{}(1));'
KEPT = (
    'less: assertTrue(new Till().never(1) < 1);',
    'refuses: try { new Till().length(null); fail(); } catch (NullPointerException e) { }',
)

STEPS = (
    {
        'pom.xml': projects.pom(),
        **till(1, RENAMED.format(name='plus')),
        **projects.junit('TillTest', SELLS.format(2), COUNTS.format('plus'), *KEPT),
    },
    # the rate changes: an update, and a new test
    {
        **till(2, RENAMED.format(name='plus')),
        **projects.junit(
            'TillTest',
            SELLS.format(4),
            COUNTS.format('plus'),
            *KEPT,
            'more: assertEquals(6, new Till().total(2));',
        ),
    },
    # a method gets another name, here and in its test: nothing but a refactoring
    {
        **till(2, RENAMED.format(name='added')),
        **projects.junit(
            'TillTest',
            SELLS.format(4),
            COUNTS.format('added'),
            *KEPT,
            'more: assertEquals(6, new Till().total(2));',
        ),
    },
)


@pytest.fixture(scope='module')
def segments(tmp_path_factory: pytest.TempPathFactory) -> tuple[Segment, ...]:
    folder = tmp_path_factory.mktemp('study')
    repository = projects.write(folder / 'repository', STEPS)
    mined = projects.mined(repository, folder / 'store', profile=projects.MEASURED)
    assert not mined.report.failures
    found = load_measured_segments(Store(folder / 'store'), mined.report.partitions[0])
    return tuple(sorted(found, key=lambda segment: str(segment.pair.new_committer_date)))


def row(segment: Segment, name: str) -> MethodRow:
    (found,) = (one for one in segment.methods if one.test_method == name)
    return found


def test_dependencies_are_the_methods_that_were_executed(segments: tuple[Segment, ...]) -> None:
    sells = row(segments[0], 'sells')
    assert sells.dependency_source == 'runtime'
    assert [(d.name, d.executed_old, d.executed_new) for d in sells.dependencies] == [
        ('shop.Till#total(int)', True, True),
        ('shop.Till#step(int)', True, True),
    ]
    assert sells.focal_method == 'shop.Till#total(int)'
    assert row(segments[0], 'more').dependencies[0].executed_old is None


def test_the_execution_map_names_the_methods_that_ran_at_both_revisions(
    segments: tuple[Segment, ...],
) -> None:
    sells = row(segments[0], 'sells').method_id
    for end in PairEnd:
        ran = [e for e in segments[0].executed if (e.method_id, e.end) == (sells, end)]
        assert [one.method for one in ran] == ['<init>', 'step', 'total']


def test_tests_without_a_track_share_a_process_and_have_their_own_trace(
    segments: tuple[Segment, ...],
) -> None:
    """What is left by an exception in its first line included."""
    for name, called in (('less', 'never'), ('refuses', 'length')):
        found = row(segments[0], name)
        assert found.track is None
        ran = {one.method for one in segments[0].executed if one.method_id == found.method_id}
        assert ran == {'<init>', called}


def test_coverage_counts_the_changed_methods_that_the_test_calls_directly(
    segments: tuple[Segment, ...],
) -> None:
    sells = row(segments[0], 'sells')
    assert sells.dependency_list == 'called'
    coverage = sells.coverage
    assert coverage is not None
    assert (coverage.lines, coverage.covered_lines, coverage.known_lines) == (3, 1, 1)
    assert (coverage.methods, coverage.covered_methods) == (1, 1)
    every = sells.covered_dependencies
    assert every is not None
    assert [(one.declaration, one.lines, one.covered_lines) for one in every] == [
        ('public int total(int x)', 3, 1),
        ('int step(int x)', 3, 1),
    ]


def test_mutants_are_counted_and_all_of_them_are_run(segments: tuple[Segment, ...]) -> None:
    for name in ('sells', 'more'):
        found = row(segments[0], name)
        mutation = found.mutation
        assert mutation is not None
        assert 0 < mutation.count <= 10
        assert mutation.not_run == 0
        assert mutation.emitted == (
            mutation.count + mutation.compile_failed + mutation.redundant + mutation.capped_out
        )
        rows = [m for m in segments[0].mutants if m.method_id == found.method_id]
        assert len(rows) == mutation.count
        assert mutation.killed == sum(bool(m.killed) for m in rows) > 0


def test_each_changed_method_is_undone_on_its_own(segments: tuple[Segment, ...]) -> None:
    sells = row(segments[0], 'sells').method_id
    found = {r.declaration: r.status for r in segments[0].reversals if r.method_id == sells}
    assert found == {
        'public int total(int x)': ReversalStatus.DETECTED,
        'int step(int x)': ReversalStatus.DETECTED,
    }


def test_a_test_that_is_only_refactored_keeps_its_label_and_loses_its_track(
    segments: tuple[Segment, ...],
) -> None:
    counts = row(segments[1], 'counts')
    assert (counts.label, counts.track, counts.track_by_module) == (
        Label.UPDATE,
        None,
        Track.UPDATE,
    )
    assert (counts.test_only_refactored, counts.source_only_refactored) == (True, True)
    assert [(d.key, d.reason) for d in segments[1].drops if d.stage == 'track'] == [
        (counts.method_id, 'test_refactored_only')
    ]
    assert segments[1].pair.refactorings == 'found'
    assert 'Rename Method' in {one.type for one in segments[1].refactorings}
    assert counts.mutation is None


def test_isolated_cells_agree_with_the_label_and_the_start_state_is_valid(
    segments: tuple[Segment, ...],
) -> None:
    update, generation = row(segments[0], 'sells').isolated, row(segments[0], 'more').isolated
    assert update is not None
    assert generation is not None
    assert (update.t_old_c_new, update.t_new_c_new, update.start) == ('fail', 'pass', 'valid')
    assert (generation.t_new_c_old, generation.t_new_c_new, generation.start) == (
        'fail',
        'pass',
        'valid',
    )
    assert update.agrees
    assert generation.agrees


def test_the_cpu_time_of_each_study_step_is_recorded_with_the_pair(
    segments: tuple[Segment, ...],
) -> None:
    spent = {one.step: one.cpu_seconds for one in segments[0].timings}
    assert all(spent[step] > 0 for step in ('trace', 'refactorings', 'mutants', 'reversals'))
