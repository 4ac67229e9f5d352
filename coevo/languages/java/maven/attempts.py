"""How a revision is built: by Maven in a warm JVM, in a fresh one, then by Maven's own command.

The command is the fallback: it is a process of its own and
heeds `.mvn/jvm.config`, which opens the JDK to plugins. It costs a JVM's start for every build.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from coevo.languages.java.building.build_attempt import BuildAttempt, get_cpu_seconds
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.session import TOO_LONG, JvmAnswer, JvmDeath, JvmSession
from coevo.languages.java.building.settings import make_build_request

LOOP, COMMAND = 'maven-loop', 'mvn'

# What `_describe_failures` makes of a build that could not say what became of it.
WITHOUT_A_WORD = '[[], []]'

# What Maven's extension calls what a module makes for another one only once it is packaged.
SIBLING_NOT_PACKAGED = 'sibling_not_packaged'

# The one death of a builder that a JVM for Maven alone may be spared.
OUT_OF_MEMORY = 'out_of_memory'

# Failures of the project's own sources, libraries and POMs: the same however Maven is started.
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

# What writes manifests, documents or descriptors: it is left out once it fails, for no test needs it.
NEEDLESS = frozenset(
    {
        'asciidoctor-maven-plugin',
        'bnd-maven-plugin',
        'docbkx-maven-plugin',
        'duplicate-finder-maven-plugin',
        'flatten-maven-plugin',
        'maven-bundle-plugin',
        'maven-plugin-plugin',
        'maven-remote-resources-plugin',
    }
)

# What Maven's script reads before it starts a JVM, and a warm JVM cannot heed.
JVM_OPTIONS = '.mvn/jvm.config'


class MavenBuildAttempts:
    """What was learnt from failed builds of a run: none fails twice in the same way at full cost.

    java_home  the JDK for Maven's command
    """

    def __init__(self, java_home: Path) -> None:
        self._java_home = java_home
        self._confirmed: set[str | None] = {None}  # what failed in a fresh JVM
        self._hopeless: set[tuple[str | None, str]] = set()  # what failed by command, too

    def build(self, output: BuildOutput, session: JvmSession) -> BuildAttempt:
        """Build by the ways there are until one builds all; the best one counts.

        Goals that no test needs are left out once they fail, one after the other.
        """
        without: frozenset[str] = frozenset()
        attempt = self._build_once(output, session, without)
        while failed := find_needless_plugins(attempt.answer) - without:
            without |= failed
            again = self._build_once(output, session, without)
            spent = again.cpu_seconds + attempt.cpu_seconds
            attempt = dataclasses.replace(again, cpu_seconds=spent)
        return attempt

    def _build_once(
        self, output: BuildOutput, session: JvmSession, without: frozenset[str]
    ) -> BuildAttempt:
        answer = self._build_in_loop(output, session, without)
        failures = None if isinstance(answer, JvmDeath) else _describe_failures(answer)
        options = _load_text(output.code / JVM_OPTIONS)
        if not _is_worth_retrying(answer, options) or (failures, options) in self._hopeless:
            return BuildAttempt(answer=answer, builder=LOOP, cpu_seconds=get_cpu_seconds(answer))
        command = make_build_request(output, self._java_home, sorted(without))
        again = session.ask(command, output.built)
        spent = get_cpu_seconds(answer) + get_cpu_seconds(again)
        if _count_built_modules(again) > _count_built_modules(answer):
            return BuildAttempt(answer=again, builder=COMMAND, cpu_seconds=spent)
        self._hopeless.add((failures, options))
        if _count_built_modules(answer):  # its files made way for those of the second try
            answer = session.ask(make_build_request(output, without=sorted(without)), output.built)
            spent += get_cpu_seconds(answer)
        return BuildAttempt(answer=answer, builder=LOOP, cpu_seconds=spent)

    def _build_in_loop(
        self, output: BuildOutput, session: JvmSession, without: frozenset[str]
    ) -> JvmAnswer | JvmDeath:
        """Once more in a fresh JVM where a used one failed, or any died; not if it took too long.

        Earlier builds may have filled the sandbox's disk or left processes and files behind. What
        failed in a fresh JVM before, in just the same way, is believed of a used one.
        """
        request = make_build_request(output, without=sorted(without))
        fresh = session.is_fresh
        answer = session.ask(request, output.built)
        if isinstance(answer, JvmDeath):
            return answer if answer.reason in TOO_LONG else session.ask(request, output.built)
        if _describe_failures(answer) in self._confirmed or find_needless_plugins(answer):
            return answer
        if not fresh:
            session.close()
            again = session.ask(request, output.built)
            if isinstance(again, JvmDeath):
                return again
            spent = again.cpu_seconds + answer.cpu_seconds
            answer = dataclasses.replace(again, cpu_seconds=spent)
        self._confirmed |= {_describe_failures(answer)} - {WITHOUT_A_WORD}
        return answer


def find_needless_plugins(answer: JvmAnswer | JvmDeath) -> frozenset[str]:
    """The plugins that failed though no test needs what they make."""
    if isinstance(answer, JvmDeath):
        return frozenset()
    failures = (project['failure'] or {} for project in answer.report.get('projects') or [])
    names = (failure.get('mojo') or failure.get('plugin') for failure in failures)
    return NEEDLESS & {str(name).partition(':')[0] for name in names}


def _is_worth_retrying(answer: JvmAnswer | JvmDeath, options: str) -> bool:
    """Whether another way of starting Maven may do better."""
    if isinstance(answer, JvmDeath):
        return answer.reason == OUT_OF_MEMORY
    if _describe_failures(answer) is None or find_needless_plugins(answer):
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
    """What failed in a build and how, as text to compare; None if nothing did."""
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
