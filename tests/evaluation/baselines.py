"""Submissions that anyone can think of, and what has to come of each, by track."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.baselines.copying import copy_sibling
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.records import Prediction
from coevo.git.patches import make_file_patch
from coevo.model.words import Track
from tests.attacks.forgeries import FORGERIES, JUNIT4, TOOLS
from tests.evaluation.shop import FILES, PRODUCTION, Shop
from tests.projects import junit

SUCCESS, REDUNDANT = (TaskOutcome.SUCCESS, None), (TaskOutcome.REDUNDANT, Detail.PASSES_ON_OLD)
Expected = tuple[TaskOutcome, Detail | None]
Make = Callable[[Shop, Track], Prediction]

TARGETS = {
    Track.UPDATE: ('costs', 'sums'),
    Track.GENERATION: ('dozen', 'gross'),
    Track.EXTENSION: ('large',),
    Track.REPAIR: ('adds',),
}
OTHERS = {
    Track.UPDATE: 'nothing: assertEquals(0, Till.price(0));',
    Track.GENERATION: 'stands: assertEquals(0, Till.price(0));',
    Track.EXTENSION: 'stands: assertEquals(0, Till.price(0));',
    Track.REPAIR: 'stands: assertEquals(0, Till.price(0));',
}


def class_of(track: Track) -> str:
    return FILES[track].rpartition('/')[2].removesuffix('.java')


def written(track: Track, *bodies: str) -> str:
    """A test file with these bodies of targets, the last one for all that are left."""
    names = TARGETS[track]
    filled = [*bodies, *[bodies[-1]] * len(names)]
    methods = [f'{name}: {body}' for name, body in zip(names, filled, strict=False) if body]
    return junit(class_of(track), *methods, OTHERS[track])['/'.join(FILES[track].split('/'))]


def submit(shop: Shop, track: Track, *bodies: str) -> Prediction:
    return shop.submission(track, written(track, *bodies))


def _filled(body: str) -> Make:
    """The same body for every target."""
    return lambda shop, track: submit(shop, track, body)


def _raw(shop: Shop, track: Track, patch: bytes | None) -> Prediction:
    return Prediction(task_id=shop.tasks[track].task_id, patch=patch)


def _disabled(shop: Shop, track: Track) -> Prediction:
    text = written(track, 'assertTrue(true);')
    for name in TARGETS[track]:
        text = text.replace(
            f'@Test public void {name}', f'@org.junit.Ignore @Test public void {name}'
        )
    return shop.submission(track, text)


def _first_alone(shop: Shop, track: Track) -> Prediction:
    """Without the second target, or the only one."""
    if len(TARGETS[track]) == 1:
        return submit(shop, track, '')
    return submit(shop, track, 'assertEquals(12, Till.price(1));', '')


def _copied(shop: Shop, track: Track) -> Prediction:
    """The most similar test that the start state shows, names replaced."""
    assignment = shop.tasks[track]
    with open_task_repository([assignment.task], shop.store) as repository:
        patch = copy_sibling(repository, assignment)
    return _raw(shop, track, patch.encode())


def _touching(shop: Shop, track: Track, path: str) -> Prediction:
    return _raw(shop, track, make_file_patch(path, None, 'class Other {}\n').encode())


def _not_applying(shop: Shop, track: Track) -> Prediction:
    gold = shop.gold(track).patch
    assert gold is not None
    return _raw(shop, track, gold.replace(b'Till.price', b'Till.prize'))


def _commented(shop: Shop, track: Track) -> Prediction:
    return shop.submission(track, shop.starts[track] + '// as it was\n')


def _shadowing(shop: Shop, track: Track) -> Prediction:
    """The old prices, under a name that does not look like the production class's."""
    other = 'class \\u0054ill { static int price(int n) { return 10 * n; } }\n'
    return shop.submission(track, shop.starts[track] + other)


def _shadowing_what_is_gone(shop: Shop, track: Track) -> Prediction:
    """A class that stands in nobody's place at new, but in that of production code at old."""
    text = written(track, 'assertEquals(12 * Coin.unit(1), Till.price(1));')
    return shop.submission(track, text + 'class Coin { static int unit(int n) { return n; } }\n')


def _halting(shop: Shop, track: Track) -> Prediction:
    """It would be no verdict if nothing had been heard of the process by then."""
    text = written(track, 'assertTrue(true);')
    static = '    static { Runtime.getRuntime().halt(0); }\n}\n'
    return shop.submission(track, text.removesuffix('}\n') + static)


def all_of(*expected: Expected) -> Mapping[Track, Sequence[Expected]]:
    """The same for all tracks: by target, the last one for all that are left."""
    return dict.fromkeys(Track, expected)


def hrns(detail: Detail) -> Expected:
    return TaskOutcome.HRNS_FAIL, detail


def fails(detail: Detail) -> Expected:
    return TaskOutcome.EXEC_FAIL, detail


PASSES_ON_OLD_CODE = {
    **all_of(SUCCESS),
    Track.GENERATION: (REDUNDANT,),
    Track.EXTENSION: (REDUNDANT,),
}
"""What comes of a test that passes whatever the code does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A submission for each track, and what comes of its targets in their order."""

    name: str
    make: Make
    expected: Mapping[Track, Sequence[Expected]]
    test_seconds: float | None = None


NOT_RUN = tuple(
    Baseline(name=name, make=make, expected=all_of(hrns(detail)))
    for name, detail, make in (
        ('missing', Detail.NO_PREDICTION, lambda shop, track: _raw(shop, track, None)),
        ('empty', Detail.EMPTY, lambda shop, track: _raw(shop, track, b'\n')),
        ('not applying', Detail.DOES_NOT_APPLY, _not_applying),
        (
            'production code',
            Detail.PRODUCTION_CODE,
            lambda shop, track: _touching(shop, track, PRODUCTION),
        ),
        ('another file', Detail.OTHER_FILE, lambda shop, track: _touching(shop, track, 'pom.xml')),
        ('deleted file', Detail.TARGET_MISSING, lambda shop, track: shop.submission(track, None)),
    )
)

WHOLE = (
    Baseline(name='gold', make=lambda shop, track: shop.gold(track), expected=all_of(SUCCESS)),
    Baseline(
        name='one target missing',
        make=_first_alone,
        expected={
            **dict.fromkeys(Track, (SUCCESS, hrns(Detail.TARGET_MISSING))),
            Track.EXTENSION: (hrns(Detail.TARGET_MISSING),),
            Track.REPAIR: (hrns(Detail.TARGET_MISSING),),
        },
    ),
    Baseline(
        name='unchanged old test',
        make=_commented,
        expected={
            **all_of(fails(Detail.FAIL)),
            Track.GENERATION: (hrns(Detail.TARGET_MISSING),),
            Track.EXTENSION: (REDUNDANT,),
        },
    ),
    Baseline(
        name='assertTrue(true)',
        make=_filled('assertTrue(true);'),
        expected=PASSES_ON_OLD_CODE,
    ),
    Baseline(
        name='copies the nearest sibling',
        make=_copied,
        expected=PASSES_ON_OLD_CODE,
    ),
    Baseline(
        name='a call without an assertion',
        make=_filled('Till.price(1);'),
        expected=PASSES_ON_OLD_CODE,
    ),
    Baseline(
        name='asks for a debugger',
        make=_filled(
            'assertTrue(java.lang.management.ManagementFactory.getRuntimeMXBean()'
            '.getInputArguments().toString().contains("jdwp"));'
        ),
        expected=all_of(fails(Detail.UNSTABLE)),
    ),
    Baseline(
        name='looks for other code',
        make=_filled(
            'for (String one : "/in/code /in/code-edits /in/edits /in/cells".split(" ")) {'
            ' assertFalse(new java.io.File(one).exists()); }'
        ),
        expected=PASSES_ON_OLD_CODE,
    ),
    Baseline(
        name='does not compile',
        make=_filled('Till.nowhere();'),
        expected=all_of((TaskOutcome.CMPL_FAIL, Detail.COMPILE_ERROR)),
    ),
    Baseline(
        name='does not parse',
        make=_filled('if (;'),
        expected=all_of((TaskOutcome.CMPL_FAIL, Detail.COMPILE_ERROR)),
    ),
    Baseline(
        name='exits with 0',
        make=_filled('System.exit(0);'),
        expected=all_of(fails(Detail.ERROR)),
    ),
    Baseline(
        name='halts as its class is loaded',
        make=_halting,
        expected=all_of(fails(Detail.ERROR)),
    ),
    Baseline(
        name='sleeps for ever',
        make=_filled('while (true) { Thread.sleep(1000); }'),
        expected=all_of(fails(Detail.TIMEOUT)),
        test_seconds=0.5,
    ),
    Baseline(
        name='shadows production code',
        make=_shadowing,
        expected=all_of(hrns(Detail.PRODUCTION_CODE)),
    ),
    Baseline(
        name='shadows what production code was',
        make=_shadowing_what_is_gone,
        # Only tests of these two tracks also run on the old code.
        expected={
            **all_of(SUCCESS),
            Track.GENERATION: (hrns(Detail.PRODUCTION_CODE),),
            Track.EXTENSION: (hrns(Detail.PRODUCTION_CODE),),
        },
    ),
    Baseline(
        name='disabled target',
        make=_disabled,
        expected=all_of(hrns(Detail.TARGET_DISABLED)),
    ),
)


# Those of the engine's attacks that one test file can say; no other file can be submitted.
ATTACKS = tuple(
    one
    for one in FORGERIES
    if one.template == JUNIT4
    and not (one.classes or one.shadows or one.resources or one.surefire.arg_line)
    and not one.surefire.environment
)


def forged(shop: Shop, track: Track, name: str) -> Prediction:
    """The attack in the place of each target."""
    (attack,) = (one for one in ATTACKS if one.name == name)
    tools = textwrap.dedent(TOOLS).replace('package p;', '').replace('public class', 'class')
    imports = ''.join(line + '\n' for line in tools.splitlines() if line.startswith('import '))
    rest = ''.join(line + '\n' for line in tools.splitlines() if not line.startswith('import '))
    methods = ''.join(
        f'    @Test public void {target}() throws Throwable {{ {attack.body} }}\n'
        for target in TARGETS[track]
    )
    # Forge reads fields of java.lang.reflect: JUnit's Test is named, lest its Method collide.
    text = (
        f'package shop;\n\n{imports}import static org.junit.Assert.*;\nimport org.junit.Rule;\n'
        f'import org.junit.Test;\n\npublic class {class_of(track)} {{\n{attack.more}\n{methods}}}\n'
        f'{rest}'
    )
    return shop.submission(track, text)
