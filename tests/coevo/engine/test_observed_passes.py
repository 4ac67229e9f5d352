"""Mined tests that write their own verdict: they keep the label, and no task is made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.model.reasons import Reason
from coevo.model.words import Label, Stage, Track
from tests.attacks.forgeries import TOOLS
from tests.once import mined_once
from tests.projects import QUICK, junit, pom, source, write

FORGED = (
    'Till.first(); String nonce = p.Forge.nonceInMemory(); assertNotNull(nonce);'
    ' p.Forge.adopted(3, p.Forge.lines(nonce)); Runtime.getRuntime().halt(0);'
)
STEPS = (
    {
        'pom.xml': pom(),
        **source('Till', '    public static int last() { return 1; }\n'),
        **junit('LastTest', 'stands: assertEquals(1, Till.last());'),
    },
    {
        **source(
            'Till',
            '    public static int last() { return 1; }\n    public static int first() { return 2; }\n',
        ),
        'src/test/java/p/Forge.java': TOOLS.replace('static String n', 'public static String n'),
        **junit('ForgedTest', f'forged: {FORGED}'),
    },
    {
        **source(
            'Till',
            '    public static int first() { return 2; }\n    public static int next() { return 3; }\n',
        ),
        **junit(
            'HonestTest',
            'honest: assertEquals(3, Till.next());',
            'thrown: try { Till.next(); throw new IllegalStateException(); }'
            ' catch (IllegalStateException e) { assertNotNull(e); }',
        ),
    },
)


@pytest.mark.slow
@pytest.mark.jvm
def test_unconfirmed_pass_keeps_its_label_and_makes_no_task(tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', STEPS)
    found = mined_once(repository, tmp_path / 'store', profile=replace(QUICK, observed=True))

    forged = found.method('forged')
    assert (forged.label, forged.track) == (Label.GENERATION, None)
    assert [
        drop.reason
        for drop in found.drops
        if (drop.stage, drop.key) == (Stage.TRACK, forged.method_id)
    ] == [Reason.PASS_NOT_CONFIRMED]
    for name in ('honest', 'thrown'):
        row = found.method(name)
        assert (row.label, row.track) == (Label.GENERATION, Track.GENERATION)
