"""What submitted tests are worth, measured on real JVMs beside gold's numbers of a real mining."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.judging.outcomes import TargetResult
from coevo.evaluation.judging.placebos import PlaceboRunner, PlaceboSubject
from coevo.evaluation.measuring.coverage import ExecutionMeasures, measure_execution
from coevo.evaluation.outcomes import Detail, Placebo, TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.worth import Adequacy
from coevo.languages.verdicts import Trace, Verdict
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.model.words import Outcome
from tests.evaluation.till import TESTS, Till, opened, submitted

# `tests/languages/test_classes.py` asks the same of every language in a tenth of the time.
pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(900)]

# What JaCoCo keeps of a class, written by the test itself where JaCoCo is at hand.
FORGED = """
    try {
        java.lang.reflect.Method kept = Till.class.getDeclaredMethod("$jacocoInit");
        kept.setAccessible(true);
        java.util.Arrays.fill((boolean[]) kept.invoke(null), true);
    } catch (NoSuchMethodException none) { }
    assertTrue(true);"""


# The check sum of the class under test.
BYTES = """
    java.io.InputStream in = Till.class.getResourceAsStream("Till.class");
    java.security.MessageDigest sum = java.security.MessageDigest.getInstance("SHA-256");
    for (int one = in.read(); one >= 0; one = in.read()) sum.update((byte) one);
    String found = new java.math.BigInteger(1, sum.digest()).toString(16);
    {}"""

# An exception whose class has another name in each process, its class file written here.
ANOTHER_EACH_TIME = """
    if (new Till().price(2) == 2) return;
    java.io.ByteArrayOutputStream made = new java.io.ByteArrayOutputStream();
    java.io.DataOutputStream out = new java.io.DataOutputStream(made);
    out.writeInt(0xCAFEBABE); out.writeInt(49); out.writeShort(10);
    out.writeByte(1); out.writeUTF("E" + java.util.UUID.randomUUID().toString().replace("-", ""));
    out.writeByte(7); out.writeShort(1);
    out.writeByte(1); out.writeUTF("java/lang/RuntimeException");
    out.writeByte(7); out.writeShort(3);
    out.writeByte(1); out.writeUTF("<init>"); out.writeByte(1); out.writeUTF("()V");
    out.writeByte(12); out.writeShort(5); out.writeShort(6);
    out.writeByte(10); out.writeShort(4); out.writeShort(7);
    out.writeByte(1); out.writeUTF("Code");
    for (int one : new int[] {1, 2, 4, 0, 0, 1, 1, 5, 6, 1, 9, 0, 17, 1, 1, 0, 5}) {
        out.writeShort(one);
    }
    out.write(new byte[] {42, (byte) 183, 0, 8, (byte) 177}); out.writeInt(0); out.writeShort(0);
    final byte[] bytes = made.toByteArray();
    Class<?> type = new ClassLoader() {
        Class<?> type() { return defineClass(null, bytes, 0, bytes.length); } }.type();
    throw (RuntimeException) type.newInstance();"""

LOOKS = """
    for (String one : "/in/code /in/code-edits /in/edits /in/cells".split(" ")) {
        assertFalse(new java.io.File(one).exists());
    }"""


@pytest.fixture(scope='module')
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Till]:
    with opened(tmp_path_factory.mktemp('till')) as till:
        yield till


def judged(till: Till, name: str, body: str) -> tuple[MethodResult, Adequacy]:
    row = till.judged(name, submitted(**{name: body}))
    assert row.adequacy is not None
    return row, row.adequacy


def traced(till: Till, name: str, body: str) -> tuple[ExecutionMeasures, Trace]:
    """What counts of what a test executes, and all that was recorded beside it."""
    context = till.context(name, submitted(**{name: body}))
    (target,) = (one for one in context.assignment.targets if one.row.test_method == name)
    runner = EditedCellRunner(
        built=context.built,
        repository=context.repository,
        tests=context.submitted_file_edits,
    )
    test = GoldTest(method_id=name, method=target.method, dependencies=target.row.dependencies)
    counted = measure_execution(context, runner, [test])[name]
    files = {one.file for one in test.dependencies}
    plain = replace(context.conditions, observed=False)
    (trace,) = context.built.trace(runner.compile('.'), [test.method], files, plain).traces
    assert trace is not None
    return counted, trace


@pytest.fixture(scope='module')
def gold(till: Till) -> dict[str, MethodResult]:
    return {name: till.judged(name, submitted()) for name in TESTS}


@pytest.mark.parametrize('name', TESTS)
def test_measures_of_gold_equal_those_of_the_snapshot(
    gold: dict[str, MethodResult], name: str
) -> None:
    found = gold[name].adequacy

    assert found is not None
    assert found.coverage_gold is not None
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    assert found.mutants.pred == found.mutants.gold == found.mutants.both > 0
    assert found.reversals is not None
    assert found.reversals.pred == found.reversals.gold == found.reversals.both > 0
    assert found.smells_pred == found.smells_gold == ('magic_number_test',)
    assert (gold[name].outcome, gold[name].success_strict) == (TaskOutcome.SUCCESS, True)
    assert gold[name].vacuous is False
    assert (gold[name].placebo, gold[name].unstable) == (Placebo.REWRITTEN, None)
    assert gold[name].oracle_preserved is (True if name == 'prices' else None)


@pytest.mark.slow
def test_measures_of_gold_are_equal_in_three_evaluations(
    till: Till, gold: dict[str, MethodResult]
) -> None:
    """Nothing is kept from one time to the next, and no figure is one of the machine's speed."""
    times = [{name: equal(row) for name, row in gold.items()}]
    for _ in range(2):
        with tempfile.TemporaryDirectory() as kept:
            again = replace(till, kept=Path(kept))
            times.append({name: equal(again.judged(name, submitted())) for name in TESTS})

    assert times[0] == times[1] == times[2]
    for row in times[0].values():
        assert row.adequacy is not None
        assert row.adequacy.mutants is not None
        assert row.adequacy.mutants.not_run == 0
        assert row.mutation_gold is not None
        assert row.adequacy.mutants.count == row.mutation_gold.count


def equal(row: MethodResult) -> MethodResult:
    """A row without seconds, and without what a process prints."""
    assert row.adequacy is not None
    adequacy = replace(row.adequacy, cpu_seconds=0.0)
    return replace(row, adequacy=adequacy, cpu_seconds=0.0, seconds=0.0, output='')


@pytest.mark.slow
def test_call_without_an_assertion_is_vacuous_and_no_strict_success(till: Till) -> None:
    row, found = judged(till, 'fees', 'new Till().fee(2, false);')

    assert found.executes_delta
    assert found.reaches_assertion is False
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    # a mutant with other parameters does not even compile with it
    assert found.mutants.pred == found.mutants.both == 1 < found.mutants.gold
    assert found.smells_pred == ('unknown_test',)
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)
    assert row.vacuous is True


@pytest.mark.slow
def test_call_of_new_code_with_an_unrelated_assertion_is_no_strict_success(till: Till) -> None:
    """The undone change keeps its signature, so that a call alone does not notice it."""
    row, found = judged(till, 'fees', 'new Till().fee(2, false); assertTrue(true);')

    assert (found.executes_delta, found.reaches_assertion) == (True, True)
    assert found.mutants is not None
    assert found.reversals is not None
    assert found.mutants.both > 0
    assert found.reversals.both == 0 < found.reversals.gold
    assert found.mutants.gold_ran is not None
    assert found.mutants.gold_ran > found.mutants.both_ran == 0
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)


def test_submitted_test_that_alternately_fails_and_passes_on_an_edit_is_unstable(
    till: Till,
) -> None:
    """What a test that goes by the time of day does with an edit, after it has passed again."""
    task_context = till.task_context('prices', submitted())
    (target,) = task_context.assignment.targets
    seen = TargetResult(submitted=True, new=Verdict(outcome=Outcome.PASS), passes=3)

    def told(old: str, new: str) -> str | None:
        path = 'src/main/java/shop/Till.java'
        entry = task_context.repository.tree(task_context.pair.new.rev)[path]
        text = task_context.repository.blob(entry.oid).decode()
        edit = path, text.replace(old, new, 1).encode()
        assert edit[1] != text.encode()
        subject = PlaceboSubject(
            context=task_context,
            patched=submitted(),
            target=target,
            method=target.method,
            slowest=1.0,
        )
        return PlaceboRunner().rerun_with_failing_edit(subject, edit, seen).unstable

    assert told('int sum = -n;', 'int sum = n;') is None
    assert told('int sum = -n;', 'int sum = 0 - n;') == 'once pass, once not with other code'


def test_update_that_asserts_less_does_not_preserve_the_old_oracle(
    till: Till, gold: dict[str, MethodResult]
) -> None:
    (file,) = till.kept.iterdir()
    told = file.read_bytes()
    file.write_bytes(told[:-9])

    row, found = judged(till, 'prices', 'assertTrue(new Till().price(2) != 0);')

    assert file.read_bytes() == told  # what was damaged was found out anew
    by_gold = gold['prices'].adequacy
    assert by_gold is not None
    assert by_gold.oracle is not None
    assert found.oracle is not None
    assert 0 < found.oracle.lost <= found.oracle.count == by_gold.oracle.count
    assert row.oracle_preserved is False
    # It passes on the new code, which is all that the paper asks; undoing the change leaves it green.
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)


def test_coverage_forged_by_a_test_does_not_count(till: Till) -> None:
    counted, recorded = traced(till, 'fees', FORGED)

    ((lines),) = recorded.lines.values()
    assert all(line.covered_instructions for line in lines)
    assert counted.coverage is not None
    assert counted.coverage.covered_lines == counted.coverage.covered_branches == 0
    assert counted.coverage.covered_methods == 0
    assert counted.executes_delta is False
    assert counted.reaches_assertion


def test_assertion_in_an_untaken_branch_is_not_counted_as_reached(till: Till) -> None:
    counted, _ = traced(till, 'prices', 'if (new Till().price(1) == 0)\n{\nfail();\n}')

    assert counted.executes_delta
    assert counted.reaches_assertion is False


@pytest.mark.slow
def test_submitted_test_finds_no_edited_code_in_the_file_system(till: Till) -> None:
    row, found = judged(till, 'prices', LOOKS)

    assert found.mutants is not None
    assert found.reversals is not None
    assert (found.mutants.pred, found.reversals.pred) == (0, 0)
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)


@pytest.mark.slow
@pytest.mark.parametrize('name', TESTS)
def test_submitted_test_that_checks_the_class_checksum_is_tampered(till: Till, name: str) -> None:
    """An update gains by mutants and reversals, a generated test by the old code, too."""
    told = till.judged(name, submitted(**{name: BYTES.format('fail("sum " + found);')}))
    known = told.said.partition('sum ')[2].split()[0]
    assert (told.detail, len(known) > 60) == (Detail.FAIL, True)

    row = till.judged(name, submitted(**{name: BYTES.format(f'assertEquals("{known}", found);')}))

    assert (row.outcome, row.detail) == (TaskOutcome.HRNS_FAIL, Detail.TAMPERED)
    assert (row.tampered, row.placebo) == ('sees_edits', Placebo.REWRITTEN)
    assert (row.new, row.adequacy, row.success_strict) == ('pass', None, False)


@pytest.mark.slow
def test_failure_on_old_code_that_differs_between_runs_is_unstable(till: Till) -> None:
    row = till.judged('fees', submitted(fees=ANOTHER_EACH_TIME))

    assert (row.outcome, row.detail) == (TaskOutcome.EXEC_FAIL, Detail.UNSTABLE)
    assert (row.new, row.old) == ('pass', 'error')
    assert row.said.startswith('on old code once error E')
