"""Let Randoop write the tests of a task, without a model: tests for the classes that it names.

This file runs in the sandbox under the system's Python, without coevo, so it imports only the
standard library. `/agent` has the jars of Randoop. The project is compiled by Maven, offline, with
the JDK of the task. Randoop calls the code in random sequences for a while, and writes what the
code returns as assertions.

If the task asks for tests by name, each gets the bodies of some generated tests: those that mention
what the prompt names come first. Otherwise each generated test is a test of the file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

SOFTWARE, OUTPUT, CLASS_PATH = '/agent', '/tmp/randoop', '/tmp/class-path.txt'
# Exit statuses: no Randoop, no class of a Maven module to test, no test was generated.
NO_SOFTWARE, NO_CLASS, NO_TEST = 3, 4, 5
# Randoop's own default is 100 seconds. Compiling comes before it, writing the tests after it.
_MOST_SECONDS, _SHARE = 100.0, 0.3
# Most generated tests that are written. Java allows 64 KiB of byte code for a method.
MOST_TESTS, MOST_IN_ONE = 100, 10

_MAVEN = ('mvn', '-q', '-B', '-Dmaven.compiler.failOnError=false', 'compile')
_LIST_LIBRARIES = ('dependency:build-classpath', f'-Dmdep.outputFile={CLASS_PATH}')
_TEST = re.compile(
    r'^    @Test\n    public void \w+\(\) throws Throwable \{\n(?P<body>.*?)^    \}$',
    re.MULTILINE | re.DOTALL,
)
_DEBUG = re.compile(r'^ *if \(debug\)\n.*\n', re.MULTILINE)
# An assertion of JUnit 4. Its message, which begins with a literal, comes before the values.
_ASSERTION = re.compile(r'\borg\.junit\.Assert\.(?P<name>assert\w+|fail)\(')
# One string, one character, or a bracket: what a search for an argument's end has to know.
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[()\[\]{},]', re.DOTALL)
_COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_BOOLEAN_ARRAYS = 'assertBooleanArrayEquals('
# The annotation and the assertions of each framework.
FRAMEWORKS = {
    'jupiter': ('org.junit.jupiter.api.Test', 'org.junit.jupiter.api.Assertions'),
    'testng': ('org.testng.annotations.Test', 'org.testng.Assert'),
    'junit4': ('org.junit.Test', 'org.junit.Assert'),
}


def main() -> int:
    """Write the test file; return the exit status."""
    if not list(Path(SOFTWARE).glob('randoop*.jar')):
        print(f'{SOFTWARE} has no randoop*.jar', file=sys.stderr)
        return NO_SOFTWARE
    task = json.loads(Path(os.environ['COEVO_TASK']).read_text())
    test_file = Path(task['test_file'])  # own name: of this sandbox, whose project it is
    start = test_file.read_text() if test_file.is_file() else ''
    module = next((each for each in test_file.parents if (each / 'pom.xml').is_file()), None)
    named = list(dict.fromkeys(part['name'].partition('#')[0] for part in task['code']))
    compiled = compile_module(module) if module is not None else ()
    classes = [name for name in named if compiled and _has_class_file(name, compiled[0])]
    if not classes:
        print('no class of a Maven module is named, or it does not compile', file=sys.stderr)
        return NO_CLASS
    package = find_package(start, test_file)
    bodies = run_randoop(classes, package, compiled)
    words = [part['name'].rpartition('#')[2].partition('(')[0] for part in task['code']]
    bodies = sort_by_mentions(bodies, words)[:MOST_TESTS]
    if not bodies:
        print('Randoop generated no test', file=sys.stderr)
        return NO_TEST
    framework = choose_framework(start, os.pathsep.join(compiled))
    bodies = [translate_assertions(body, framework) for body in bodies]
    wanted = task['tests'] or [f'{test_file.stem}#generated{n}' for n in range(len(bodies))]
    test_file.parent.mkdir(parents=True, exist_ok=True)
    test_file.write_text(
        add_tests(start or make_class(package, test_file.stem), wanted, bodies, framework)
    )
    return 0


def compile_module(module: Path) -> Sequence[str]:
    """Return the class path of a module: its classes first, then its libraries; () if it has none."""
    for words in (_MAVEN, (*_MAVEN[:-1], *_LIST_LIBRARIES)):
        subprocess.run(words, cwd=module, stdin=subprocess.DEVNULL, check=False)
    classes, libraries = module.absolute() / 'target/classes', Path(CLASS_PATH)
    if not classes.is_dir():
        return ()
    others = libraries.read_text().strip() if libraries.is_file() else ''
    return (str(classes), *filter(None, others.split(os.pathsep)))


def _has_class_file(name: str, folder: str) -> bool:
    path = Path(folder, f'{name.replace(".", "/")}.class')  # own name: in this sandbox
    return path.is_file()


def run_randoop(classes: Sequence[str], package: str, class_path: Sequence[str]) -> list[str]:
    """Return the bodies of tests that Randoop writes for some classes.

    Other classes of their packages are called for arguments: each test has a class of `classes`.
    """
    names = list(dict.fromkeys([*classes, *_list_neighbours(classes, class_path)]))
    listed = Path(f'{OUTPUT}.txt')
    listed.write_text(''.join(f'{name}\n' for name in names))
    pattern = '|'.join(re.escape(name.replace('$', '.')) for name in classes)
    path = os.pathsep.join([*class_path, f'{SOFTWARE}/*'])
    words = ['java', '-Xmx2g', '-cp', path, 'randoop.main.Main', 'gentests']
    words += [f'--classlist={listed}', '--silently-ignore-bad-class-names=true']
    words += [f'--require-classname-in-test={pattern}', f'--junit-package-name={package}']
    words += [f'--time-limit={compute_search_seconds():.0f}', f'--junit-output-dir={OUTPUT}']
    words += [f'--randomseed={os.environ.get("COEVO_SEED", "0")}', '--progressdisplay=false']
    words += ['--no-error-revealing-tests=true', '--flaky-test-behavior=DISCARD']
    words += ['--usethreads=true', '--output-limit=1000']
    subprocess.run(words, stdin=subprocess.DEVNULL, check=False)
    files = sorted(Path(OUTPUT).rglob('RegressionTest[0-9]*.java'))
    return [body for file in files for body in list_bodies(file.read_text())]


def _list_neighbours(classes: Sequence[str], class_path: Sequence[str]) -> list[str]:
    """Return the other top classes of the packages, by name."""
    root = Path(class_path[0])
    folders = {name.rpartition('.')[0] for name in classes}
    return [
        f'{folder}.{file.stem}' if folder else file.stem
        for folder in sorted(folders)
        for file in sorted((root / folder.replace('.', '/')).glob('*.class'))
        if '$' not in file.stem and file.stem not in {'package-info', 'module-info'}
    ]


def compute_search_seconds() -> float:
    """Return how long Randoop may search: a part of the attempt's time, at most its own default."""
    return max(1.0, min(_MOST_SECONDS, float(os.environ.get('COEVO_SECONDS', 'inf')) * _SHARE))


def find_package(start: str, test_file: Path) -> str:
    """Return the package of a test file; that of its folder below `java` if there is no file yet."""
    declared = re.search(r'^\s*package\s+([\w.]+)\s*;', _blank(start), re.MULTILINE)
    if declared:
        return declared.group(1)
    folders = test_file.parent.parts
    return '.'.join(folders[folders.index('java') + 1 :]) if 'java' in folders else ''


def choose_framework(start: str, class_path: str) -> str:
    """Return the framework of a test file; that of the libraries if the file does not import one."""
    names = {'jupiter': 'org.junit.jupiter', 'testng': 'org.testng', 'junit4': 'org.junit.'}
    for framework, package in names.items():
        if re.search(rf'^import\s+(static\s+)?{re.escape(package)}', start, re.MULTILINE):
            return framework
    jars = {'jupiter': 'junit-jupiter-api', 'testng': 'testng-'}
    return next((each for each, jar in jars.items() if jar in class_path), 'junit4')


def list_bodies(text: str) -> list[str]:
    """Return the body of each test of a file that Randoop wrote, without its switch for debugging."""
    bodies = (textwrap.dedent(_DEBUG.sub('', each['body'])) for each in _TEST.finditer(text))
    return [body.strip() for body in bodies if 'org.junit.Assert.' in body]


def sort_by_mentions(bodies: list[str], words: list[str]) -> list[str]:
    """Return bodies that mention most of the words first, in their order otherwise."""
    patterns = [re.compile(rf'\b{re.escape(word)}\b') for word in words if word]
    return sorted(bodies, key=lambda body: -sum(bool(each.search(body)) for each in patterns))


def translate_assertions(body: str, framework: str) -> str:
    """Return a body with the assertions of a framework, without messages, which it may put last."""
    owner = FRAMEWORKS[framework][1]
    body = body.replace(_BOOLEAN_ARRAYS, 'org.junit.Assert.assertArrayEquals(')
    pieces, end = [], 0
    for call in _ASSERTION.finditer(body):
        if call.start() < end:  # text of a message
            continue
        name = call['name']
        if framework == 'testng' and name == 'assertArrayEquals':
            name = 'assertEquals'
        pieces += [body[end : call.start()], f'{owner}.{name}(']
        end = call.end()
        if name != 'fail' and body.startswith('"', end):
            comma = _find_comma(body, end)
            end = end if comma is None else comma
    return ''.join([*pieces, body[end:]])


def _find_comma(text: str, start: int) -> int | None:
    """Return where the second argument begins; None if there is no second one."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in '([{') - (token[0] in ')]}')
        if depth < 0:
            return None
        if token[0] == ',' and depth == 0:
            return token.end() + text.startswith(' ', token.end())
    return None


def make_class(package: str, name: str) -> str:
    """Return a test class without tests."""
    head = f'package {package};\n\n' if package else ''
    return f'{head}public class {name} {{\n}}\n'


def add_tests(start: str, wanted: Sequence[str], bodies: Sequence[str], framework: str) -> str:
    """Return a test file with the wanted tests, among which the bodies are shared out in turn.

    wanted  the tests by class and name, such as `TillTest$Nested#total`
    """
    text = start
    for index, test in enumerate(wanted):
        container, _, name = test.partition('#')
        chosen = [bodies[index % len(bodies)], *bodies[index + len(wanted) :: len(wanted)]]
        owner = container.rpartition('.')[2].rpartition('$')[2]
        method = _write_method(name.partition('(')[0], chosen[:MOST_IN_ONE], framework)
        head = text[: _find_class_end(text, owner)].rstrip()
        rest = text[len(head) :].lstrip('\n')
        text = f'{head}\n\n{method}{rest}'
    return text


def _write_method(name: str, bodies: Sequence[str], framework: str) -> str:
    """Return a test method with a block for each body, since their variables have equal names."""
    blocks = ''.join(f'{{\n{textwrap.indent(body, "    ")}\n}}\n' for body in bodies)
    inner = bodies[0] + '\n' if len(bodies) == 1 else blocks
    annotation = FRAMEWORKS[framework][0]
    method = f'@{annotation}\npublic void {name}() throws Throwable {{\n'
    return textwrap.indent(f'{method}{textwrap.indent(inner, "    ")}}}\n', '    ')


def _find_class_end(text: str, name: str) -> int:
    """Return where the closing brace of a class stands; that of the file's last class otherwise."""
    blank = _blank(text)
    declared = re.search(rf'\b(?:class|interface|record|enum)\s+{re.escape(name)}\b', blank)
    opening = blank.find('{', declared.end()) if declared else -1
    depth = 0
    for position in _iterate_braces(blank, opening) if opening >= 0 else ():
        depth += 1 if blank[position] == '{' else -1
        if depth == 0:
            return position
    return max(blank.rfind('}'), 0)


def _iterate_braces(text: str, start: int) -> Iterator[int]:
    return (start + each.start() for each in re.finditer(r'[{}]', text[start:]))


def _blank(text: str) -> str:
    """Return a text of the same length with spaces for comments and literals."""
    return _COMMENT_OR_LITERAL.sub(lambda part: ' ' * len(part[0]), text)


if __name__ == '__main__':
    sys.exit(main())
