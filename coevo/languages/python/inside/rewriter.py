"""Rewrite assertions as pytest does, without running the sources, into byte code files.

pytest itself keeps such files beside test files. The argument is the folder of packages. Standard
input is JSON: a date and a list of [path, Base64 of the text]. Standard output is the ending of the
names of such files, and a list of their contents in Base64. A content is null if there was an error
or a warning: it is then reported when the file is imported.
"""

import ast
import base64
import io
import json
import site
import sys
import types
import warnings


def main():
    """Read the sources from standard input and write the byte code files to standard output."""
    date, rows = json.load(sys.stdin)
    site.addsitedir(sys.argv[1])
    from _pytest.assertion import rewrite

    codes = [rewrite_source(rewrite, date, path, base64.b64decode(text)) for path, text in rows]
    json.dump([rewrite.PYC_TAIL, codes], sys.stdout)


def rewrite_all(request, teller):
    """Rewrite each source of a request, and report its byte code file as an event `rewritten`."""
    from _pytest.assertion import rewrite

    for index, (path, text) in enumerate(request['sources']):
        code = rewrite_source(rewrite, request['date'], path, base64.b64decode(text))
        teller.tell({'e': 'rewritten', 'place': index, 'tail': rewrite.PYC_TAIL, 'code': code})
    teller.tell({'e': 'loaded'})


def rewrite_source(rewrite, date, path, source):
    """Return the byte code file of one source in Base64; None after an error or a warning."""
    try:
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter('always')
            tree = ast.parse(source, filename=path)
            rewrite.rewrite_asserts(tree, source, path, None)
            code = compile(tree, path, 'exec', dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if caught_warnings:
        return None
    file = io.BytesIO()
    about = types.SimpleNamespace(st_mtime=date, st_size=len(source))
    rewrite._write_pyc_fp(file, about, code)
    return base64.b64encode(file.getvalue()).decode()


if __name__ == '__main__':
    main()
