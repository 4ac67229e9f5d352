"""Compiles sources, and runs none of them: the magic number and the marshalled code, as files of byte code
hold them.

Standard input is JSON, a list of [path, Base64 of the text]; standard output a list of Base64. What does
not compile is code that raises a SyntaxError when it is imported, as its text would.
"""

import base64
import importlib.util
import json
import marshal
import sys


def main():
    rows = json.load(sys.stdin)
    answer = [compile_source(path, base64.b64decode(text)) for path, text in rows]
    head = importlib.util.MAGIC_NUMBER
    encoded = [base64.b64encode(head + marshal.dumps(code)).decode() for code in answer]
    json.dump(encoded, sys.stdout)


def compile_source(path, source):
    try:
        return compile(source, path, 'exec', dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = str(getattr(error, 'msg', error))
        return compile('raise SyntaxError(%r)' % message, path, 'exec', dont_inherit=True)


if __name__ == '__main__':
    main()
