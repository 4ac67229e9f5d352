"""Rewrites assertions as pytest does it, and runs none of what it reads: files of byte code, as pytest itself
keeps them beside test files.

Standard input is JSON, a date and a list of [path, Base64 of the text]; its argument is the folder of packages.
Standard output is how the names of such files end, and a list of their content in Base64: null where there
is something to be told, such as an error or a warning, which is told where the file is imported.
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
    date, rows = json.load(sys.stdin)
    site.addsitedir(sys.argv[1])
    from _pytest.assertion import rewrite

    codes = [rewrite_source(rewrite, date, path, base64.b64decode(text)) for path, text in rows]
    json.dump([rewrite.PYC_TAIL, codes], sys.stdout)


def rewrite_source(rewrite, date, path, source):
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
