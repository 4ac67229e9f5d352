"""What one fresh test process costs, and what of it could be spared.

    python -m benchmarks.fresh_jvm CLONE REV CLASS#METHOD [--module M] [--jdk N] [--runs N]

A revision is built on one JDK; one test method is run alone on its own code, again and again, by turns as
the engine does it and with one thing other than it is. Prints medians of CPU seconds. What is left out
in a turn, such as verification, is there to see what it costs: verdicts need it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from unittest import mock

from coevo.git.repository import Repository
from coevo.languages.java.built_pair import JavaBuiltPair
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.processes import launch
from coevo.languages.java.revisions import shared_builds
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.jdks import Jdk, find_jdks
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome, Walk

_OURS = launch.JVM_OPTIONS
NO_ARCHIVE = 999
OPTIONS: Mapping[str, Sequence[str]] = {
    'as it is': _OURS,
    'no archive at all': (*_OURS, '-Xshare:off'),
    'interpreter alone': (*_OURS, '-Xint'),
    'both compilers': (*_OURS, '-XX:TieredStopAtLevel=4'),
    'without verification': (*_OURS, '-XX:-BytecodeVerificationRemote'),
    'the JVM alone': (*_OURS, '-version'),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('clone', type=Path)
    parser.add_argument('rev')
    parser.add_argument('method', metavar='CLASS#METHOD')
    parser.add_argument('--module', default='.')
    parser.add_argument('--jdk', type=int, default=17)
    parser.add_argument('--runs', type=int, default=8)
    arguments = parser.parse_args()
    jdk = next(one for one in find_jdks() if one.feature == arguments.jdk)
    with ExitStack() as stack:
        for name, seconds in measured(arguments, jdk, stack).items():
            print(f'| {jdk.feature} | {name} | {median(seconds):.3f} | {min(seconds):.3f} |')


def measured(
    arguments: argparse.Namespace, jdk: Jdk, stack: ExitStack
) -> Mapping[str, list[float]]:
    """CPU seconds of each run, by what is other in it."""
    run = one_run(arguments, jdk, stack)
    found: dict[str, list[float]] = {name: [] for name in (*OPTIONS, 'no archive of libraries')}
    run()  # makes the archive
    for _ in range(arguments.runs):
        for name, options in OPTIONS.items():
            with mock.patch.object(launch, 'JVM_OPTIONS', options):
                found[name].append(run())
        with mock.patch.object(shared_builds, 'OLDEST_WITH_ARCHIVES', NO_ARCHIVE):
            found['no archive of libraries'].append(run())
    return found


def one_run(arguments: argparse.Namespace, jdk: Jdk, stack: ExitStack) -> Callable[[], float]:
    """What runs the method once more, and says the CPU seconds of the process."""
    repository = Repository(arguments.clone)
    context = JavaRunContext(repository, sandbox='bubblewrap', stack=stack)
    worker = JdkWorker(SharedBuilds(context, jdk))
    stack.callback(worker.close)
    rev = repository.resolve(arguments.rev)
    commit, build = repository.get_commit(rev), worker.build(rev)
    pair = Pair(
        repo='benchmarks/fresh',
        language='java',
        walk=Walk.PARENTS,
        old=commit,
        new=commit,
        old_is_ancestor=True,
    )
    built = JavaBuiltPair(pair=pair, old=build, new=build, worker=worker)
    compiled = built.compile(rev, rev, arguments.module)
    test_class, _, name = arguments.method.partition('#')
    method = TestMethod(
        module=arguments.module, test_file='', test_class=test_class, test_method=name
    )
    (verdict,) = built.run(compiled, [method]).verdicts
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS, verdict
    return lambda: built.run(compiled, [method]).cpu_seconds


if __name__ == '__main__':
    main()
