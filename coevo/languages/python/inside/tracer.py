"""The code that a test executes: functions, and lines and branches of some files (`covering.py`).

Python 3.12 and newer use `sys.monitoring`, with one event per code object and test (PEP 669). Older
versions use `sys.settrace`, or `sys.setprofile` while coverage.py occupies the former. Code that
runs while files are loaded belongs to no test; its lines are reported separately on request. Class
bodies and modules are not functions.
"""

import importlib.util
import marshal
import os
import sys
import types

_TOOL = 4  # neither debugger (0), coverage (1), profiler (2) nor optimizer (5)
_BATCH = 200


def make_tracer(request, counter):
    """Return the tracer for this Python, not yet started.

    counter  counts lines and branches; None if none are requested
    """
    kind = _MonitoringTracer if hasattr(sys, 'monitoring') else _SetTraceTracer
    return kind(os.path.realpath(request['root']), counter)


class _Tracer:
    def __init__(self, root, counter):
        self.root, self.counter = root + os.sep, counter
        self.places = {}
        self.codes = set()
        self.on = False
        self.loading, self.loaded = False, []

    def get_path(self, code):
        """Return the path of a code object relative to the root; None if it lies elsewhere."""
        name = code.co_filename
        if name not in self.places:
            path = os.path.realpath(name)
            inside = path.startswith(self.root)
            self.places[name] = path[len(self.root) :] if inside else None
        return self.places[name]

    def begin_loading_trace(self):
        """Begin to count the lines that loading executes, until the first test begins.

        Nothing is done without a counter.
        """
        if self.counter is not None:
            self.loading = True
            self.counter.begin_loading()

    def begin(self):
        """Begin the trace of a test, and end that of loading."""
        if self.loading:
            self.loading = False
            self.loaded = self.counter.end_loading()
        self.codes = set()
        self.on = True
        if self.counter is not None:
            self.counter.begin()

    def end(self):
        """End the trace of a test; yield events with the functions and lines that it executed.

        With a counter, events have branches, too. The lines of loading are repeated for each test.
        """
        counted = self.counter.end() if self.counter is not None else []
        self.on = False
        functions = []
        names = {}
        for code in sorted(self.codes, key=lambda code: (code.co_filename, code.co_firstlineno)):
            file = self.get_path(code)
            if file is None or code.co_name in ('<module>',):
                continue
            if file not in names:
                names[file] = _map_qualified_names(os.path.join(self.root, file))
            name = names[file].get((code.co_firstlineno, code.co_name))
            if name is not None:
                lines = _list_lines(code)
                functions.append([file, name, min(lines), max(lines)])
        for start in range(0, len(functions), _BATCH):
            yield {'functions': functions[start : start + _BATCH]}
        # repeated for each test, as a failed test reports nothing
        for event in counted + self.loaded:
            yield event


def _list_lines(code):
    """Return the line numbers of a function's own code, without functions nested in it."""
    if hasattr(code, 'co_lines'):
        lines = [line for _, _, line in code.co_lines() if line]
    else:
        import dis

        lines = [line for _, line in dis.findlinestarts(code)]
    return lines or [code.co_firstlineno]


# The length of the header of a byte code file (PEP 552).
_HEAD = 16 if sys.version_info >= (3, 7) else 12


def _load_code(path):
    """Return the code of a file; None if it cannot be read or compiled.

    Byte code beside its text, or in place of it, takes precedence.
    """
    for candidate in (importlib.util.cache_from_source(path), path + 'c'):
        try:
            with open(candidate, 'rb') as file:
                return marshal.loads(file.read()[_HEAD:])
        except (OSError, EOFError, ValueError, TypeError):
            pass
    try:
        with open(path, 'rb') as source:
            return compile(source.read(), path, 'exec', dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return None


def _map_qualified_names(path):
    """Return the qualified names of the functions of a file, by first line and name.

    They have the form of `co_qualname`, which exists since 3.11.
    """
    code = _load_code(path)
    todo, names = [(code, '')] if code is not None else [], {}
    while todo:
        outer, prefix = todo.pop()
        for const in outer.co_consts:
            if isinstance(const, types.CodeType):
                name = prefix + const.co_name
                if const.co_flags & 0x1:
                    names[const.co_firstlineno, const.co_name] = name
                todo.append((const, name + ('.' if not const.co_flags & 0x1 else '.<locals>.')))
    return names


class _MonitoringTracer(_Tracer):
    def start(self):
        """Have `sys.monitoring` report the start of each function to `record_start`."""
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(_TOOL, 'coevo')
        sys.monitoring.register_callback(_TOOL, events.PY_START, self.record_start)
        sys.monitoring.set_events(_TOOL, events.PY_START)

    def begin(self):
        """Begin the trace of a test and re-enable events that were disabled."""
        super().begin()
        sys.monitoring.restart_events()

    def record_start(self, code, offset):
        """Record a code object of the tree, and disable its events until the next test."""
        if self.on and self.get_path(code) is not None:
            self.codes.add(code)
        return sys.monitoring.DISABLE


class _SetTraceTracer(_Tracer):
    def start(self):
        """Do nothing; the hook is set for each test."""

    def begin(self):
        """Begin the trace of a test and set the hook."""
        super().begin()
        self.set_hook(self.record_call)

    def end(self):
        """Remove the hook and yield the events."""
        self.set_hook(None)
        return super().end()

    def set_hook(self, function):
        """Set the trace function of all threads; None removes it.

        With a counter, which occupies that function, the profile function is set instead.
        """
        import threading

        name = 'settrace' if self.counter is None else 'setprofile'
        getattr(threading, name)(function)
        getattr(sys, name)(function)

    def record_call(self, frame, event, argument):
        """Record the code object of a call if it belongs to the tree."""
        if self.on and event == 'call' and self.get_path(frame.f_code) is not None:
            self.codes.add(frame.f_code)
