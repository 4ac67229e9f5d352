"""Compile sources without running them: return the error, or a digest of the program.

Standard input is a JSON list of [path, Base64 of the text]. Standard output is a list of [error,
digest, magic number and marshalled code in Base64]. Two sources are the same program if their code
objects are equal apart from line tables, file names and docstrings.
"""

import ast
import base64
import hashlib
import importlib.util
import json
import marshal
import sys
import types


def main():
    """Read the sources from standard input and write the results to standard output."""
    rows = json.load(sys.stdin)
    json.dump([check_source(path, base64.b64decode(text)) for path, text in rows], sys.stdout)


def check_source(path, source):
    """Return [error, None, None] or [None, digest, byte code in Base64] for one source."""
    try:
        whole = compile(source, path, 'exec', dont_inherit=True)
        tree = ast.parse(source)
        remove_docstrings(tree)
        code = compile(tree, '', 'exec', dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        name = '%s:%s' % (type(error).__name__, getattr(error, 'msg', ''))
        return [name[:200], None, None]
    digest = hashlib.sha256()
    hash_code(digest, code)
    marshalled = importlib.util.MAGIC_NUMBER + marshal.dumps(whole)
    return [None, digest.hexdigest(), base64.b64encode(marshalled).decode()]


def remove_docstrings(tree):
    """Remove all docstrings from a syntax tree in place; a body left empty becomes `pass`.

    Elsewhere no `pass` is put in: `from __future__` imports have to stay first.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            while ast.get_docstring(node, clean=False) is not None:
                rest = node.body[1:]
                node.body = rest or [ast.copy_location(ast.Pass(), node.body[0])]


def hash_code(digest, code):
    """Feed a code object and those nested in it to the digest, without lines and file names."""
    for part in (
        code.co_name,
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
        code.co_argcount,
        getattr(code, 'co_exceptiontable', b''),
    ):
        digest.update(repr(part).encode(errors='surrogatepass') + b'\0')
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            hash_code(digest, const)
        else:
            known = sorted(map(repr, const)) if isinstance(const, frozenset) else repr(const)
            text = '%s %s' % (type(const).__name__, known)
            digest.update(text.encode(errors='surrogatepass') + b'\0')


if __name__ == '__main__':
    main()
