"""The lines and branches of given files that a test executes, counted by coverage.py.

The counts follow coverage.py's own rules: statements by their first lines, branches by the lines
that they lead to, without what its comments exclude. coverage.py is in the folder of these programs
and is hidden from tests: while a test runs, `sys.modules` holds no module of it, so that a test
imports its own copy or none. Lines that run while files are loaded are not counted for any single
test, but for all tests together.
"""

import contextlib
import os
import sys
import warnings

_NAME = 'coverage'
_CORE = 'COVERAGE_CORE'
# The core that counts branches on all interpreters, and the cheapest one that counts lines.
_BRANCHES = 'ctrace'
_LINES = 'sysmon' if hasattr(sys, 'monitoring') else _BRANCHES


class Counter:
    """A counter of the lines and branches that one test after the other executes in given files.

    folder  the folder with coverage.py
    root    the tree
    texts   the texts of the files, by path relative to the root
    """

    def __init__(self, folder, root, texts):
        self.folder = folder
        self.paths = {file: os.path.realpath(os.path.join(root, file)) for file in texts}
        self.texts = {self.paths[file]: text for file, text in texts.items()}
        self.modules, self.possible, self.running = {}, {}, None

    def begin(self):
        """Begin to count the lines and branches of a test."""
        self._start(_BRANCHES, branch=True)

    def begin_loading(self):
        """Begin to count the lines that run while files are loaded.

        Only lines are counted, by `sys.monitoring` where Python has it, as this costs nothing for
        all the other files, which may be many.
        """
        self._start(_LINES, branch=False)

    def _start(self, core, branch):
        with self._swap_in_coverage(core):
            from coverage import Coverage

            paths = list(self.paths.values())
            self.running = Coverage(data_file=None, config_file=False, branch=branch, include=paths)
            self.running.start()

    def end(self):
        """Stop counting; return an event with lines and branches for each readable file."""
        return self._stop(_BRANCHES, self._describe_lines_and_branches)

    def end_loading(self):
        """Stop counting; return an event with the loaded lines for each readable file."""
        return self._stop(_LINES, self._describe_loaded_lines)

    def _stop(self, core, told):
        with self._swap_in_coverage(core):
            self.running.stop()
            data = self.running.get_data()
            readable = [
                entry
                for entry in sorted(self.paths.items())
                if self._get_executable_lines(entry[1])
            ]
            return [dict(told(path, data), file=file) for file, path in readable]

    def _get_executable_lines(self, path):
        if path not in self.possible:
            self.possible[path] = self._find_executable_lines(path)
        return self.possible[path]

    def _describe_lines_and_branches(self, path, data):
        reporter, known, exits, arcs = self.possible[path]
        taken = set(reporter.translate_arcs(data.arcs(path) or ()))
        return {
            'known': sorted(known),
            'hit': self._list_hit_lines(path, data),
            'exits': sorted(exits.items()),
            'missed': sorted(arcs - taken),
        }

    def _describe_loaded_lines(self, path, data):
        return {'loaded': self._list_hit_lines(path, data)}

    def _list_hit_lines(self, path, data):
        reporter, known, _, _ = self.possible[path]
        return sorted(known & reporter.translate_lines(data.lines(path) or ()))

    def _find_executable_lines(self, path):
        """Return what coverage.py finds executable in a file; None if it cannot parse the file.

        This is its reporter, the lines, the number of exits of each line with several, and these
        exits.
        """
        from coverage.exceptions import CoverageException
        from coverage.parser import PythonParser
        from coverage.python import PythonFileReporter

        reporter = PythonFileReporter(path, self.running)
        left_out = self.running._exclude_regex('exclude')
        try:
            # The file at the path may be missing, or differ from the code that runs.
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
    def _swap_in_coverage(self, wanted):
        """Make coverage.py importable under its name, with the given core, within the block."""
        foreign, core = _list_coverage_modules(), os.environ.get(_CORE)
        self._replace_modules(foreign, self.modules)
        sys.path.insert(0, self.folder)
        os.environ[_CORE] = wanted
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
            self.modules = _list_coverage_modules()
            self._replace_modules(self.modules, foreign)

    def _replace_modules(self, these, others):
        for name in these:
            del sys.modules[name]
        sys.modules.update(others)


def _list_coverage_modules():
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.partition('.')[0] == _NAME
    }
