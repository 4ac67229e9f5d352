"""MultiFileTest's 59 projects: how many files each has, and whether all of them load.

Python and Java by coevo: a commit is made of the files as they are published, and built and run as any other. Of
Python each project is a test that imports its modules with its folder and the one above on the path. JavaScript by
Jest, a test for each file.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from contextlib import closing
from pathlib import Path

from benchmarks.published_families import ckmeans
from benchmarks.tables import Row
from benchmarks.tam_eval.suites import TestText
from benchmarks.tam_eval.suites import standing_pair
from benchmarks.tam_eval.suites import tests_of
from coevo.git.process import run_git
from coevo.git.repository import Repository
from coevo.languages.engine import BuiltPair
from coevo.languages.engine import RunSettings
from coevo.languages.table import LANGUAGES
from coevo.languages.table import reading
from coevo.measures.edited_cells import EditedCellRunner
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Mount
from coevo.sandboxes.sandbox import open_sandbox

# Packages that the projects import, with names by which they are installed.
REQUIREMENTS = 'Levenshtein\nnumpy\npytest\nrapidfuzz\nrlcard\nscipy\ntext_unidecode\n'
# 18 February 2025, when they had been published: what is installed is of that day.
_SECONDS = 1739836800
_DATASET = {'python': 'dataset/Python/', 'java': 'dataset/JAVA/', 'javascript': 'dataset/JS/'}
_BUILT = 'javatest/GPT3.5/abcd_without/gpt3.5_'
_SUFFIX = {'python': '.py', 'java': '.java', 'javascript': '.js'}
_TEST = 'loading/test_loading.py'
_LOADS = """\
import importlib.util
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load(project, paths):
    folder = os.path.join(ROOT, project)
    sys.path[:0] = [folder, ROOT]
    os.chdir(folder)
    for path in paths:
        name = 'loaded_' + path.replace('/', '_')[:-3]
        spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, path))
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


"""

Files = Mapping[str, bytes]


def projects(data: Repository, language: str) -> dict[str, dict[str, bytes]]:
    """The files of each project, by their path from the folder of all of them."""
    top = _DATASET[language]
    tree = data.tree(data.commit('HEAD').rev)
    found: dict[str, dict[str, bytes]] = {}
    for path in sorted(tree):
        if path.startswith(top):
            inner = path.removeprefix(top)
            found.setdefault(inner.partition('/')[0], {})[inner] = data.blob(tree[path].oid)
    return found


def table(data: Repository, language: str) -> Iterator[Row]:
    known = projects(data, language)
    loads = {'python': _python, 'java': _java, 'javascript': _javascript}[language](data, known)
    for name, files in known.items():
        sources = [path for path in files if path.endswith(_SUFFIX[language])]
        yield {
            'language': language,
            'project': name,
            'files': str(len(sources)),
            'loads': loads.get(name, 'not asked'),
        }


def _python(data: Repository, known: Mapping[str, Files]) -> dict[str, str]:
    """One commit of all, one test for each."""
    files = {path: text for some in known.values() for path, text in some.items()}
    tests = [_LOADS]
    for name, some in known.items():
        paths = [path for path in some if path.endswith('.py')]
        tests.append(f'def test_{name}():\n    load({name!r}, {paths!r})\n\n\n')
    text = ''.join(tests).encode()
    files |= {'requirements.txt': REQUIREMENTS.encode(), _TEST: text}
    with ExitStack() as stack:
        repository, built = _built(stack, files, 'python')
        if built.new.failure is not None:
            return dict.fromkeys(known, built.new.failure)
        tree = reading('python').tree(repository, built.pair.new.rev)
        asked = TestText(path=_TEST, text=text, is_own=True)
        methods = tests_of('python', tree, asked, tree.module(_TEST))
        runner = EditedCellRunner(built=built, repository=repository)
        compiled = built.compile(built.pair.new.rev, built.pair.new.rev, tree.module(_TEST))
        verdicts = runner.run_all(compiled, methods, None)
        return {
            method.test_method.removeprefix('test_'): 'lost'
            if verdict is None
            else f'{verdict.outcome} {verdict.signature or ""}'.strip()
            for method, verdict in zip(methods, verdicts, strict=True)
        }


def _java(data: Repository, known: Mapping[str, Files]) -> dict[str, str]:
    """Each is a commit of its own, with the POM that is published with a model's tests."""
    tree = data.tree(data.commit('HEAD').rev)
    found = {}
    for name in known:
        top = f'{_BUILT}{name}/'
        files = {
            path.removeprefix(top): data.blob(tree[path].oid)
            for path in tree
            if path.startswith(top) and (path.endswith('pom.xml') or '/src/main/' in path)
        }
        with ExitStack() as stack:
            _, built = _built(stack, files, 'java')
            failure = built.new.failure or built.new.trouble('.')
            found[name] = 'pass' if failure is None else failure
            print(name, found[name], flush=True)
    return found


def _built(stack: ExitStack, files: Files, language: str) -> tuple[Repository, BuiltPair]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='coevo-')))
    repository = _committed(folder / 'repository', files)
    settings = RunSettings(
        repository=repository, sandbox='bubblewrap', runtimes=LANGUAGES[language].runtimes()
    )
    builder = LANGUAGES[language].engine(settings, stack).builder()
    stack.callback(builder.close)
    return repository, builder.build(standing_pair(repository, 'local/loads', 'HEAD', language))


def _committed(folder: Path, files: Files) -> Repository:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text)
    git = folder / '.git'
    run_git(git, 'init', '--quiet', str(folder))
    own = f'--work-tree={folder}'
    run_git(git, own, 'add', '--all', '--force')
    tree = run_git(git, 'write-tree').decode().strip()
    who = f'coevo <coevo@localhost> {_SECONDS} +0000'
    commit = f'tree {tree}\nauthor {who}\ncommitter {who}\n\nas published\n'.encode()
    made = run_git(git, 'hash-object', '-t', 'commit', '-w', '--stdin', stdin=commit)
    run_git(git, 'update-ref', 'HEAD', made.decode().strip())
    return Repository(git)


def _javascript(data: Repository, known: Mapping[str, Files]) -> dict[str, str]:
    """A file that does not load fails its own test alone."""
    with tempfile.TemporaryDirectory(prefix='coevo-') as name:
        folder = Path(name)
        folder.chmod(0o755)
        ckmeans.install(data, folder / 'project')
        for some in known.values():
            for path, text in some.items():
                place = folder / 'project' / 'loads' / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text)
                if path.endswith('.js'):
                    test = f"import * as it from './{place.name}';\ntest('loads', () => expect(it).toBeDefined());\n"
                    place.with_name(f'{place.stem}.load.test.js').write_text(test)
        command = (
            'cp -r /in/project /w/p && cd /w/p && node node_modules/jest/bin/jest.js --no-cache'
        )
        command += ' --coverage=false --json --outputFile=/w/out loads >/dev/null 2>&1; cat /w/out'
        with closing(open_sandbox('bubblewrap')) as sandbox:
            job = Job(
                argv=('/bin/sh', '-c', command),
                limits=ckmeans.LIMITS,
                mounts=(Mount(source=folder, target='/in'),),
            )
            with sandbox.start(job) as process:
                report = json.loads(process.stdout.read())
    broken: dict[str, int] = dict.fromkeys(known, 0)
    for one in report['testResults']:
        project = one['name'].partition('/loads/')[2].partition('/')[0]
        broken[project] += one['status'] != 'passed'
    return {
        name: 'pass' if not count else f'{count} files do not' for name, count in broken.items()
    }
