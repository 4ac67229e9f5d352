"""Tiny Maven projects with a history, for tests that mine them for real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.model.families import Family
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow, PairRow
from coevo.model.profiles import Profile, load_profile
from coevo.model.records import Drop
from coevo.model.words import Cell, Walk
from coevo.storage.store import Store
from flows.missing_pairs import MineReport
from flows.options import MineOptions
from flows.pipeline import mine
from tests.repos import commit, init

NAME = 'local/shop'

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
  <licenses><license><name>Apache License, Version 2.0</name></license></licenses>
  <properties>
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  {build}
</project>
"""


def pom(build: str = '') -> str:
    return POM.format(build=build)


def running(command: str) -> str:
    """The part of a POM that runs a shell command before anything is compiled."""
    return f"""<build><plugins><plugin>
      <groupId>org.apache.maven.plugins</groupId>
      <artifactId>maven-antrun-plugin</artifactId><version>3.1.0</version>
      <executions><execution>
        <phase>generate-sources</phase><goals><goal>run</goal></goals>
        <configuration><target>
          <exec executable="/bin/sh" failonerror="true">
            <arg value="-c"/><arg value="{command}"/>
          </exec>
        </target></configuration>
      </execution></executions>
    </plugin></plugins></build>"""


def source(name: str, body: str) -> dict[str, str]:
    text = f'package shop;\n\npublic class {name} {{\n{body}}}\n'
    return {f'src/main/java/shop/{name}.java': text}


def junit(name: str, *methods: str, imports: str = '') -> dict[str, str]:
    """A JUnit 4 class; a method is its name and body, `sells: assertEquals(1, 1);`."""
    parts = [
        f'    @Test public void {head}() throws Exception {{\n        {body.strip()}\n    }}\n'
        for head, _, body in (method.partition(':') for method in methods)
    ]
    text = (
        'package shop;\n\nimport static org.junit.Assert.*;\nimport org.junit.Test;\n'
        f'{imports}\npublic class {name} {{\n{"".join(parts)}}}\n'
    )
    return {f'src/test/java/shop/{name}.java': text}


def write(folder: Path, steps: Sequence[Mapping[str, str | bytes | None]]) -> Path:
    """A repository with a commit for each step's files, an hour apart."""
    init(folder)
    for number, files in enumerate(steps):
        commit(folder, f'step {number}', dict(files), date=f'2024-01-01T{number:02}:00:00Z')
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """What mining a repository left in its store."""

    store: Path
    report: MineReport
    pairs: tuple[PairRow, ...]
    methods: tuple[MethodRow, ...]
    cells: tuple[CellRow, ...]
    drops: tuple[Drop, ...]

    def method(self, name: str) -> MethodRow:
        (found,) = (row for row in self.methods if row.test_method == name)
        return found

    def runs(self, method_id: str, cell: Cell) -> list[tuple[str, str]]:
        """Order and outcome of a method's runs in a cell."""
        rows = [row for row in self.cells if (row.method_id, row.cell) == (method_id, cell)]
        return [(row.order, row.outcome) for row in sorted(rows, key=lambda row: row.repeat)]


# Without what takes most of the time; tests of that ask for it.
QUICK = load_profile('quick')
QUICKLY = ('--profile', 'quick')  # the same, said on the command line
# All that can be measured, with more runs than any test needs.
MEASURED = replace(load_profile('whole'), measure_runs=1000)


def options(
    repository: Path,
    store: Path,
    *,
    jobs: int = 1,
    walk: Walk = Walk.PARENTS,
    profile: Profile = QUICK,
    families: tuple[Family, ...] = (),
) -> MineOptions:
    return MineOptions(
        source=str(repository),
        store=store,
        profile=profile,
        name=NAME,
        jobs=jobs,
        walk=walk,
        families=families,
    )


def mined(
    repository: Path,
    store: Path,
    *,
    walk: Walk = Walk.PARENTS,
    profile: Profile = QUICK,
    families: tuple[Family, ...] = (),
) -> Mined:
    report = mine(options(repository, store, walk=walk, profile=profile, families=families))
    segments = [
        each for part in report.partitions for each in Store(store).load_current_segments(part)
    ]
    return Mined(
        store=store,
        report=report,
        pairs=tuple(segment.pair for segment in segments),
        methods=tuple(row for segment in segments for row in segment.methods),
        cells=tuple(row for segment in segments for row in segment.cells),
        drops=tuple(drop for segment in segments for drop in segment.drops),
    )
