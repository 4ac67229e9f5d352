"""The builder: Maven in a loop, with projects that the tests write."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coevo.languages.java.tools.toolchain import prepare_toolchain
from coevo.storage.disk import find_cache_folder
from tests.coevo.languages.java.jvm import (
    PLATFORM,
    REST,
    VINTAGE,
    Builder,
    Target,
    jdk_of,
    libraries,
    work,
    write,
)

pytestmark = pytest.mark.jvm

JUNIT = """<dependency><groupId>junit</groupId><artifactId>junit</artifactId>
    <version>4.13.2</version><scope>test</scope></dependency>"""


def pom(artifact: str, inner: str, packaging: str = 'jar', parent: bool = False) -> str:
    place = '<groupId>g</groupId><version>1</version>'
    above = f'<parent><artifactId>root</artifactId>{place}</parent>' if parent else place
    return f"""<project><modelVersion>4.0.0</modelVersion>{above}
        <artifactId>{artifact}</artifactId><packaging>{packaging}</packaging>{inner}</project>"""


def dependencies(*inner: str) -> str:
    return f'<dependencies>{"".join(inner)}</dependencies>'


def sibling(artifact: str, more: str = '') -> str:
    place = f'<groupId>g</groupId><artifactId>{artifact}</artifactId><version>1</version>'
    return f'<dependency>{place}{more}</dependency>'


NO_ENTRIES = b'PK\x05\x06' + bytes(18)  # a jar of nothing
MAIN = 'package p; public class A { public static int one() { return 1; } }'
TEST = """package p; public class ATest {
    @org.junit.Test public void a() { org.junit.Assert.assertEquals(1, A.one()); } }"""

EXHAUSTED = 'java.lang.OutOfMemoryError'
# The class runs in the builder's own JVM.
OUT_OF_MEMORY = """<properties><maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target></properties>
    <build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-antrun-plugin</artifactId><version>3.1.0</version><executions><execution>
    <phase>process-classes</phase><goals><goal>run</goal></goals><configuration><target>
    <java classname="p.Big" classpath="target/classes" failonerror="true"/>
    </target></configuration></execution></executions></plugin></plugins></build>"""


@pytest.fixture(
    scope='module', params=[None, pytest.param(8, marks=pytest.mark.slow)], ids=['usual', '8']
)
def builder(request: pytest.FixtureRequest) -> Iterator[Builder]:
    with Builder(jdk=jdk_of(request.param)) as running:
        yield running


def where(folder: Path) -> list[str]:
    settings = write(folder, {'settings.xml': '<settings/>'}) / 'settings.xml'
    return [f'settings={settings}', f'head={find_cache_folder() / "test-repository"}', 'tail=']


def build(
    builder: Builder, folder: Path, files: dict[str, str | bytes], *arguments: str
) -> dict[str, Any]:
    source = write(folder / 'source', files)
    places = [f'source={source}', f'work={folder / "work"}', *where(folder)]
    return builder.ask(folder / 'got', 'build', *places, *arguments)


def test_build_of_one_module_reports_files_class_path_and_settings(
    builder: Builder, tmp_path: Path
) -> None:
    inner = """<properties><maven.compiler.source>1.5</maven.compiler.source></properties>
        <build><testResources><testResource><directory>src/test/resources</directory>
          <filtering>true</filtering></testResource></testResources>
        <plugins><plugin><artifactId>maven-surefire-plugin</artifactId><configuration>
          <argLine>@{argLine} -Dx=${unknown}y</argLine>
          <systemPropertyVariables><k>v</k></systemPropertyVariables>
        </configuration></plugin><plugin><artifactId>maven-checkstyle-plugin</artifactId>
          <executions><execution><phase>validate</phase><goals><goal>nonsense</goal></goals>
          </execution></executions></plugin></plugins></build>"""
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', inner + dependencies(JUNIT)),
        'src/main/java/p/A.java': MAIN,
        'src/main/resources/a.bin': b'\0\xff',
        'src/test/java/p/ATest.java': 'this does not even parse',
        'src/test/resources/t.txt': '${project.artifactId}',
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got
    assert got['files'] == ['0/classes/a.bin', '0/classes/p/A.class', '0/test-classes/t.txt']
    assert (tmp_path / 'got/0/test-classes/t.txt').read_text() == 'root'
    (project,) = got['projects']
    assert project['module'] == '.'
    assert project['gav'] == 'g:root:1'
    assert project['level_raised']
    assert not project['linters']
    assert [it['gav'] for it in project['test_class_path']] == [
        'junit:junit:4.13.2',
        'org.hamcrest:hamcrest-core:1.3',
    ]
    assert all(Path(it['path']).is_file() for it in project['test_class_path'])
    source = '1.5' if builder.feature == 8 else '8'  # which still takes it
    assert (project['compiler']['source'], project['compiler']['target']) == (source, '8')
    assert project['surefire']['argLine'] == '-Dx=y'
    assert project['surefire']['properties'] == {'k': 'v'}


NOWHERE = '<version>0-nowhere</version>'
GOOGLE = '<groupId>com.google.errorprone</groupId>'
LINTERS = {
    'a plugin of javac': f"""<configuration><compilerArgs>
        <arg>-Xplugin:ErrorProne -XepDisableAllChecks</arg><arg>-parameters</arg></compilerArgs>
        <annotationProcessorPaths><path>{GOOGLE}<artifactId>error_prone_core</artifactId>
        {NOWHERE}</path></annotationProcessorPaths></configuration>""",
    'a compiler of its own': f"""<configuration><compilerId>javac-with-errorprone</compilerId>
        </configuration><dependencies><dependency><groupId>org.codehaus.plexus</groupId>
        <artifactId>plexus-compiler-javac-errorprone</artifactId>{NOWHERE}</dependency>
        <dependency>{GOOGLE}<artifactId>error_prone_core</artifactId>{NOWHERE}</dependency>
        </dependencies>""",
    'a processor': """<configuration><fork>true</fork><compilerArgument>-Xep:Foo:ERROR
        </compilerArgument><annotationProcessors><annotationProcessor>
        org.checkerframework.checker.nullness.NullnessChecker</annotationProcessor>
        </annotationProcessors></configuration>""",
}


@pytest.mark.parametrize('name', LINTERS)
def test_linters_inside_the_compiler_are_left_out(
    builder: Builder, tmp_path: Path, name: str
) -> None:
    plugin = f'<plugin><artifactId>maven-compiler-plugin</artifactId>{LINTERS[name]}</plugin>'
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', f'<build><plugins>{plugin}</plugins></build>{dependencies(JUNIT)}'),
        'src/main/java/p/A.java': MAIN,
        'src/test/java/p/ATest.java': TEST,
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got
    (project,) = got['projects']
    assert project['linters']
    arguments = project['compiler']['arguments']
    assert not [one for one in arguments if 'Xep' in one or 'ErrorProne' in one]
    assert ('-parameters' in arguments) == (name == 'a plugin of javac')
    assert project['compiler']['processors'] == project['compiler']['processor_path'] == []


def test_module_report_describes_test_compilation_whatever_goal_is_last(
    builder: Builder, tmp_path: Path
) -> None:
    inner = """<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><executions>
        <execution><id>default-testCompile</id><phase>none</phase></execution>
        <execution><id>early</id><phase>compile</phase><goals><goal>testCompile</goal></goals>
        </execution></executions></plugin><plugin><groupId>org.codehaus.mojo</groupId>
        <artifactId>build-helper-maven-plugin</artifactId><version>3.6.1</version><executions>
        <execution><phase>generate-test-sources</phase><goals><goal>add-test-source</goal></goals>
        <configuration><sources><source>src/test/late</source></sources></configuration>
        </execution></executions></plugin></plugins></build>"""
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', inner + dependencies(JUNIT)),
        'src/main/java/p/A.java': MAIN,
        'src/test/java/p/ATest.java': TEST,
        'src/test/late/p/Late.java': 'added when tests were compiled',
        'src/test/resources/t.txt': 'copied by the last goal, which asks for no library',
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got
    (project,) = got['projects']
    assert [it['gav'] for it in project['test_class_path']] == [
        'junit:junit:4.13.2',
        'org.hamcrest:hamcrest-core:1.3',
    ]
    assert [Path(it).name for it in project['test_source_roots']] == ['java']


def test_compiler_plugin_that_ignores_skipping_gets_no_test_sources(
    builder: Builder, tmp_path: Path
) -> None:
    inner = """<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId>
        <version>3.6.0</version><configuration><source>8</source><target>8</target>
        <testIncludes><testInclude>**/*.java</testInclude></testIncludes></configuration>
        </plugin></plugins></build>"""
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', inner + dependencies(JUNIT)),
        'src/main/java/p/A.java': MAIN,
        'src/test/java/p/ATest.java': 'this does not even parse',
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got['log']
    (project,) = got['projects']
    assert project['test_class_path'][0]['gav'] == 'junit:junit:4.13.2'
    assert [Path(it).name for it in project['test_source_roots']] == ['java']


def test_modules_are_built_with_the_modules_that_they_depend_on(
    builder: Builder, tmp_path: Path
) -> None:
    modules = '<modules><module>two</module><module>one</module><module>three</module></modules>'
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', modules, 'pom'),
        'one/pom.xml': pom('one', dependencies(JUNIT), parent=True),
        'one/src/main/java/p/A.java': MAIN,
        'one/src/test/java/p/ATest.java': TEST,
        'two/pom.xml': pom('two', dependencies(sibling('one'), JUNIT), parent=True),
        'two/src/main/java/q/B.java': 'package q; class B { int i = p.A.one(); }',
        'three/pom.xml': pom('three', '', parent=True),
        'three/src/main/java/C.java': 'class C { missing }',
    }
    got = build(builder, tmp_path / 'all', files)
    assert got['status'] == 'failed'
    by_module = {it['module']: it for it in got['projects']}
    assert {name: it['status'] for name, it in by_module.items()} == {
        '.': 'built',
        'one': 'built',
        'two': 'built',
        'three': 'failed',
    }
    failure = by_module['three']['failure']
    assert failure['mojo'] == 'maven-compiler-plugin:compile'
    assert failure['phase'] == 'compile'
    assert failure['exceptions'][-1].endswith('CompilationFailureException')
    entry = by_module['two']['test_class_path'][0]
    assert (entry['module'], entry['kind'], entry['gav']) == ('one', 'classes', 'g:one:1')
    assert not any('three' in it or it.startswith('3/') for it in got['files'])
    chosen = build(builder, tmp_path / 'chosen', files, 'modules=two')
    assert chosen['status'] == 'built'
    assert [it['module'] for it in chosen['projects']] == ['.', 'one', 'two']


def test_tests_of_a_module_are_compiled_if_another_module_needs_them(
    builder: Builder, tmp_path: Path
) -> None:
    modules = '<modules><module>one</module><module>two</module></modules>'
    jar = sibling('one', '<type>test-jar</type><scope>test</scope>')
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', modules, 'pom'),
        'one/pom.xml': pom('one', dependencies(JUNIT), parent=True),
        'one/src/main/java/p/A.java': MAIN,
        'one/src/test/java/p/ATest.java': TEST,
        'two/pom.xml': pom('two', dependencies(jar, JUNIT), parent=True),
        'two/src/test/java/q/BTest.java': 'nonsense',
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got['log']
    assert '1/test-classes/p/ATest.class' in got['files']
    entry = got['projects'][2]['test_class_path'][0]
    assert (entry['module'], entry['kind']) == ('one', 'test-classes')
    assert [it['compiles_tests'] for it in got['projects']] == [False, True, False]
    everything = build(builder, tmp_path / 'all', files, 'compile_tests=true')
    assert everything['projects'][2]['failure']['mojo'] == 'maven-compiler-plugin:testCompile'


@pytest.mark.parametrize(
    ('level', 'expected'), [('1.5', '8'), ('6', '8'), ('1.8', '1.8'), ('11', '11')]
)
def test_literal_source_levels_are_raised(
    level: str, expected: str, builder: Builder, tmp_path: Path
) -> None:
    inner = f"""<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId>
        <configuration><source>{level}</source><target>{level}</target>
        <compilerArgs><arg>-Werror</arg></compilerArgs><failOnWarning>true</failOnWarning>
        </configuration></plugin></plugins></build>"""
    got = build(builder, tmp_path, {'pom.xml': pom('root', inner), 'src/main/java/p/A.java': MAIN})
    if builder.feature == 8 and level == '11':
        assert got['status'] == 'failed'
        return
    assert got['status'] == 'built', got['log']
    compiler = got['projects'][0]['compiler']
    taken = level if builder.feature == 8 else expected  # JDK 8 refuses none of them
    assert (compiler['source'], compiler['target']) == (taken, taken)
    assert compiler['arguments'] == []
    assert got['projects'][0]['level_raised'] == (level != taken)


@pytest.mark.parametrize(
    ('inner', 'exception'),
    [
        ('<oops/>', None),  # tolerated by Maven
        ('<modules><module>absent</module></modules>', 'ProjectBuildingException'),
        (dependencies(sibling('nowhere')), 'DependencyResolutionException'),
    ],
)
def test_a_broken_pom_is_reported(
    inner: str, exception: str | None, builder: Builder, tmp_path: Path
) -> None:
    packaging = 'pom' if 'module' in inner else 'jar'
    got = build(builder, tmp_path, {'pom.xml': pom('root', inner, packaging)})
    failures = [*got['failures'], *(it['failure'] for it in got['projects'] if it['failure'])]
    if exception is None:
        assert [failure['exceptions'] for failure in failures] in ([], [failures[0]['exceptions']])
    else:
        assert got['status'] == 'failed'
        types = {it.rpartition('.')[2] for failure in failures for it in failure['exceptions']}
        assert exception in types


def test_build_leaves_no_files_for_the_next_build(builder: Builder, tmp_path: Path) -> None:
    first: dict[str, str | bytes] = {'pom.xml': pom('root', ''), 'src/main/java/p/A.java': MAIN}
    assert build(builder, tmp_path, first)['files'] == ['0/classes/p/A.class']
    (tmp_path / 'source/src/main/java/p/A.java').unlink()
    other = build(builder, tmp_path, {'src/main/java/p/B.java': 'package p; class B {}'})
    assert other['files'] == ['0/classes/p/B.class']


def test_builder_serves_on_after_a_project_whose_text_names_lack_of_memory(
    builder: Builder, tmp_path: Path
) -> None:
    modules = f'<modules><module>{EXHAUSTED}</module></modules>'
    failed = build(builder, tmp_path / 'one', {'pom.xml': pom('root', modules, 'pom')})
    assert failed['status'] == 'failed'
    assert EXHAUSTED in str(failed)
    assert build(builder, tmp_path / 'two', {'pom.xml': pom('root', '', 'pom')})['exit'] == 0


@pytest.mark.slow
def test_builder_ends_after_a_build_that_ran_out_of_memory(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', OUT_OF_MEMORY),
        'src/main/java/p/Big.java': f"""package p; public class Big {{
            public static void main(String[] a) {{ throw new {EXHAUSTED}(); }} }}""",
    }
    with Builder() as running:
        failed = build(running, tmp_path, files)
        assert EXHAUSTED in failed['projects'][0]['failure']['exceptions']
        assert running.process.wait(timeout=60) == 4


def test_project_with_extensions_and_git_plugins_is_built(builder: Builder, tmp_path: Path) -> None:
    inner = """<build><plugins><plugin><groupId>pl.project13.maven</groupId>
        <artifactId>git-commit-id-plugin</artifactId><version>4.9.10</version><executions>
        <execution><phase>initialize</phase><goals><goal>revision</goal></goals></execution>
        </executions></plugin></plugins></build>
        <properties><a>${os.detected.name}</a></properties>"""
    files: dict[str, str | bytes] = {
        '.mvn/extensions.xml': """<extensions><extension><groupId>kr.motd.maven</groupId>
            <artifactId>os-maven-plugin</artifactId><version>1.7.1</version>
            </extension></extensions>""",
        '.mvn/maven.config': '-T4\n-Dx=y\n',
        'pom.xml': pom('root', inner),
        'src/main/java/p/A.java': MAIN,
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got
    assert got['files'] == ['0/classes/p/A.class']


AWAY = '<groupId>nowhere.to.be.found</groupId><artifactId>{}</artifactId><version>{}</version>'


def managed(inner: str) -> str:
    return f'<dependencyManagement>{dependencies(inner)}</dependencyManagement>'


def imported(version: str) -> str:
    place = f'<groupId>org.junit</groupId><artifactId>junit-bom</artifactId><version>{version}'
    return f'<dependency>{place}</version><type>pom</type><scope>import</scope></dependency>'


FROM_THE_TREE = """<dependency><groupId>own</groupId><artifactId>lib</artifactId>
    <version>1-SNAPSHOT</version><scope>system</scope>
    <systemPath>${project.basedir}/lib.jar</systemPath></dependency>"""


@pytest.mark.parametrize(
    ('pom_text', 'coordinates'),
    [
        pytest.param(
            '<project><modelVersion>4.0.0</modelVersion><artifactId>root</artifactId>'
            f'<parent>{AWAY.format("above", "1-SNAPSHOT")}<relativePath/></parent></project>',
            'nowhere.to.be.found:above:1-SNAPSHOT',
            id='a parent',
        ),
        pytest.param(
            pom(
                'root',
                managed(
                    f'<dependency>{AWAY.format("bom", "2-SNAPSHOT")}<type>pom</type>'
                    '<scope>import</scope></dependency>'
                ),
            ),
            'nowhere.to.be.found:bom:2-SNAPSHOT',
            id='an imported POM that is gone',
        ),
        pytest.param(
            pom(
                'root',
                '<properties><a>[5.10.0,${b}]</a><b>5.10.1</b></properties>'
                + managed(imported('${a}')),
            ),
            'org.junit:junit-bom:[5.10.0,5.10.1]',
            id='an imported POM',
        ),
        pytest.param(
            pom('root', dependencies(FROM_THE_TREE)), None, id='a library of the tree is pinned'
        ),
    ],
)
def test_unpinned_parent_or_imported_pom_fails_with_that_reason(
    pom_text: str, coordinates: str | None, builder: Builder, tmp_path: Path
) -> None:
    got = build(builder, tmp_path, {'pom.xml': pom_text, 'lib.jar': NO_ENTRIES})
    told = [*(it['failure'] for it in got['projects'] if it['failure']), *got['failures']]
    named = [(it['kind'], it['absent']) for it in told]
    kind = (
        'snapshot_dependency' if str(coordinates).endswith('-SNAPSHOT') else 'unpinned_dependency'
    )
    assert named == ([(kind, coordinates)] if coordinates else []), got['log']
    assert coordinates or got['status'] == 'built'


HAMCREST, ASM = 'org.hamcrest</groupId><artifactId>hamcrest', 'org.ow2.asm</groupId><artifactId>asm'
PINNED = '<dependency><groupId>{}</artifactId><version>{}</version></dependency>'


@pytest.mark.parametrize(
    ('asked', 'taken'),
    [('[2.1,)', '2.1'), ('(2.1,3)', '2.2-rc1'), ('[2.1],[2.2,3)', '2.1')],
)
def test_version_range_resolves_to_its_lowest_version(
    builder: Builder, tmp_path: Path, asked: str, taken: str
) -> None:
    plugin = f"""<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId>
        <dependencies>{PINNED.format(ASM, '[9.0,9.2]')}</dependencies></plugin></plugins></build>"""
    library = PINNED.format(HAMCREST, asked)
    files = {'pom.xml': pom('root', dependencies(library) + plugin), 'src/main/java/p/A.java': MAIN}
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got['log']
    (project,) = got['projects']
    assert [it['gav'] for it in project['test_class_path']] == [f'org.hamcrest:hamcrest:{taken}']
    assert project['ranges']


TRANSPORT = """<build><extensions><extension><groupId>org.apache.maven.wagon</groupId>
    <artifactId>wagon-gone</artifactId><version>0-nowhere</version></extension></extensions><plugins>
    <plugin><groupId>nowhere.to.be.found</groupId><artifactId>nexus-staging-maven-plugin</artifactId>
    <version>1</version><extensions>true</extensions></plugin></plugins></build>"""


def test_publishing_plugins_and_extensions_are_not_resolved(
    builder: Builder, tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', TRANSPORT),
        'src/main/java/p/A.java': MAIN,
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got['log']


GROOVY = """<build><plugins><plugin><groupId>org.codehaus.gmavenplus</groupId>
    <artifactId>gmavenplus-plugin</artifactId><version>1.13.1</version><executions><execution>
    <goals><goal>addTestSources</goal><goal>compileTests</goal></goals></execution></executions>
    </plugin></plugins></build>"""


def test_groovy_tests_that_use_java_tests_do_not_fail_the_build(
    builder: Builder, tmp_path: Path
) -> None:
    groovy = """<dependency><groupId>org.codehaus.groovy</groupId><artifactId>groovy</artifactId>
        <version>3.0.9</version><scope>test</scope></dependency>"""
    files: dict[str, str | bytes] = {
        'pom.xml': pom('root', dependencies(JUNIT, groovy) + GROOVY),
        'src/main/java/p/A.java': MAIN,
        'src/test/java/p/ATest.java': TEST,
        'src/test/groovy/p/BTest.groovy': 'package p\nclass BTest extends ATest { }\n',
    }
    got = build(builder, tmp_path, files)
    assert got['status'] == 'built', got['log']
    assert got['files'] == ['0/classes/p/A.class']


def test_coordinates_are_resolved_with_their_dependencies(builder: Builder, tmp_path: Path) -> None:
    got = builder.ask(tmp_path, 'resolve', 'coordinates=junit:junit:4.12', *where(tmp_path))
    assert got['status'] == 'resolved'
    assert [it['coordinates'] for it in got['resolved']] == [
        'junit:junit:jar:4.12',
        'org.hamcrest:hamcrest-core:jar:1.3',
    ]
    assert all(Path(it['path']).is_file() for it in got['resolved'])
    got = builder.ask(tmp_path, 'resolve', 'coordinates=junit:junit:4.999', *where(tmp_path))
    assert (got['status'], got['resolved']) == ('failed', None)
    assert got['failures'][0]['exceptions'][-1].endswith('ArtifactNotFoundException')


def test_unknown_builder_command_gets_the_status_crashed(builder: Builder, tmp_path: Path) -> None:
    assert builder.ask(tmp_path, 'nonsense')['status'] == 'crashed'


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason='needs root to become another user')
def test_builder_and_worker_use_pipes_opened_by_another_user(tmp_path: Path) -> None:
    """The sandbox starts its programs under another user than the one who opened the pipes."""
    tools = prepare_toolchain()
    path = os.pathsep.join(map(str, tools.builder_class_path))
    java = [str(tools.java), '-cp', path, 'coevo.builder.Builder', '/none', '/none']
    request = b'\0\0\0\1\0\0\0\1x'
    done = subprocess.run(java, input=request, capture_output=True, user=65534, check=True)
    assert b'crashed' in done.stdout
    jars = libraries(tools, *PLATFORM, *REST, *VINTAGE)
    assert work([Target('a', ['p.Absent'])], jars, user=65534).done
