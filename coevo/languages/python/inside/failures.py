"""Describe an exception for the report of a test."""

import os

_TEXT = 1000
_DEEP = 50


class Failure:
    """The parts of an exception that are reported.

    types    names of its class and the bases, then those of its causes
    message  its text, at most 1000 characters
    frame    FILE:FUNCTION of the innermost frame of the project; '' if there is none
    """

    def __init__(self, value, root):
        self.types = list(_list_type_names(value))
        try:
            self.message = str(value)[:_TEXT]
        except BaseException as error:
            self.message = 'str() raised %s' % type(error).__name__
        self.frame = _find_innermost_frame(value, root)

    def make_event(self, **more):
        """Return an event (a dictionary) with these parts and further fields."""
        return dict(more, types=self.types, message=self.message, frame=self.frame)


def _get_qualified_name(kind):
    module = getattr(kind, '__module__', None)
    return kind.__qualname__ if module in (None, 'builtins') else module + '.' + kind.__qualname__


def _list_type_names(value):
    seen = 0
    while value is not None and seen < _DEEP:
        for kind in type(value).__mro__:
            if kind not in (object, BaseException, Exception):
                yield _get_qualified_name(kind)
        value = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
        seen += 1


def _find_innermost_frame(value, root):
    """Return FILE:FUNCTION of the innermost frame of the project; '' if there is none."""
    frame_name, step = '', value.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        path = os.path.realpath(code.co_filename)
        if path.startswith(root + os.sep):
            frame_name = '%s:%s' % (os.path.relpath(path, root), code.co_name)
        step = step.tb_next
    return frame_name


def find_original_exception(value):
    """Return the exception for which pytest refused to load a file, else the given one."""
    while type(value).__name__ in ('CollectError', 'ConftestImportFailure'):
        inner = value.__cause__ or value.__context__
        exception_info = getattr(value, 'excinfo', None)
        if inner is None and isinstance(exception_info, tuple):
            inner = exception_info[1]
        if inner is None:
            break
        value = inner
    return value


def describe_import_error(error):
    """Return MODULE.NAME of a failed import, or MODULE if the module is missing.

    '' if that is unknown, or for an exception that is no failed import.
    """
    if not isinstance(error, ImportError):
        return ''
    if isinstance(error, ModuleNotFoundError):
        return error.name or ''
    words = str(error).split("'")
    named = words[1] if len(words) > 2 and 'cannot import name' in words[0] else ''
    return '.'.join(filter(None, (error.name, named)))
