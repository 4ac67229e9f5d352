"""Compile sources without running them, into the content of byte code files without their headers.

Standard input is a JSON list of [path, Base64 of the text]; standard output a list with the magic
number and the marshalled code of each in Base64. A source that does not compile becomes code that
raises a SyntaxError when it is imported, as its text would.
"""

import base64
import importlib.util
import json
import marshal
import sys


def main():
    """Read the sources from standard input and write the byte code to standard output."""
    rows = json.load(sys.stdin)
    answer = [compile_source(path, base64.b64decode(text)) for path, text in rows]
    head = importlib.util.MAGIC_NUMBER
    encoded = [base64.b64encode(head + marshal.dumps(code)).decode() for code in answer]
    json.dump(encoded, sys.stdout)


def compile_source(path, source):
    """Return the code of a source; if it does not compile, code that raises a SyntaxError."""
    try:
        return compile(source, path, 'exec', dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = str(getattr(error, 'msg', error))
        return compile('raise SyntaxError(%r)' % message, path, 'exec', dont_inherit=True)


if __name__ == '__main__':
    main()
