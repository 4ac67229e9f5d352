"""Lines and branches of some files that a test executes, counted by coverage.py as it does by itself: statements
by their first lines, branches by the lines that they lead to, without what is excluded by its comments.

coverage.py lies with our programs and in no test's way: while a test runs no module of it is known by its
name, so that a test finds its own, or none. What ran while files were loaded belongs to no test.
"""

import contextlib
import os
import sys
import warnings

_NAME = 'coverage'
# Where several can be had: the one that counts branches for all interpreters.
_CORE = 'COVERAGE_CORE'


class Counter:
    """Of the files below a root whose texts are given by path, one test after the other."""

    def __init__(self, folder, root, texts):
        self.folder = folder
        self.paths = {file: os.path.realpath(os.path.join(root, file)) for file in texts}
        self.texts = {self.paths[file]: text for file, text in texts.items()}
        self.modules, self.possible, self.running = {}, {}, None

    def begin(self):
        with self._in_place():
            from coverage import Coverage

            self.running = Coverage(
                data_file=None, config_file=False, branch=True, include=list(self.paths.values())
            )
            self.running.start()

    def end(self):
        """An event for each file that can be read."""
        with self._in_place():
            self.running.stop()
            data = self.running.get_data()
            found = [self._told(file, path, data) for file, path in sorted(self.paths.items())]
        return [event for event in found if event is not None]

    def _told(self, file, path, data):
        if path not in self.possible:
            self.possible[path] = self._of(path)
        if self.possible[path] is None:
            return None
        reporter, known, exits, arcs = self.possible[path]
        hit = known & reporter.translate_lines(data.lines(path) or ())
        taken = set(reporter.translate_arcs(data.arcs(path) or ()))
        return {
            'file': file,
            'known': sorted(known),
            'hit': sorted(hit),
            'exits': sorted(exits.items()),
            'missed': sorted(arcs - taken),
        }

    def _of(self, path):
        """What there is to be executed; None of what coverage.py cannot read."""
        from coverage.exceptions import CoverageException
        from coverage.parser import PythonParser
        from coverage.python import PythonFileReporter

        reporter = PythonFileReporter(path, self.running)
        left_out = self.running._exclude_regex('exclude')
        try:
            # The text at the path is not always there, nor always that of the code which runs.
            parser = PythonParser(text=self.texts[path], filename=path, exclude=left_out)
            parser.parse_source()
            reporter._parser, reporter._source = parser, self.texts[path]
            known, excluded = reporter.lines(), reporter.excluded_lines()
            exits = {line: count for line, count in reporter.exit_counts().items() if count > 1}
            whole = reporter.no_branch_lines()
        except CoverageException:
            return None
        arcs = {
            (line, to)
            for line, to in reporter.arcs()
            if line in exits and line not in whole and to not in excluded
        }
        return reporter, known, exits, arcs

    @contextlib.contextmanager
    def _in_place(self):
        """As the one that is imported under its name."""
        foreign, core = _modules(), os.environ.get(_CORE)
        self._replace(foreign, self.modules)
        sys.path.insert(0, self.folder)
        os.environ[_CORE] = 'ctrace'
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                yield
        finally:
            if core is None:
                del os.environ[_CORE]
            else:
                os.environ[_CORE] = core
            sys.path.remove(self.folder)
            self.modules = _modules()
            self._replace(self.modules, foreign)

    def _replace(self, these, others):
        for name in these:
            del sys.modules[name]
        sys.modules.update(others)


def _modules():
    return {name: one for name, one in list(sys.modules.items()) if name.partition('.')[0] == _NAME}
