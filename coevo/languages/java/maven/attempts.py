"""Build a revision with Maven: in a warm JVM, in a new one, then by Maven's own command.

The command is the fallback. It is a process of its own and respects `.mvn/jvm.config`, which can
open the JDK's packages to plugins. It costs the start of a JVM for every build.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.session import (
    TOO_LONG,
    BuildAttempt,
    JvmAnswer,
    JvmDeath,
    JvmSession,
    get_cpu_seconds,
)
from coevo.languages.java.building.settings import make_build_request
from coevo.languages.java.maven.snapshots import (
    Replacement,
    find_replacement,
    load_poms,
    replace_versions_temporarily,
    rewrite_poms,
)

LOOP, COMMAND = 'maven-loop', 'mvn'

# The result of `_describe_failures` for a failed build that reports no failure.
WITHOUT_A_WORD = '[[], []]'

# Maven extension's name for a failure because a sibling module's artifact exists only after
# packaging.
SIBLING_NOT_PACKAGED = 'sibling_not_packaged'

# A build whose JVM ran out of memory may succeed if Maven has a JVM for itself; after any other
# death of the builder, a further try is not worth its cost.
OUT_OF_MEMORY = 'out_of_memory'

# Failures of the project's own sources, libraries and POMs, which do not depend on how Maven is
# started.
_OF_THE_SOURCES = (
    'maven-compiler-plugin:compile',
    'maven-compiler-plugin:testCompile',
)
OF_THE_MODEL = (
    'ArtifactDescriptorException',
    'ArtifactNotFoundException',
    'ArtifactResolutionException',
    'DependencyCollectionException',
    'DependencyResolutionException',
    'ModelBuildingException',
    'PluginDescriptorParsingException',
    'PluginResolutionException',
    'ProjectBuildingException',
    'UnresolvableModelException',
    'VersionRangeResolutionException',
)

# Plugins that write manifests, documents or descriptors, or run a program that is not here, such as
# `git` to fetch submodules or `npm`. No test needs them, or tests of what they make fail without
# them. They are left out once they fail.
NEEDLESS = frozenset(
    {
        'asciidoctor-maven-plugin',
        'bnd-maven-plugin',
        'buildnumber-maven-plugin',
        'docbkx-maven-plugin',
        'duplicate-finder-maven-plugin',
        'exec-maven-plugin',
        'flatten-maven-plugin',
        'frontend-maven-plugin',
        'maven-bundle-plugin',
        'maven-invoker-plugin',
        'maven-plugin-plugin',
        'maven-remote-resources-plugin',
        'maven-scm-plugin',
    }
)

# Executions of the compiler for main sources that are left out once they fail, by their names: those
# of `module-info` or for later releases of Java. Tests run on the class path, and their classes are
# those of another execution. One of another name may be the only one, as Kotlin's `java-compile` is.
COMPILATION = 'maven-compiler-plugin:compile'
FURTHER_COMPILATION = re.compile(r'module|\d', re.IGNORECASE)

# A parent and a few libraries of one family; each costs a build, which fails early.
MOST_REPLACEMENTS = 6

# A file that Maven's script reads before it starts a JVM; a running JVM cannot apply it.
JVM_OPTIONS = '.mvn/jvm.config'


class MavenBuildAttempts:
    """Builds revisions and remembers failures, so that a known failure is not retried at full cost.

    `java_home` is the JDK for Maven's command.
    """

    def __init__(self, java_home: Path) -> None:
        self._java_home = java_home
        self._confirmed: set[str | None] = {None}  # failures that were confirmed in a new JVM
        # failures that Maven's command had as well
        self._hopeless: set[tuple[str | None, str]] = set()

    def build(self, output: BuildOutput, session: JvmSession) -> BuildAttempt:
        """Build a revision, retry in other ways while modules fail, and return the best result.

        A plugin that no test needs is left out once it fails, and the build is repeated without it.
        Missing snapshot versions are replaced, see `snapshots`; this result counts only if it has
        more built modules. The output folder holds the files of the returned result.
        """
        poms = load_poms(output.code)
        attempt = self._build_without_needless_plugins(output, session)
        replacements: list[Replacement] = []
        best, best_try, spent = attempt, attempt, attempt.cpu_seconds
        while len(replacements) < MOST_REPLACEMENTS:
            replacement = find_replacement(attempt.answer, poms)
            if replacement is None or replacement in replacements:
                break
            replacements.append(replacement)
            with replace_versions_temporarily(output.code, poms, replacements):
                attempt = self._build_without_needless_plugins(output, session)
            spent += attempt.cpu_seconds
            if _count_built_modules(attempt.answer) > _count_built_modules(best.answer):
                names = tuple(sorted(each.override_name for each in replacements))
                best, best_try = dataclasses.replace(attempt, overrides=names), attempt
        if best_try is not attempt:
            # The last try replaced the files of the best one.
            with replace_versions_temporarily(
                output.code, poms, replacements[: len(best.overrides)]
            ):
                again = self._build_without_needless_plugins(output, session)
            best = dataclasses.replace(again, overrides=best.overrides)
            spent += again.cpu_seconds
        changed = rewrite_poms(poms, replacements[: len(best.overrides)])
        rewritten = {
            str(file.relative_to(output.code)): text
            for file, text in changed.items()
            if text != poms[file]
        }
        return dataclasses.replace(best, rewritten=rewritten, cpu_seconds=spent)

    def _build_without_needless_plugins(
        self, output: BuildOutput, session: JvmSession
    ) -> BuildAttempt:
        without: frozenset[str] = frozenset()
        attempt = self._build_by_loop_or_command(output, session, without)
        while failed := find_failed_needless_plugins(attempt.answer) - without:
            without |= failed
            again = self._build_by_loop_or_command(output, session, without)
            spent = again.cpu_seconds + attempt.cpu_seconds
            attempt = dataclasses.replace(again, cpu_seconds=spent)
        return attempt

    def _build_by_loop_or_command(
        self, output: BuildOutput, session: JvmSession, without: frozenset[str]
    ) -> BuildAttempt:
        answer = self._build_in_session(output, session, without)
        failures = None if isinstance(answer, JvmDeath) else _describe_failures(answer)
        options = _load_text(output.code / JVM_OPTIONS)
        if (
            not _is_worth_retrying_by_command(answer, options)
            or (failures, options) in self._hopeless
        ):
            return BuildAttempt(answer=answer, builder=LOOP, cpu_seconds=get_cpu_seconds(answer))
        command = make_build_request(output, self._java_home, sorted(without))
        again = session.ask(command, output.built_test_files)
        spent = get_cpu_seconds(answer) + get_cpu_seconds(again)
        if _count_built_modules(again) > _count_built_modules(answer):
            return BuildAttempt(answer=again, builder=COMMAND, cpu_seconds=spent)
        self._hopeless.add((failures, options))
        if _count_built_modules(answer):  # the second try replaced its files
            answer = session.ask(
                make_build_request(output, without=sorted(without)), output.built_test_files
            )
            spent += get_cpu_seconds(answer)
        return BuildAttempt(answer=answer, builder=LOOP, cpu_seconds=spent)

    def _build_in_session(
        self, output: BuildOutput, session: JvmSession, without: frozenset[str]
    ) -> JvmAnswer | JvmDeath:
        """Build in the session; repeat in a new JVM if a used one failed, or if any JVM died.

        Earlier builds may have filled the sandbox's disk or left processes and files behind. There
        is no repetition if the build took too long, if the same failure was confirmed in a new JVM
        before, or if a plugin failed that no test needs.
        """
        request = make_build_request(output, without=sorted(without))
        fresh = session.is_fresh
        answer = session.ask(request, output.built_test_files)
        if isinstance(answer, JvmDeath):
            return (
                answer
                if answer.reason in TOO_LONG
                else session.ask(request, output.built_test_files)
            )
        if _describe_failures(answer) in self._confirmed or find_failed_needless_plugins(answer):
            return answer
        if not fresh:
            session.close()
            again = session.ask(request, output.built_test_files)
            if isinstance(again, JvmDeath):
                return again
            spent = again.cpu_seconds + answer.cpu_seconds
            answer = dataclasses.replace(again, cpu_seconds=spent)
        self._confirmed |= {_describe_failures(answer)} - {WITHOUT_A_WORD}
        return answer


def find_failed_needless_plugins(answer: JvmAnswer | JvmDeath) -> frozenset[str]:
    """Return the plugins that failed in a build although no test needs their output.

    A single execution of a plugin is named `PLUGIN@EXECUTION`. Empty if the JVM died.
    """
    if isinstance(answer, JvmDeath):
        return frozenset()
    needless: set[str] = set()
    for project in answer.report.get('projects') or []:
        failure = project['failure'] or {}
        goal = str(failure.get('mojo') or failure.get('plugin'))
        plugin, execution = goal.partition(':')[0], failure.get('execution')
        if plugin in NEEDLESS:
            needless.add(plugin)
        if execution and goal == COMPILATION and FURTHER_COMPILATION.search(str(execution)):
            needless.add(f'{plugin}@{execution}')
    return frozenset(needless)


def _is_worth_retrying_by_command(answer: JvmAnswer | JvmDeath, options: str) -> bool:
    """Return whether Maven's own command may succeed where the build in the session's JVM failed.

    `options` is the text of `.mvn/jvm.config`, which only the command applies. False if the build
    succeeded.
    """
    if isinstance(answer, JvmDeath):
        return answer.reason == OUT_OF_MEMORY
    if _describe_failures(answer) is None or find_failed_needless_plugins(answer):
        return False
    return bool(options) or not _is_failure_of_project(answer)


def _is_failure_of_project(answer: JvmAnswer) -> bool:
    failures = [project['failure'] for project in answer.report.get('projects') or []]
    known_failures = [
        failure for failure in (*failures, *(answer.report.get('failures') or [])) if failure
    ]
    return bool(known_failures) and all(
        failure.get('mojo') in _OF_THE_SOURCES
        or failure.get('kind')
        or any(name.rpartition('.')[2] in OF_THE_MODEL for name in failure.get('exceptions') or ())
        for failure in known_failures
    )


def _describe_failures(answer: JvmAnswer) -> str | None:
    """Return the failures of a build as text to compare; None if there were none."""
    projects = answer.report.get('projects') or []
    if answer.report.get('status') == 'built' and projects:
        return None
    failures = [[project['module'], project['failure']] for project in projects]
    others = answer.report.get('failures') or []
    return json.dumps([[failure for failure in failures if failure[1]], others], sort_keys=True)


def _count_built_modules(answer: JvmAnswer | JvmDeath) -> int:
    if isinstance(answer, JvmDeath):
        return 0
    return sum(project['status'] == 'built' for project in answer.report.get('projects') or [])


def _load_text(file: Path) -> str:
    return file.read_text(errors='replace') if file.is_file() else ''
