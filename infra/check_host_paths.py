"""Find writes to the host whose path may contain text of a stranger. `make lint` runs it.

    python infra/check_host_paths.py [FILE …]      all of the product's files, if none is named; status 1 for a finding

A path may be written if it is made of folders of ours and of names that coevo itself chose: literals, constants, digests,
random names, numbers. Every other name has to become a path by `coevo.storage.beneath.join_beneath`, whose result has
methods of its own that write. Where a name is coevo's own and that cannot be seen here, a comment on the line says why:

    folder / f'{name}.json'  # own name: one of PARTS

The check follows assignments within a function, and parameters into functions that write to them: `write(folder / name)`
is a finding at the call where `write` passes its parameter on to `mkdir`. It is no proof: paths that are kept in records
are taken for what they are called, a `Path`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ('coevo', 'miners', 'filters', 'packagers', 'flows')
# Programs that run in a sandbox, and the demo, whose repositories are coevo's own text.
LEFT_OUT = ('/inside/', '/flows/demo/')
MARK = '# own name:'

# Methods of a path that change the host at it, or at their first argument.
PATH_METHODS = frozenset(
    {
        *('write_bytes', 'write_text', 'mkdir', 'rmdir', 'unlink', 'touch', 'chmod', 'rename'),
        *('symlink_to', 'hardlink_to'),
    }
)
TARGET_METHODS = frozenset({'rename', 'replace'})
# Functions that change the host at these arguments.
WRITERS: dict[str, tuple[int | str, ...]] = {
    'shutil.rmtree': (0,),
    'shutil.copyfile': (1,),
    'shutil.copy2': (1,),
    'shutil.copytree': (1,),
    'shutil.move': (0, 1),
    'os.mkdir': (0,),
    'os.makedirs': (0,),
    'os.rename': (0, 1),
    'os.replace': (0, 1),
    'os.remove': (0,),
    'os.unlink': (0,),
    'os.link': (1,),
    'os.symlink': (1,),
    'os.chmod': (0,),
    'os.utime': (0,),
    'tarfile.open': (0,),
    'tempfile.mkdtemp': ('dir', 'prefix'),
    'tempfile.TemporaryDirectory': ('dir', 'prefix'),
    'tempfile.NamedTemporaryFile': ('dir', 'prefix'),
}
JOINS = frozenset({'joinpath', 'with_name', 'with_stem', 'with_suffix'})
# Calls whose result is a name of coevo's own, or a place on the machine that no text chose.
OWN_NAMES = frozenset(
    {
        *(
            'token_hex',
            'hexdigest',
            'compute_short_hash',
            'digest_files',
            'encode_folder_name',
            'name_coverage_folder',
            'len',
            'id',
            'gettempdir',
        ),
        *('mkdtemp', 'TemporaryDirectory', 'NamedTemporaryFile', 'range', 'enumerate'),
    }
)
LISTINGS = ('iterdir', 'glob', 'rglob')
_MODES = frozenset('wax+')


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFinding:
    """A line whose write has a name in its path that may be a stranger's."""

    file: str
    line: int
    path: str
    name: str

    def __str__(self) -> str:
        return (
            f'{self.file}:{self.line}: {self.name!r} becomes part of a path that is written ({self.path}): '
            f'make it by coevo.storage.beneath.join_beneath, or say behind {MARK!r} on this line why no stranger chose it'
        )


@dataclass(slots=True, kw_only=True)
class Function:
    """A function, or what stands outside of all functions of a file.

    values   by variable, the expressions that it was given
    loops    by variable, what it goes through
    calls    in it
    results  what it returns where that is a path
    """

    name: str
    parameters: list[str]
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    loops: dict[str, list[ast.expr]] = field(default_factory=dict)
    calls: list[ast.Call] = field(default_factory=list)
    results: list[ast.expr] = field(default_factory=list)


Known = dict[str, set[int]]
"""By function of the product, the positions of parameters at which it writes."""


def main(words: Sequence[str]) -> int:
    """Print the findings; return an exit status."""
    files = [Path(word).resolve() for word in words] or list(list_product_files())
    read = {file: list(read_functions(file)) for file in files}
    known = find_writers([function for functions in read.values() for function in functions])
    findings = {
        str(finding)
        for file, functions in read.items()
        for function in functions
        for finding in find_foreign_paths(file, function, known)
    }
    for text in sorted(findings):
        print(text)
    print(f'host paths: {len(findings)} findings in {len(files)} files')
    return 1 if findings else 0


def list_product_files() -> Iterator[Path]:
    """Yield the files that are checked."""
    for folder in PRODUCT:
        for file in sorted((ROOT / folder).rglob('*.py')):
            if not any(part in file.as_posix() for part in LEFT_OUT):
                yield file


def read_functions(file: Path) -> Iterator[Function]:
    """Yield the functions of a file, and what stands outside of them."""
    tree = ast.parse(file.read_text('utf-8'))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    scopes: list[ast.AST] = [tree, *(node for node in ast.walk(tree) if isinstance(node, kinds))]
    for scope in scopes:
        function = Function(
            name=getattr(scope, 'name', ''), parameters=_list_parameter_names(scope)
        )
        gives_path = 'Path' in ast.unparse(getattr(scope, 'returns', None) or ast.Constant(''))
        for node in _list_nodes_outside_inner_functions(scope):
            _note(function, node)
            if gives_path and isinstance(node, ast.Return) and node.value is not None:
                function.results.append(node.value)
        yield function


def _list_parameter_names(scope: ast.AST) -> list[str]:
    arguments = getattr(scope, 'args', None)
    if not isinstance(arguments, ast.arguments):
        return []
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    return [name for name in names if name not in ('self', 'cls')]


def _list_nodes_outside_inner_functions(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without those of functions in it."""
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo += ast.iter_child_nodes(node)


def _note(function: Function, node: ast.AST) -> None:
    """Keep what a node says of variables and calls."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            _note_target(function.values, target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        _note_target(function.values, node.target, node.value)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        _note_target(function.loops, node.target, node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        _note_target(function.values, node.optional_vars, node.context_expr)
    elif isinstance(node, ast.Call):
        function.calls.append(node)


def _note_target(kept: dict[str, list[ast.expr]], target: ast.expr, value: ast.expr) -> None:
    if isinstance(target, ast.Name):
        kept.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple):
        values: list[ast.expr] = [value] * len(target.elts)
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            values = value.elts
        for part, part_value in zip(target.elts, values, strict=True):
            _note_target(kept, part, part_value)


def find_writers(functions: Sequence[Function]) -> Known:
    """Return the functions that write at a parameter, also by calling one that does."""
    known: Known = {}
    count = -1
    while count != sum(map(len, known.values())):
        count = sum(map(len, known.values()))
        for function in functions:
            for call in function.calls:
                for path in list_written_paths(call, known):
                    for name in _list_first_variables(path, function, set()):
                        if name in function.parameters and function.name:
                            position = function.parameters.index(name)
                            known.setdefault(function.name, set()).add(position)
    return known


def list_written_paths(call: ast.Call, known: Known) -> Iterator[ast.expr]:
    """Yield the expressions of paths that a call writes."""
    full = ast.unparse(call.func)
    name = full.rpartition('.')[2]
    if full in WRITERS:
        yield from _select_arguments(call, WRITERS[full])
    elif isinstance(call.func, ast.Attribute) and name in PATH_METHODS | TARGET_METHODS:
        is_path = name in PATH_METHODS or (len(call.args) == 1 and not call.keywords)
        if is_path:
            yield call.func.value
            yield from call.args if name in TARGET_METHODS else ()
    elif name == 'open' and isinstance(call.func, ast.Attribute) and _is_writing(call):
        yield call.func.value
    elif name in known and full.count('.') <= 1 and not full.startswith(('self.', 'cls.')):
        yield from _select_arguments(call, tuple(known[name]))


def _select_arguments(call: ast.Call, wanted: Sequence[int | str]) -> Iterator[ast.expr]:
    for place in wanted:
        if isinstance(place, int):
            yield from call.args[place : place + 1]
        else:
            yield from (word.value for word in call.keywords if word.arg == place)


def _is_writing(call: ast.Call) -> bool:
    """Whether a call of `open` has a mode that writes."""
    words = [*call.args[:1], *(word.value for word in call.keywords if word.arg == 'mode')]
    modes = (word.value for word in words if isinstance(word, ast.Constant))
    return any(isinstance(mode, str) and _MODES & set(mode) for mode in modes)


def _list_first_variables(path: ast.expr, function: Function, seen: set[str]) -> Iterator[str]:
    """Yield the variables that a path begins with."""
    if isinstance(path, ast.Name):
        yield path.id
        if path.id not in seen:
            for value in function.values.get(path.id, []):
                yield from _list_first_variables(value, function, seen | {path.id})
    elif isinstance(path, ast.BinOp):
        yield from _list_first_variables(path.left, function, seen)
    elif isinstance(path, ast.Attribute) and path.attr == 'parent':
        yield from _list_first_variables(path.value, function, seen)
    elif isinstance(path, ast.Call):
        if isinstance(path.func, ast.Attribute):
            yield from _list_first_variables(path.func.value, function, seen)
        elif isinstance(path.func, ast.Name) and path.func.id == 'Path' and path.args:
            yield from _list_first_variables(path.args[0], function, seen)


def find_foreign_paths(file: Path, function: Function, known: Known) -> Iterator[PathFinding]:
    """Yield what a function writes with a name that may be a stranger's."""
    lines = file.read_text('utf-8').splitlines()
    paths = [path for call in function.calls for path in list_written_paths(call, known)]
    for path in [*paths, *function.results]:
        for name in _list_foreign_names(path, function, set()):
            # The formatter may move a comment to the line above or below.
            around = lines[max(0, name.lineno - 2) : (name.end_lineno or name.lineno) + 1]
            marked = any(MARK in line for line in around)
            if not marked:
                shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
                yield PathFinding(
                    file=shown.as_posix(),
                    line=name.lineno,
                    path=ast.unparse(path)[:80],
                    name=ast.unparse(name)[:60],
                )


def _list_foreign_names(path: ast.expr, function: Function, seen: set[str]) -> Iterator[ast.expr]:
    """Yield the names in a path that are not plainly coevo's own."""
    names: list[ast.expr] = []
    below: list[ast.expr] = []
    if isinstance(path, ast.Name) and path.id not in seen:
        for value in function.values.get(path.id, []):
            yield from _list_foreign_names(value, function, seen | {path.id})
    elif isinstance(path, ast.BinOp) and isinstance(path.op, ast.Div):
        below, names = [path.left], [path.right]
    elif isinstance(path, ast.Attribute) and path.attr == 'parent':
        below = [path.value]
    elif isinstance(path, ast.IfExp):
        below = [path.body, path.orelse]
    elif isinstance(path, ast.Call) and isinstance(path.func, ast.Attribute):
        below = [path.func.value]
        if path.func.attr in JOINS:
            own = f'{ast.unparse(path.func.value)}.name'
            names = [name for name in path.args if not _is_made_from_own_name(own, name)]
    elif isinstance(path, ast.Call) and ast.unparse(path.func) == 'Path' and path.args:
        names = list(path.args)
        # The first word of `Path(folder, name)` is a root.
        below, names = ([], names) if len(names) == 1 else ([names[0]], names[1:])
    for part in below:
        yield from _list_foreign_names(part, function, seen)
    yield from (name for name in names if not _is_own(name, function, set()))


def _is_made_from_own_name(own: str, name: ast.expr) -> bool:
    """Whether a name is made of the name of the very path that it takes the place of."""
    return any(
        isinstance(part, ast.Attribute) and ast.unparse(part) == own for part in ast.walk(name)
    )


def _is_name_of_folder_entry(name: ast.Attribute, function: Function) -> bool:
    """Whether a name is that of an entry of a folder, which is one name and never `..`."""
    if name.attr not in ('name', 'stem') or not isinstance(name.value, ast.Name):
        return False
    loops = function.loops.get(name.value.id, [])
    return bool(loops) and all(
        any(f'.{listing}(' in ast.unparse(loop) for listing in LISTINGS) for loop in loops
    )


def _is_own(name: ast.expr, function: Function, seen: set[str]) -> bool:
    """Whether a name is made of literals, constants, digests, random names and numbers alone."""

    def own(part: ast.expr) -> bool:
        return _is_own(part, function, seen)

    match name:
        case ast.Constant():
            return True
        case ast.Name(id=variable) | ast.Attribute(attr=variable) if _is_constant(variable):
            return True
        case ast.Attribute() if _is_name_of_folder_entry(name, function):
            return True
        case ast.Attribute(value=ast.Name(id='self'), attr=variable):
            return variable.endswith(('root', 'folder', 'path'))
        case ast.Name(id=variable) if variable not in seen:
            values, loops = function.values.get(variable, []), function.loops.get(variable, [])
            deeper = seen | {variable}
            return bool(values or loops) and all(
                _is_own(value, function, deeper) for value in (*values, *loops)
            )
        case ast.JoinedStr(values=parts):
            return all(own(p.value) for p in parts if isinstance(p, ast.FormattedValue))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(own, parts))
        case ast.Starred(value=part) | ast.Subscript(value=part):
            return own(part)
        case ast.BinOp(left=left, right=right):
            return own(left) and own(right)
        case ast.IfExp(body=left, orelse=right):
            return own(left) and own(right)
        case ast.Call(func=func, args=arguments):
            called = ast.unparse(func).rpartition('.')[2]
            return called in OWN_NAMES or (called in ('str', 'Path') and all(map(own, arguments)))
    return False


def _is_constant(name: str) -> bool:
    return name.lstrip('_').isupper()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
