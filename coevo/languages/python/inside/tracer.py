"""What a test executes of the code: functions, and lines of some files.

Python 3.12 and newer: `sys.monitoring`, each place told once for a test (PEP 669); older: `sys.settrace`.
What ran while files were loaded belongs to no test. Class bodies and modules are no functions.
"""

import importlib.util
import marshal
import os
import sys
import types

_TOOL = 4  # neither debugger (0), coverage (1), profiler (2) nor optimizer (5)
_BATCH = 200


def tracer(request):
    kind = _Monitoring if hasattr(sys, 'monitoring') else _Settrace
    return kind(os.path.realpath(request['root']), request['traced'])


class _Tracer:
    def __init__(self, root, files):
        self.root, self.files = root + os.sep, files
        self.wanted = {os.path.join(root, file): file for file in files}
        self.places = {}
        self.codes, self.lines = set(), set()
        self.on = False

    def place(self, code):
        """Path relative to the root; None for what is not of the tree."""
        name = code.co_filename
        if name not in self.places:
            path = os.path.realpath(name)
            inside = path.startswith(self.root)
            self.places[name] = path[len(self.root) :] if inside else None
        return self.places[name]

    def begin(self):
        self.codes, self.lines = set(), set()
        self.on = True

    def end(self):
        """Events with what was executed since the last one began."""
        self.on = False
        functions = []
        names = {}
        for code in sorted(self.codes, key=lambda code: (code.co_filename, code.co_firstlineno)):
            file = self.place(code)
            if file is None or code.co_name in ('<module>',):
                continue
            if file not in names:
                names[file] = _names(os.path.join(self.root, file))
            name = names[file].get((code.co_firstlineno, code.co_name))
            if name is not None:
                lines = _lines(code)
                functions.append([file, name, min(lines), max(lines)])
        for start in range(0, len(functions), _BATCH):
            yield {'functions': functions[start : start + _BATCH]}
        for path, file in self.wanted.items():
            hit = sorted(line for name, line in self.lines if name == file)
            yield {'file': file, 'known': sorted(_known(path)), 'hit': hit}


def _lines(code):
    """Lines of a function's own code."""
    if hasattr(code, 'co_lines'):
        found = [line for _, _, line in code.co_lines() if line]
    else:
        import dis

        found = [line for _, line in dis.findlinestarts(code)]
    return found or [code.co_firstlineno]


# Of files of byte code, before the code (PEP 552).
_HEAD = 16 if sys.version_info >= (3, 7) else 12


def _compiled(path):
    """The code of a file: what was laid beside its text, or in its place, comes first."""
    for place in (importlib.util.cache_from_source(path), path + 'c'):
        try:
            with open(place, 'rb') as file:
                return marshal.loads(file.read()[_HEAD:])
        except (OSError, EOFError, ValueError, TypeError):
            pass
    try:
        with open(path, 'rb') as source:
            return compile(source.read(), path, 'exec', dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return None


def _known(path):
    code = _compiled(path)
    todo, found = [code] if code is not None else [], set()
    while todo:
        one = todo.pop()
        found.update(_lines(one))
        todo += [const for const in one.co_consts if isinstance(const, types.CodeType)]
    return found


def _names(path):
    """Qualified names by first line and name, as `co_qualname` has them since 3.11."""
    code = _compiled(path)
    todo, found = [(code, '')] if code is not None else [], {}
    while todo:
        one, prefix = todo.pop()
        for const in one.co_consts:
            if isinstance(const, types.CodeType):
                name = prefix + const.co_name
                if const.co_flags & 0x1:
                    found[const.co_firstlineno, const.co_name] = name
                todo.append((const, name + ('.' if not const.co_flags & 0x1 else '.<locals>.')))
    return found


class _Monitoring(_Tracer):
    def start(self):
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(_TOOL, 'coevo')
        sys.monitoring.register_callback(_TOOL, events.PY_START, self.started)
        mask = events.PY_START
        if self.wanted:
            sys.monitoring.register_callback(_TOOL, events.LINE, self.line)
            mask |= events.LINE
        sys.monitoring.set_events(_TOOL, mask)

    def begin(self):
        super().begin()
        sys.monitoring.restart_events()

    def started(self, code, offset):
        if self.on and self.place(code) is not None:
            self.codes.add(code)
        return sys.monitoring.DISABLE

    def line(self, code, line):
        file = self.place(code)
        if self.on and file in self.files:
            self.lines.add((file, line))
        return sys.monitoring.DISABLE


class _Settrace(_Tracer):
    def start(self):
        pass

    def begin(self):
        import threading

        super().begin()
        threading.settrace(self.called)
        sys.settrace(self.called)

    def end(self):
        import threading

        sys.settrace(None)
        threading.settrace(None)
        return super().end()

    def called(self, frame, event, argument):
        file = self.place(frame.f_code)
        if file is None or not self.on:
            return None
        self.codes.add(frame.f_code)
        return self.stepped if file in self.files else None

    def stepped(self, frame, event, argument):
        if self.on and event == 'line':
            self.lines.add((self.place(frame.f_code), frame.f_lineno))
        return self.stepped
